"""The loops over addresses, compiled: check, gather, scatter.

A lane finds its bytes at ``address - low``, and where memory has a row for each owner, in its own one of ``rows``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["all_inside", "gather", "scatter"]


@njit(cache=True, nogil=True)
def all_inside(address: Any, low: int, size: int, width: int) -> bool:
    """Whether all accesses lie in memory and are aligned; without an early exit, so that the loop vectorises."""
    high = low + size - width
    outside = ones = 0  # the sign of the first: some difference is negative
    for lane in range(address.size):
        at = address[lane]
        outside |= (at - low) | (high - at)
        ones |= at
    return outside >= 0 and ones & (width - 1) == 0


@njit(cache=True, nogil=True)
def gather(address: Any, low: int, rows: Any, stride: int, shift: int, data: Any, out: Any) -> None:
    """Copy elements of ``1 << shift`` bytes to lanes; all addresses are good."""
    for n in range(out.shape[0]):
        row = out[n]
        for lane in range(address.size):
            at = address[lane] - low
            if rows is not None:
                at += rows[lane] * stride
            row[lane] = data[np.uint64((at >> shift) + n)]  # unsigned: no check for negatives


@njit(cache=True, nogil=True)
def scatter(address: Any, low: int, rows: Any, stride: int, shift: int, data: Any, values: Any) -> None:
    """Copy lanes to elements of ``1 << shift`` bytes; all addresses are good, and the last lane wins."""
    for n in range(values.shape[0]):
        row = values[n]
        for lane in range(address.size):
            at = address[lane] - low
            if rows is not None:
                at += rows[lane] * stride
            data[np.uint64((at >> shift) + n)] = row[lane]
