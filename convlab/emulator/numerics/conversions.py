"""Conversions between types (``cvt``)."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["to_integer"]


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
