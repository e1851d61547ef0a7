"""Conversions between integers and floats, and between integers that saturate (``cvt``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.emulator.vectorized import vectorized

__all__ = ["clipped", "sticky", "to_integer"]


@vectorized("i8(f8,i8,i8,i8)")
def _whole(a: Any, low: Any, high: Any, nan: Any) -> Any:
    """A whole double as an integer between two limits that doubles have."""
    if np.isnan(a):
        return nan
    return low if a <= low else high if a >= high else np.int64(a)


def to_integer(a: Any, dtype: np.dtype[Any], rounding: Any) -> Any:
    """``cvt`` from float to integer: rounds, saturates at the type's limits, and makes NaN zero.

    With 64 bits on either side NaN becomes the highest bit alone instead (PTX ISA, cvt, "NaN").
    """
    limits = np.iinfo(dtype)
    rounded = rounding(a.astype(np.float64))
    highest_bit = np.frombuffer((1 << 8 * dtype.itemsize - 1).to_bytes(dtype.itemsize, "little"), dtype)[0]
    nan = highest_bit if 8 in (a.dtype.itemsize, dtype.itemsize) else dtype.type(0)
    if dtype.itemsize < 8:
        return _whole(rounded, limits.min, limits.max, np.int64(nan)).astype(dtype)
    # 2^63 - 1 is no double: clip by comparison, so that the largest values saturate exactly.
    inside = (rounded > float(limits.min)) & (rounded < float(limits.max))
    whole = np.where(inside, rounded, 0.0).astype(dtype)
    edge = np.where(rounded <= float(limits.min), dtype.type(limits.min), dtype.type(limits.max))
    return np.where(inside, whole, np.where(np.isnan(a), nan, edge))[()]


def sticky(a: Any) -> Any:
    """A 64-bit integer as a double whose last digits only say whether there was anything: what rounds to 24 bits.

    Integers beyond 2^53 have no double of their own; the bit put in for the lost ones keeps ties from being ties.
    """
    magnitude = np.where(a < 0, -a, a).view(np.uint64)
    lost = (magnitude & np.uint64(0x7FF)) != 0
    odd = (magnitude & ~np.uint64(0x7FF)) | (lost.astype(np.uint64) << np.uint64(11))
    kept = np.where(magnitude >> np.uint64(53) != 0, odd, magnitude).astype(np.float64)
    return np.where(a < 0, -kept, kept)[()]


def clipped(a: Any, dtype: np.dtype[Any]) -> Any:
    """``.sat`` between integers: the nearest number that the type has."""
    own, wanted = np.iinfo(a.dtype), np.iinfo(dtype)
    low, high = max(own.min, wanted.min), min(own.max, wanted.max)
    return np.minimum(np.maximum(a, a.dtype.type(low)), a.dtype.type(high)).astype(dtype)
