"""Video instructions: bytes and halves of registers as numbers, put together again or summed up."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.emulator.numerics.halves import pieces

__all__ = ["accumulated", "average", "chosen", "clamped", "merged"]


def chosen(a: Any, b: Any, places: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Some of the pieces of two registers, those of a first, as 64-bit numbers along a last axis."""
    pool = np.stack(np.broadcast_arrays(a, b), axis=-1).view(dtype)
    return pool[..., list(places)].astype(np.int64)


def clamped(values: Any, dtype: np.dtype[Any]) -> Any:
    """``.sat``: the nearest numbers that the type has."""
    limits = np.iinfo(dtype)
    return np.clip(values, limits.min, limits.max)


def average(a: Any, b: Any) -> Any:
    """``vavrg``: half of the sum; halves of sums that are not negative are rounded up, of negative ones down."""
    total = a + b
    return (total + (total >= 0)) >> 1


def merged(values: Any, mask: tuple[int, ...], c: Any, dtype: np.dtype[Any]) -> Any:
    """The pieces of c, but values in the places of the mask."""
    old = pieces(c, dtype)
    inside = np.isin(np.arange(old.shape[-1]), mask)
    return np.ascontiguousarray(np.where(inside, values.astype(dtype), old)).view(np.uint32)[..., 0][()]


def accumulated(values: Any, mask: tuple[int, ...], c: Any) -> Any:
    """c plus the values in the places of the mask."""
    return c + values[..., list(mask)].sum(axis=-1).astype(np.uint32)
