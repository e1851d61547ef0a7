"""Integer arithmetic as PTX defines it, on NumPy arrays and scalars, one element a lane."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.emulator.numerics.conversions import clipped

__all__ = [
    "absolute_difference",
    "add_saturated",
    "difference_with_borrow",
    "divide",
    "dot_product",
    "low_24_bits",
    "multiply_high",
    "remainder",
    "subtract_saturated",
    "sum_with_carry",
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


def difference_with_borrow(a: Any, b: Any, borrow: Any) -> tuple[Any, Any]:
    """a − b − borrow, and whether it left the type's bits, as 0 or 1."""
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    x, y = a.view(unsigned), b.view(unsigned)
    total = x - y
    result = total - borrow.astype(unsigned)
    return result.view(a.dtype), ((x < y) | (result > total)).astype(np.uint32)


def dot_product(a: Any, b: Any, c: Any, first: int) -> Any:
    """``dp4a`` and ``dp2a``: c plus the sum of the products of a's pieces with b's bytes from the given one on.

    Four bytes of ``a``, or two halves: its last axis says which.
    """
    count = a.shape[-1]
    products = a.astype(np.int64) * b[..., first : first + count].astype(np.int64)
    return (c + products.sum(axis=-1)).astype(c.dtype)[()]
