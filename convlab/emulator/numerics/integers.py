"""Integer arithmetic as PTX defines it, on NumPy arrays and scalars, one element a lane."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.emulator.numerics.conversions import clipped
from convlab.emulator.vectorized import vectorized

__all__ = [
    "absolute_difference",
    "add_saturated",
    "divide",
    "dot_of_bytes",
    "dot_of_halves",
    "low_24_bits",
    "multiply_high",
    "remainder",
    "subtract_saturated",
    "sum_with_carry",
]


def divide(a: Any, b: Any) -> Any:
    """Integer division that truncates towards zero, as in C; by zero it gives all ones, as NVIDIA's hardware does.

    NumPy's own division rounds down, and is fast for a divisor that is the same for all lanes.
    """
    quotient = a // b
    if a.dtype.kind == "i":
        quotient = quotient + (((a ^ b) < 0) & (quotient * b != a))
    return quotient if not b.ndim and b else np.where(b == 0, ~np.zeros_like(quotient), quotient)[()]


def remainder(a: Any, b: Any) -> Any:
    """The remainder of `divide`, with the sign of ``a``; by zero it gives ``a``."""
    return a - divide(a, b) * b


@vectorized("u8(u8,u8)")
def _upper_64_bits(a: Any, b: Any) -> Any:
    """The upper half of a product of 128 bits. Source: Warren, Hacker's Delight, section 8-2."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    middle = (a >> half) * (b & low) + ((a & low) * (b & low) >> half)
    other = (a & low) * (b >> half) + (middle & low)
    return (a >> half) * (b >> half) + (middle >> half) + (other >> half)


def multiply_high(a: Any, b: Any) -> Any:
    """``mul.hi``: the upper half of the full product."""
    if a.dtype.itemsize < 8:
        wide = np.dtype(f"{a.dtype.kind}{2 * a.dtype.itemsize}")
        return ((a.astype(wide) * b.astype(wide)) >> wide.type(8 * a.dtype.itemsize)).astype(a.dtype)
    high = _upper_64_bits(a.view(np.uint64), b.view(np.uint64)).view(a.dtype)
    if a.dtype.kind == "u":
        return high
    sign = np.int64(63)  # as unsigned numbers, negative factors stand for 2^64 more
    return high - (a >> sign & b) - (b >> sign & a)


def low_24_bits(a: Any) -> Any:
    """An operand of ``mul24``: its lowest 24 bits, extended by their own sign for signed types, as 64 bits."""
    shift = a.dtype.type(8)
    return ((a << shift) >> shift).astype(f"{a.dtype.kind}8")


def add_saturated(a: Any, b: Any) -> Any:
    """``add.sat.s32``."""
    return clipped(a.astype(np.int64) + b.astype(np.int64), a.dtype)


def subtract_saturated(a: Any, b: Any) -> Any:
    """``sub.sat.s32``."""
    return clipped(a.astype(np.int64) - b.astype(np.int64), a.dtype)


def absolute_difference(a: Any, b: Any) -> Any:
    """|a − b|, which wraps like the type."""
    return np.where(a < b, b - a, a - b)[()]


def sum_with_carry(a: Any, b: Any, carry: Any) -> tuple[Any, Any]:
    """a + b + carry, and whether it left the type's bits, as 0 or 1."""
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    x = a.view(unsigned)
    total = x + b.view(unsigned)
    result = total + carry.astype(unsigned)
    return result.view(a.dtype), ((total < x) | (result < total)).astype(np.uint32)


@vectorized("u4(u4,u4,u4,u4,u4)")
def dot_of_bytes(a: Any, b: Any, c: Any, a_sign: Any, b_sign: Any) -> Any:
    """``dp4a``: c plus the products of four bytes each; a sign of 0x80 makes its bytes signed ones, 0 does not."""
    total = np.int64(c)
    for n in range(4):
        x, y = np.int64(a) >> 8 * n & 255, np.int64(b) >> 8 * n & 255
        total += ((x ^ np.int64(a_sign)) - np.int64(a_sign)) * ((y ^ np.int64(b_sign)) - np.int64(b_sign))
    return total


@vectorized("u4(u4,u4,u4,u4,u4)")
def dot_of_halves(a: Any, b: Any, c: Any, a_sign: Any, b_sign: Any) -> Any:
    """``dp2a``: c plus the products of a's halves with b's two lower bytes; signs are 0x8000 and 0x80, or 0."""
    total = np.int64(c)
    for n in range(2):
        x, y = np.int64(a) >> 16 * n & 65535, np.int64(b) >> 8 * n & 255
        total += ((x ^ np.int64(a_sign)) - np.int64(a_sign)) * ((y ^ np.int64(b_sign)) - np.int64(b_sign))
    return total
