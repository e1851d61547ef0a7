"""Operations on bits as PTX defines them, on NumPy arrays and scalars, one element a lane."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from convlab.emulator.vectorized import vectorized

__all__ = [
    "bit_mask",
    "count_ones",
    "extend",
    "extract_field",
    "find_first",
    "find_nth",
    "funnel_left",
    "funnel_right",
    "insert_field",
    "leading_zeros",
    "permute",
    "permute_b4e",
    "permute_ecl",
    "permute_ecr",
    "permute_f4e",
    "permute_rc8",
    "permute_rc16",
    "reverse_bits",
    "shift_left",
    "shift_right",
]


def shift_left(a: Any, count: Any) -> Any:
    """``shl``: counts beyond the width give zero, as NumPy's own shift does."""
    return a << np.minimum(count, np.uint32(8 * a.dtype.itemsize)).astype(a.dtype)


def shift_right(a: Any, count: Any) -> Any:
    """``shr``: counts beyond the width give zero, or the sign for signed types, as NumPy's own shift does."""
    return a >> np.minimum(count, np.uint32(8 * a.dtype.itemsize)).astype(a.dtype)


@vectorized("u4(u4,u4,u4)")
def funnel_left(low: Any, high: Any, count: Any) -> Any:
    """``shf.l``: the upper half of two registers side by side, shifted left by up to 32."""
    return (np.uint64(high) << np.uint64(32) | np.uint64(low)) << np.uint64(count) >> np.uint64(32)


@vectorized("u4(u4,u4,u4)")
def funnel_right(low: Any, high: Any, count: Any) -> Any:
    """``shf.r``: the lower half of two registers side by side, shifted right by up to 32."""
    return (np.uint64(high) << np.uint64(32) | np.uint64(low)) >> np.uint64(count)


# Bits of these places change places with their neighbours 1, 2, 4, 8, 16 and 32 places higher.
SWAPS = tuple(
    (np.uint64(distance), np.uint64(mask))
    for distance, mask in (
        *((1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F)),
        *((8, 0x00FF00FF00FF00FF), (16, 0x0000FFFF0000FFFF), (32, 0x00000000FFFFFFFF)),
    )
)


def reverse_bits(a: Any) -> Any:
    """``brev``: the last bit first."""
    bits = a.astype(np.uint64)
    for distance, mask in SWAPS:
        bits = (bits >> distance & mask) | (bits & mask) << distance
    return (bits >> np.uint64(64 - 8 * a.dtype.itemsize)).astype(a.dtype)


def count_ones(a: Any) -> Any:
    """``popc``."""
    return np.bitwise_count(a).astype(np.int32)


def leading_zeros(a: Any) -> Any:
    """``clz``: zero bits before the first one; the width of the type for zero."""
    if a.dtype.itemsize == 8:
        upper = (a >> np.uint64(32)).astype(np.uint32)
        lower = a.astype(np.uint32)
        return np.where(upper != 0, leading_zeros(upper), leading_zeros(lower) + np.int32(32))[()]
    return np.int32(32) - np.frexp(a.astype(np.float64))[1].astype(np.int32)  # a double holds 32 bits exactly


def find_first(a: Any, shift: bool) -> Any:
    """``bfind``: the place of the highest one, or of the highest bit that is no sign; all ones where there is none.

    With ``shift``, how far that bit lies from the highest one.
    """
    unsigned = np.where(a < 0, ~a, a).view(f"u{a.dtype.itemsize}")
    zeros = leading_zeros(unsigned)
    found = zeros if shift else np.int32(8 * a.dtype.itemsize - 1) - zeros
    return np.where(unsigned == 0, np.int32(-1), found)[()]


def find_nth(mask: Any, base: Any, offset: Any) -> Any:
    """``fns``: from bit ``base`` on, up or down, the place of the ``offset``-th one of a mask; all ones without one."""
    places = np.arange(32)
    start, wanted = base.astype(np.int64)[..., None], offset.astype(np.int64)[..., None]
    ones = (mask[..., None] >> places.astype(np.uint32) & np.uint32(1)).astype(bool)
    ones = ones & np.where(wanted > 0, places >= start, np.where(wanted < 0, places <= start, places == start))
    up, down = np.cumsum(ones, axis=-1), np.cumsum(ones[..., ::-1], axis=-1)[..., ::-1]
    rank = np.where(wanted >= 0, up, down)
    found = ones & (rank == np.maximum(np.absolute(wanted), 1)) & (start < 32)
    return np.where(found.any(axis=-1), found.argmax(axis=-1), -1).astype(np.int32)[()]


def bit_mask(start: Any, length: Any) -> Any:
    """``bmsk``: ones from bit ``start`` on, as many as ``length``."""
    return shift_left(~shift_left(np.uint32(0xFFFFFFFF), length), start)


def extend(a: Any, length: Any) -> Any:
    """``szext``: the lowest bits, extended by their own sign, or by zeros for unsigned types; none of them is zero."""
    gap = np.uint32(32) - length
    return np.where(length == 0, a.dtype.type(0), shift_right(shift_left(a, gap), gap))[()]


def _field(position: Any, length: Any, width: int) -> tuple[Any, Any]:
    """Where a bit field begins, and its length within the width; both count by their lowest eight bits."""
    start = np.minimum(position & np.uint32(0xFF), np.uint32(width))
    return start, np.minimum(length & np.uint32(0xFF), np.uint32(width) - start)


def insert_field(a: Any, b: Any, position: Any, length: Any) -> Any:
    """``bfi``: b with the lowest bits of a in a field of it."""
    start, count = _field(position, length, 8 * a.dtype.itemsize)
    mask = shift_left(~shift_left(~np.zeros_like(a), count), start)
    return (b & ~mask) | (shift_left(a, start) & mask)


def extract_field(a: Any, position: Any, length: Any) -> Any:
    """``bfe``: a field of a, extended by its own sign for signed types."""
    width = 8 * a.dtype.itemsize
    start, count = _field(position, length, width)
    # Shifted to the top and back: the way back extends by the sign, or by zero.
    field = shift_right(shift_left(a, np.uint32(width) - start - count), np.uint32(width) - count)
    beyond = shift_right(a, np.uint32(width)) if a.dtype.kind == "i" else np.zeros_like(a)
    return np.where(count == 0, np.where(length & np.uint32(0xFF), beyond, 0), field).astype(a.dtype)[()]


@vectorized("u4(u4,u4,u4)")
def permute(a: Any, b: Any, selector: Any) -> Any:
    """``prmt``: four bytes out of eight, those of a before those of b.

    Each four bits of the selector choose a byte, and the highest of them asks for its sign in all bits.
    """
    pool, result = np.uint64(b) << np.uint64(32) | np.uint64(a), np.uint64(0)
    for n in range(4):
        digit = np.uint64(selector) >> np.uint64(4 * n)
        byte = pool >> (np.uint64(8) * (digit & np.uint64(7))) & np.uint64(255)
        sign = np.uint64(255) * (byte >> np.uint64(7))
        result |= (sign if digit & np.uint64(8) else byte) << np.uint64(8 * n)
    return result


# mode of prmt → the selectors that the values 0 to 3 of its own selector stand for
MODES = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}


def permute_by(mode: str, a: Any, b: Any, selector: Any) -> Any:
    """``prmt`` with a mode."""
    return permute(a, b, np.array(MODES[mode], np.uint32)[selector & np.uint32(3)])


permute_f4e, permute_b4e, permute_rc8 = (partial(permute_by, mode) for mode in ("f4e", "b4e", "rc8"))
permute_ecl, permute_ecr, permute_rc16 = (partial(permute_by, mode) for mode in ("ecl", "ecr", "rc16"))
