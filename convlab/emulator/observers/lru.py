"""Sectored caches that replace the line unused for longest: the compiled loops behind the model of L1 and L2."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["COUNTS", "KINDS", "LINE", "dirty_sectors", "empty", "replay"]

LINE = 128  # bytes under one tag: four sectors, each valid or not
SHIFT = 2  # a sector's number to its line's

# What `replay` counts, in this order.
COUNTS = (
    "l1_load_sectors",
    "l1_hits",
    "l2_load_sectors",
    "l2_store_sectors",
    "l2_atomic_sectors",
    "l2_hits",
    "dram_read_sectors",
    "dram_written_sectors",
    "compulsory_read_sectors",
    "compulsory_written_sectors",
)
L1_LOADS, L1_HITS, L2_LOADS, L2_STORES, L2_ATOMICS, L2_HITS, READ, WRITTEN, FIRST_READ, FIRST_WRITTEN = range(10)
KINDS = {"load": L2_LOADS, "store": L2_STORES, "atomic": L2_ATOMICS}

TAG, AGE, VALID, DIRTY = range(4)  # of each way: its line, when it was last used, and a bit for each sector
TOUCHED, STORED = 1, 2
MOST = 256  # pieces of one request: 32 lanes with eight words each


def empty(sets: int, ways: int) -> NDArray[np.int64]:
    """A cache that holds nothing."""
    cache = np.zeros((sets, ways, 4), np.int64)
    cache[..., TAG] = -1
    return cache


def dirty_sectors(cache: NDArray[np.int64]) -> int:
    """How many sectors were written and have not gone to memory yet."""
    return int(np.bitwise_count(cache[..., DIRTY]).sum())


@njit(cache=True, nogil=True)
def _touch(cache: Any, first: int, sets: int, sector: int, writes: bool, now: int) -> tuple[bool, int]:
    """Use a sector: whether it was there, and how many written ones had to leave for its line.

    Each round of lines over the sets begins one set later, so that a stride of a power of two does not fall on few.
    """
    line, bit = sector >> SHIFT, 1 << (sector & 3)
    row = first + (line + line // sets) % sets
    way = 0
    for other in range(cache.shape[1]):
        if cache[row, other, TAG] == line:
            way = other
            break
        if cache[row, other, AGE] < cache[row, way, AGE]:
            way = other
    left = 0
    if cache[row, way, TAG] != line:
        for n in range(4):
            left += (cache[row, way, DIRTY] >> n) & 1
        cache[row, way, TAG] = line
        cache[row, way, VALID] = cache[row, way, DIRTY] = 0
    there = (cache[row, way, VALID] & bit) != 0
    cache[row, way, VALID] |= bit
    if writes:
        cache[row, way, DIRTY] |= bit
    cache[row, way, AGE] = now
    return there, left


@njit(cache=True, nogil=True)
def _access(kind: int, sector: int, sm: int, levels: Any, now: int) -> None:
    """One sector of one request on its way through the levels."""
    l1, l1_sets, l2, touched, count = levels
    if sector < touched.size:
        if kind != L2_STORES and touched[sector] == 0:
            count[FIRST_READ] += 1
        if kind != L2_LOADS and touched[sector] & STORED == 0:
            count[FIRST_WRITTEN] += 1
        touched[sector] |= TOUCHED if kind == L2_LOADS else TOUCHED | STORED
    if kind == L2_LOADS:
        count[L1_LOADS] += 1
        if _touch(l1, sm * l1_sets, l1_sets, sector, False, now)[0]:
            count[L1_HITS] += 1
            return
    count[kind] += 1
    there, left = _touch(l2, 0, l2.shape[0], sector, kind != L2_LOADS, now)
    count[L2_HITS] += there
    count[READ] += (not there) and kind != L2_STORES
    count[WRITTEN] += left


@njit(cache=True, nogil=True)
def replay(kind: int, sectors: Any, warp: Any, sm: Any, levels: Any, now: int) -> int:
    """The requests of warps, one after the other, each distinct sector once; returns the time after them.

    ``sectors`` are numbers of sectors, a negative one for none; ``warp`` (ascending) and ``sm`` say whose each is.
    ``levels`` are all SMs' L1 in one array, the sets of one, L2, flags for each sector of global memory, and counts.
    """
    seen = np.empty(MOST, np.int64)
    distinct = 0
    current = latest = -1
    for n in range(sectors.size):
        if warp[n] != current:
            current, latest, distinct = warp[n], -1, 0
        sector = sectors[n]
        if sector < 0 or sector == latest:
            continue
        latest = sector
        known = False
        for m in range(distinct):
            known |= seen[m] == sector
        if not known:
            seen[distinct] = sector
            distinct += 1
            now += 1
            _access(kind, sector, sm[n], levels, now)
    return now
