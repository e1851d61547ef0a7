"""Integer arithmetic and bit operations as PTX defines them, on NumPy arrays and scalars, one element a lane."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "divide",
    "extract_field",
    "insert_field",
    "leading_zeros",
    "multiply_high",
    "remainder",
    "reverse_bits",
    "select",
    "shift_left",
    "shift_right",
]


def divide(a: Any, b: Any) -> Any:
    """Integer division that truncates towards zero, as in C; by zero it gives all ones, as NVIDIA's hardware does."""
    safe = np.where(b == 0, b.dtype.type(1), b)
    quotient = (a - np.fmod(a, safe)) // safe
    return np.where(b == 0, ~np.zeros_like(quotient), quotient)[()]


def remainder(a: Any, b: Any) -> Any:
    """The remainder of `divide`, with the sign of ``a``; by zero it gives ``a``."""
    safe = np.where(b == 0, b.dtype.type(1), b)
    return np.where(b == 0, a, np.fmod(a, safe))[()]


def shift_left(a: Any, count: Any) -> Any:
    """``shl``: counts beyond the width give zero."""
    width = 8 * a.dtype.itemsize
    return np.where(count < width, a << np.minimum(count, width - 1).astype(a.dtype), a.dtype.type(0))[()]


def shift_right(a: Any, count: Any) -> Any:
    """``shr``: counts beyond the width give zero, or the sign for signed types."""
    width = 8 * a.dtype.itemsize
    shifted = a >> np.minimum(count, width - 1).astype(a.dtype)
    return shifted if a.dtype.kind == "i" else np.where(count < width, shifted, a.dtype.type(0))[()]


def multiply_high(a: Any, b: Any) -> Any:
    """``mul.hi``: the upper half of the full product."""
    if a.dtype.itemsize < 8:
        wide = np.dtype(f"{a.dtype.kind}{2 * a.dtype.itemsize}")
        return ((a.astype(wide) * b.astype(wide)) >> wide.type(8 * a.dtype.itemsize)).astype(a.dtype)
    x, y = a.astype(np.uint64), b.astype(np.uint64)
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    middle = (x >> half) * (y & low) + ((x & low) * (y & low) >> half)  # cannot overflow: see the reference
    other = (x & low) * (y >> half) + (middle & low)
    high = ((x >> half) * (y >> half) + (middle >> half) + (other >> half)).astype(a.dtype)
    # Source: Warren, Hacker's Delight, section 8-2; as signed numbers, negative factors stand for 2^64 less.
    signed = a.dtype.kind == "i"
    return high - np.where(a < 0, b, 0) - np.where(b < 0, a, 0) if signed else high


def reverse_bits(a: Any) -> Any:
    """``brev``: the last bit first."""
    size = a.dtype.itemsize
    reversed_bits = np.packbits(np.unpackbits(np.atleast_1d(a).view(np.uint8), bitorder="little"), bitorder="big")
    return reversed_bits.reshape(-1, size)[:, ::-1].copy().view(a.dtype)[:, 0].reshape(a.shape)[()]


def leading_zeros(a: Any) -> Any:
    """``clz``: zero bits before the first one; the width of the type for zero."""
    if a.dtype.itemsize == 8:
        upper = (a >> np.uint64(32)).astype(np.uint32)
        lower = a.astype(np.uint32)
        return np.where(upper != 0, leading_zeros(upper), leading_zeros(lower) + np.int32(32))[()]
    return np.int32(32) - np.frexp(a.astype(np.float64))[1].astype(np.int32)  # a double holds 32 bits exactly


def _field(position: Any, length: Any, width: int) -> tuple[Any, Any]:
    """Where a bit field begins, and its length within the width; both count by their lowest eight bits."""
    start = np.minimum(position & np.uint32(0xFF), width)
    return start, np.minimum(length & np.uint32(0xFF), width - start)


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
    field = shift_right(shift_left(a, (width - start - count).astype(np.uint32)), (width - count).astype(np.uint32))
    beyond = shift_right(a, np.uint32(width)) if a.dtype.kind == "i" else np.zeros_like(a)
    return np.where(count == 0, np.where(length & np.uint32(0xFF), beyond, 0), field).astype(a.dtype)[()]


def select(chosen: Any, a: Any, b: Any) -> Any:
    """``selp``: a where the predicate holds, else b."""
    return np.where(chosen, a, b)[()]
