"""Flags beside memory: which bytes were written. Compiled loops over the addresses of lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["mark", "some_unwritten"]


@njit(cache=True, nogil=True)
def mark(flags: Any, address: Any, width: int) -> None:
    """Bytes are written; what lies outside is somebody else's fault."""
    for lane in range(address.size):
        at = address[lane]
        if at >= 0 and at + width <= flags.size:
            for n in range(width):
                flags[np.uint64(at + n)] = True


@njit(cache=True, nogil=True)
def some_unwritten(flags: Any, address: Any, width: int, whole: bool, bad: Any) -> int:
    """Mark in ``bad`` the lanes that read bytes nobody wrote, one of them or (``whole``) all; and count the lanes."""
    count = 0
    for lane in range(address.size):
        at = address[lane]
        bad[lane] = False
        if at >= 0 and at + width <= flags.size:
            unwritten = 0
            for n in range(width):
                unwritten += not flags[np.uint64(at + n)]
            bad[lane] = unwritten == width if whole else unwritten > 0
            count += bad[lane]
    return count
