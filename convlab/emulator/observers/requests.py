"""How many sectors and wavefronts the requests of warps take: compiled loops over the addresses of lanes.

A request is one memory instruction of one warp. Source: NVIDIA, Nsight Compute documentation, "Memory Tables"; CUDA C++
Programming Guide, "Shared Memory" of each compute capability.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["SECTOR", "count_sectors", "count_wavefronts"]

SECTOR = 32  # bytes that move at a time
BANKS = 32  # of shared memory, 4 bytes wide


@njit(cache=True, nogil=True)
def _insert(seen: Any, count: int, largest: int, value: int) -> bool:
    """Add a value to those seen; false when it is among them. Ascending values need no search."""
    if count and value <= largest:
        for n in range(count):
            if seen[n] == value:
                return False
    seen[count] = value
    return True


@njit(cache=True, nogil=True)
def count_sectors(address: Any, width: int, warp: Any) -> tuple[int, int, int]:
    """Sectors of all requests, the fewest that their distinct bytes would fit, and the distinct bytes.

    An aligned access of at most 32 bytes never straddles two sectors.
    """
    sectors = np.empty(32, np.int64)
    places = np.empty(32, np.int64)
    total, ideal, unique = 0, 0, 0
    current, distinct, apart = -1, 0, 0
    last_sector, last_place = -1, -1
    for lane in range(address.size):
        if warp[lane] != current:
            total += distinct
            unique += apart * width
            ideal += (apart * width + SECTOR - 1) // SECTOR
            current, distinct, apart = warp[lane], 0, 0
            last_sector, last_place = -1, -1
        at = address[lane]
        if at != last_place and _insert(places, apart, last_place, at):
            apart += 1
            last_place = max(last_place, at)
        sector = at >> 5
        if sector != last_sector and _insert(sectors, distinct, last_sector, sector):
            distinct += 1
            last_sector = max(last_sector, sector)
    return total + distinct, ideal + (apart * width + SECTOR - 1) // SECTOR, unique + apart * width


@njit(cache=True, nogil=True)
def count_wavefronts(address: Any, width: int, warp: Any, lane_of: Any) -> tuple[int, int]:
    """Wavefronts of all requests to shared memory, and the fewest that their distinct words could take.

    A wavefront serves one word of each bank. Lanes go in the order of their number: 32 at a time for accesses of up to
    4 bytes, 16 for 8 bytes, 8 for 16 bytes; a word that was served is there for all lanes of the request.
    """
    words = max(1, width // 4)
    per_phase = 32 // words
    seen = np.empty((BANKS, 128), np.int64)
    count = np.zeros(BANKS, np.int64)
    new = np.zeros(BANKS, np.int64)
    total, ideal, distinct, busiest = 0, 0, 0, 0
    current, phase = -1, -1
    for n in range(address.size):
        now = lane_of[n] // per_phase
        if warp[n] != current or now != phase:
            total += busiest
            busiest = 0
            new[:] = 0
            phase = now
        if warp[n] != current:
            ideal += (distinct + BANKS - 1) // BANKS
            distinct = 0
            count[:] = 0
            current = warp[n]
        first = address[n] >> 2
        for k in range(words):
            word = first + k
            bank = word & (BANKS - 1)
            known = False
            for m in range(count[bank]):
                if seen[bank, m] == word:
                    known = True
                    break
            if not known:
                seen[bank, count[bank]] = word
                count[bank] += 1
                distinct += 1
                new[bank] += 1
                busiest = max(busiest, new[bank])
    return total + busiest, ideal + (distinct + BANKS - 1) // BANKS
