"""Half precision: f16 and bf16 as bits, as singles, and as pairs of them in one register."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.emulator.vectorized import vectorized

__all__ = [
    "from_bf16",
    "from_f16",
    "joined",
    "part",
    "parts",
    "pieces",
    "signed_parts",
    "to_bf16",
    "to_f16",
    "to_tf32",
    "whole",
]


@vectorized("f4(u2)")
def from_f16(half: Any) -> Any:
    """The single that equals a half: its exponent counts from 15, a single's from 127."""
    magnitude = np.uint32((half & 0x7FFF) << 13)
    value = np.float32(magnitude.view(np.float32) * np.float32(2.0**112)).view(np.uint32)
    if magnitude >= 0x0F800000:  # infinite, or NaN
        value = np.uint32(magnitude | 0x7F800000)
    return np.uint32(value | (half & 0x8000) << 16).view(np.float32)


@vectorized("u2(f4)")
def to_f16(single: Any) -> Any:
    """The half nearest to a single, ties to even; NaN is 0x7FFF, the canonical one of PTX."""
    bits = np.float32(single).view(np.uint32)
    magnitude = np.uint32(bits & 0x7FFFFFFF)
    # Adding just under half of the last place, and one more where the result is odd, rounds by the carry.
    result = np.uint32(np.uint32(magnitude + 0xC8000FFF + (magnitude >> 13 & 1)) >> 13)
    if magnitude < 0x38800000:  # a denormal half: the sum with 0.5 has its last place where the half has it
        result = np.uint32(np.float32(magnitude.view(np.float32) + np.float32(0.5)).view(np.uint32) - 0x3F000000)
    if magnitude >= 0x477FF000:  # 65520, halfway to the number that halves no longer have
        result = np.uint32(0x7C00)
    result = np.uint32(result | (bits >> 16) & 0x8000)
    return 0x7FFF if magnitude > 0x7F800000 else result


def from_bf16(half: Any) -> Any:
    """The single that equals a bf16, which is its upper half."""
    return (half.astype(np.uint32) << np.uint32(16)).view(np.float32)


@vectorized("u2(f4)")
def to_bf16(single: Any) -> Any:
    """The bf16 nearest to a single, ties to even; NaN is 0x7FFF, the canonical one of PTX."""
    bits = np.float32(single).view(np.uint32)
    rounded = np.uint32(bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return 0x7FFF if (bits & 0x7FFFFFFF) > 0x7F800000 else rounded


@vectorized("u4(f4)")
def to_tf32(single: Any) -> Any:
    """The tf32, a single with ten digits, that is nearest, ties away from zero."""
    bits = np.float32(single).view(np.uint32)
    return bits if (bits & 0x7F800000) == 0x7F800000 else (bits + 0x1000) & 0xFFFFE000


def pieces(register: Any, dtype: np.dtype[Any]) -> Any:
    """The equal pieces that registers are cut into, along a last axis, the lowest one first."""
    return register[..., None].view(dtype)


def parts(register: Any) -> Any:
    """The two halves of each register, as unsigned integers."""
    return pieces(register, np.dtype(f"u{register.dtype.itemsize // 2}"))


def signed_parts(register: Any) -> Any:
    """The two halves of each register, as signed integers."""
    return pieces(register, np.dtype(f"i{register.dtype.itemsize // 2}"))


def whole(pairs: Any) -> Any:
    """Registers from their halves along the last axis."""
    return np.ascontiguousarray(pairs).view(f"u{2 * pairs.dtype.itemsize}")[..., 0][()]


def part(values: Any, index: int) -> Any:
    """One of the values along the last axis."""
    return values[..., index][()]


@vectorized("u2(u4,u1,u1)", "u4(u4,u2,u2)", "u8(u4,u4,u4)")
def _pair(bits: Any, low: Any, high: Any) -> Any:
    """Two numbers side by side."""
    return np.uint64(low) | np.uint64(high) << np.uint64(bits)


def joined(*pieces: Any) -> Any:
    """One register from two or four pieces of the same unsigned type, the first one lowest."""
    if len(pieces) == 4:
        return joined(joined(*pieces[:2]), joined(*pieces[2:]))
    low, high = pieces
    return _pair(np.uint32(8 * low.dtype.itemsize), low, high)
