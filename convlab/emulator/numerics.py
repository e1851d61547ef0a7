"""Arithmetic as PTX defines it, on NumPy arrays and scalars, one element a lane."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import vectorize
from numba.extending import intrinsic

__all__ = ["DTYPES", "NAMESPACE", "bits", "constant"]

DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(code)
    for name, code in {
        "pred": "?",
        **{"b8": "i1", "s8": "i1", "u8": "u1", "b16": "i2", "s16": "i2", "u16": "u2", "f16": "f2"},
        **{
            "b32": "i4",
            "s32": "i4",
            "u32": "u4",
            "f32": "f4",
            "b64": "i8",
            "s64": "i8",
            "u64": "u8",
            "f64": "f8",
        },
    }.items()
}


def constant(value: int | float, dtype: np.dtype[Any]) -> Any:
    """A literal as a NumPy scalar; integers wrap to the type's size, floats given for integers are their bits."""
    if dtype.kind in "iu" and isinstance(value, int):
        size = dtype.itemsize
        return np.frombuffer((value % (1 << 8 * size)).to_bytes(size, "little"), dtype)[0]
    if dtype.kind in "iu":
        return np.array(value, f"f{dtype.itemsize}").view(dtype)[()]
    return dtype.type(value)


def bits(value: Any, dtype: np.dtype[Any]) -> Any:
    """The same bits under another type of the same size."""
    return value if value.dtype == dtype else value.view(dtype)


@intrinsic
def _llvm_fma(_context: Any, a: Any, b: Any, c: Any) -> Any:
    return a(a, b, c), lambda _ctx, builder, _signature, args: builder.fma(*args)


# NumPy has no fused multiply-add, and double precision alone rounds twice; LLVM's rounds once, on any CPU.
@vectorize(["f4(f4,f4,f4)", "f8(f8,f8,f8)"], cache=True)  # type: ignore[no-untyped-call,untyped-decorator]
def fma(a: Any, b: Any, c: Any) -> Any:
    """a·b + c, rounded once (IEEE 754 fusedMultiplyAdd)."""
    return _llvm_fma(a, b, c)  # type: ignore[call-arg]


def fma_directed(a: Any, b: Any, c: Any, towards: float) -> Any:
    """a·b + c of single-precision numbers, rounded towards −∞, +∞ or zero (0.0).

    In double precision a·b is exact, and the sum with its error term (Knuth's two-sum) is exact as well, so that the
    nearest single can be compared with the true value.
    """
    product, addend = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + addend
    back = total - product
    lost = (product - (total - back)) + (addend - back)
    nearest = total.astype(np.float32)
    beyond = (total - nearest) + lost  # the true value minus the nearest single
    goal = np.copysign(np.float32(0), nearest) if towards == 0.0 else np.float32(towards)
    overshot = np.where(goal > nearest, beyond > 0, np.where(goal < nearest, beyond < 0, False))
    return np.where(overshot, np.nextafter(nearest, goal), nearest)[()]


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


def flush(a: Any) -> Any:
    """``.ftz``: denormals become zero of the same sign."""
    return np.where(np.absolute(a) < np.finfo(a.dtype).tiny, np.copysign(a.dtype.type(0), a), a)[()]


def saturate(a: Any) -> Any:
    """``.sat``: into the range from 0 to 1; NaN becomes 0."""
    return np.where(np.isnan(a), a.dtype.type(0), np.clip(a, a.dtype.type(0), a.dtype.type(1)))[()]


def to_integer(a: Any, dtype: np.dtype[Any], rounding: Any) -> Any:
    """``cvt`` from float to integer: rounds, saturates at the type's limits, and makes NaN zero.

    With 64 bits on either side NaN becomes the highest bit alone instead (PTX ISA, cvt, "NaN").
    """
    limits = np.iinfo(dtype)
    rounded = rounding(a.astype(np.float64))
    # 2^63 - 1 is no double: clip below by comparison, so that the largest values saturate exactly.
    inside = (rounded > float(limits.min)) & (rounded < float(limits.max))
    whole = np.where(inside, rounded, 0.0).astype(dtype)
    edge = np.where(rounded <= float(limits.min), dtype.type(limits.min), dtype.type(limits.max))
    highest_bit = np.frombuffer((1 << 8 * dtype.itemsize - 1).to_bytes(dtype.itemsize, "little"), dtype)[0]
    nan = highest_bit if 8 in (a.dtype.itemsize, dtype.itemsize) else dtype.type(0)
    return np.where(inside, whole, np.where(np.isnan(a), nan, edge))[()]


def select(chosen: Any, a: Any, b: Any) -> Any:
    """``selp``: a where the predicate holds, else b."""
    return np.where(chosen, a, b)[()]


# What generated code may call, by name; nothing else is in its reach.
NAMESPACE: dict[str, Any] = {
    "__builtins__": {},
    "bits": bits,
    "fma": fma,
    "fma_directed": fma_directed,
    "divide": divide,
    "remainder": remainder,
    "shift_left": shift_left,
    "shift_right": shift_right,
    "multiply_high": multiply_high,
    "reverse_bits": reverse_bits,
    "leading_zeros": leading_zeros,
    "bit_count": np.bitwise_count,
    "insert_field": insert_field,
    "extract_field": extract_field,
    "flush": flush,
    "saturate": saturate,
    "copysign": np.copysign,
    "to_integer": to_integer,
    "select": select,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "fmin": np.fmin,
    "fmax": np.fmax,
    "absolute": np.absolute,
    "sqrt": np.sqrt,
    "exp2": np.exp2,
    "log2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "rint": np.rint,
    "trunc": np.trunc,
    "floor": np.floor,
    "ceil": np.ceil,
    "isnan": np.isnan,
}
