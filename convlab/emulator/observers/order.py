"""Which accesses of a block's threads happen before which: what barriers, ``__syncwarp`` and locks order.

Time is a count of accesses and meetings. Each warp knows up to what time it has met each other warp of its block (a
vector clock), each thread the same of the lanes of its warp. A lock or a flag orders what came before a fence and its
release with what comes after it was seen.

Source: L. Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System", 1978; PTX ISA, "Memory
Consistency Model".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from convlab.emulator.lanes import WARP, Lanes
from convlab.emulator.machine import Machine
from convlab.emulator.meetings import BARRIERS

__all__ = ["FENCE", "RELEASED", "RELEASE_TIME", "SEEN", "SEEN_FROM", "SEEN_TIME", "UP_TO", "Order", "state_of"]

# What is known of each thread: its latest fence; the word it released last, up to which time, and when; the word it saw
# last that somebody had released, when, and who had written it.
FENCE, RELEASED, UP_TO, RELEASE_TIME, SEEN, SEEN_TIME, SEEN_FROM = range(7)


class Order:
    """The clocks of a chunk."""

    def __init__(self, machine: Machine) -> None:
        residents = machine.residents
        blocks, warps = residents.number.size, residents.warps_per_block
        self.threads = machine.threads
        self.now = 0
        self.warps = np.zeros((blocks, warps, warps), np.int32)
        self.lanes = np.zeros((blocks * machine.threads, WARP), np.int32)
        self.brought = np.zeros((blocks * BARRIERS, warps), np.int32)  # to a barrier, by those who arrived at it
        self.since = np.zeros(blocks, np.int32)  # up to when everybody in a block knows what everybody did
        self.words = np.full((blocks * machine.threads, 7), -1, np.int32)

    def tick(self) -> int:
        """A new moment."""
        self.now += 1
        return self.now

    def index(self, lanes: Lanes) -> NDArray[np.intp]:
        """The number of each lane's thread in the chunk."""
        index: NDArray[np.intp] = lanes.block * self.threads + lanes.thread
        return index

    def arrive(self, keys: NDArray[np.intp], lanes: Lanes) -> None:
        """Warps bring what they know to a barrier."""
        _bring(self.warps, self.brought, keys, lanes.block, lanes.thread, self.tick())

    def meet(self, keys: NDArray[np.intp], lanes: Lanes) -> None:
        """Warps go on from a barrier with all that was brought there."""
        self.arrive(keys, lanes)
        _take(self.warps, self.brought, self.since, keys, lanes.block, lanes.thread)
        self.brought[np.unique(keys)] = 0
        self.lanes[self.index(lanes)] = self.now

    def meet_in_warp(self, masks: NDArray[np.uint32], lanes: Lanes) -> None:
        """The lanes of each mask have met."""
        _exchange(self.lanes, masks, self.index(lanes), lanes.warp, lanes.lane, self.tick())

    def fence(self, lanes: Lanes) -> None:
        """What these threads did so far is there before what they do next."""
        self.words[self.index(lanes), FENCE] = self.tick()


@njit(cache=True, nogil=True)
def _bring(warps: Any, brought: Any, keys: Any, block: Any, thread: Any, now: int) -> None:
    latest = -1
    for n in range(keys.size):
        warp = thread[n] // WARP
        place = block[n] * warps.shape[1] + warp
        if place != latest:
            for other in range(warps.shape[2]):
                brought[keys[n], other] = max(brought[keys[n], other], warps[block[n], warp, other])
            brought[keys[n], warp] = now
            latest = place


@njit(cache=True, nogil=True)
def _take(warps: Any, brought: Any, since: Any, keys: Any, block: Any, thread: Any) -> None:
    latest = -1
    for n in range(keys.size):
        warp = thread[n] // WARP
        place = block[n] * warps.shape[1] + warp
        if place != latest:
            warps[block[n], warp] = brought[keys[n]]
            latest = place
    for n in range(block.size):
        if n == 0 or block[n] != block[n - 1]:
            since[block[n]] = warps[block[n]].min()


@njit(cache=True, nogil=True)
def _exchange(known: Any, masks: Any, index: Any, warp: Any, lane: Any, now: int) -> None:
    """Each lane learns what the lanes of its mask know; those with the same mask are one group."""
    for n in range(index.size):
        first = True
        m = n - 1
        while m >= 0 and warp[m] == warp[n]:
            first = first and masks[m] != masks[n]
            m -= 1
        if not first:
            continue
        row = known[index[n]].copy()
        m = n
        while m < index.size and warp[m] == warp[n]:
            if masks[m] == masks[n]:
                for k in range(row.size):
                    row[k] = max(row[k], known[index[m], k])
            m += 1
        m = n
        while m < index.size and warp[m] == warp[n]:
            if masks[m] == masks[n]:
                row[lane[m]] = now
            m += 1
        m = n
        while m < index.size and warp[m] == warp[n]:
            if masks[m] == masks[n]:
                known[index[m]] = row
            m += 1


# The loops below index arrays by all their axes, and take no tuples of arrays: rows and tuples, taken in a compiled
# loop, cost ten times as much.


@njit(cache=True, nogil=True, inline="always")
def known(other: int, me: int, block: int, threads: int, warps: Any, lanes: Any) -> Any:
    """Up to what time a thread knows what another one did."""
    if other >> 5 == me >> 5:
        return lanes[block * threads + me, other & 31]
    return warps[block, me >> 5, other >> 5]


@njit(cache=True, nogil=True)
def released(other: int, time: int, me: int, block: int, threads: int, warps: Any, lanes: Any, words: Any) -> bool:
    """Whether a word that this thread saw was released by the other one, or by one that knew of its access, since."""
    mine = block * threads + me
    for n in range(2):
        who = other if n == 0 else words[mine, SEEN_FROM]
        its = block * threads + who
        same_word = words[its, RELEASED] == words[mine, SEEN] and words[its, RELEASE_TIME] <= words[mine, SEEN_TIME]
        if (
            same_word
            and words[its, UP_TO] > time
            and (who == other or known(other, who, block, threads, warps, lanes) > time)
        ):
            return True
    return False


@njit(cache=True, nogil=True, inline="always")
def state_of(
    other: int, time: int, since: int, me: int, block: int, threads: int, warps: Any, lanes: Any, words: Any
) -> int:
    """0 when an earlier access is by the same thread, or ordered; 2 when only ``__syncwarp`` is missing; else 1."""
    state = 0
    if other < 0 or other == me or time < since:  # most of all: everybody has met since
        return state
    if known(other, me, block, threads, warps, lanes) <= time:
        state = 2 if other >> 5 == me >> 5 else 1
        if words[block * threads + me, SEEN] >= 0 and released(other, time, me, block, threads, warps, lanes, words):
            state = 0
    return state
