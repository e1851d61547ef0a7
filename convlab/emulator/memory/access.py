"""The loops over addresses, compiled: check, gather, scatter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["all_inside", "gather", "scatter"]


@njit(cache=True, nogil=True)
def all_inside(address: Any, low: int, size: int, width: int) -> bool:
    """Whether all accesses lie in memory and are aligned; without an early exit, so that the loop vectorises."""
    high = low + size - width
    bad = False
    for lane in range(address.size):
        at = address[lane]
        bad |= (at < low) | (at > high) | ((at & (width - 1)) != 0)
    return not bad


@njit(cache=True, nogil=True)
def gather(address: Any, low: int, shift: int, data: Any, out: Any) -> None:
    """Copy elements of ``1 << shift`` bytes to lanes; all addresses are good."""
    for n in range(out.shape[0]):
        row = out[n]
        for lane in range(address.size):
            row[lane] = data[np.uint64(((address[lane] - low) >> shift) + n)]  # unsigned: no check for negatives


@njit(cache=True, nogil=True)
def scatter(address: Any, low: int, shift: int, data: Any, rows: Any) -> None:
    """Copy lanes to elements of ``1 << shift`` bytes; all addresses are good, and the last lane wins."""
    for n in range(rows.shape[0]):
        row = rows[n]
        for lane in range(address.size):
            data[np.uint64(((address[lane] - low) >> shift) + n)] = row[lane]
