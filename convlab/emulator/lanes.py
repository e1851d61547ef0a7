"""Sets of lanes: who is active, and how values of some lanes are taken from and put back into whole vectors."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["UNSIGNED", "WARP", "Lanes", "Residents", "coordinates", "pick", "put"]

WARP = 32
UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}  # one compiled loop for each size, not for each type

Indices = NDArray[np.intp]


class Residents:
    """The threads of a chunk, one lane each: block by block, thread by thread.

    ``block`` and ``warp`` count from 0 within the chunk, ``thread`` within the block, ``lane`` within the warp.

    >>> two = Residents(np.array([7, 8]), threads=40)
    >>> two.block[[0, 39, 40]], two.warp[[0, 39, 40]], two.lane[[33, 79]], two.number
    (array([0, 0, 1]), array([0, 1, 2]), array([1, 7]), array([7, 8]))
    """

    def __init__(self, number: Indices, threads: int) -> None:
        self.number = number  # of each block, in the grid
        self.threads = threads
        self.warps_per_block = -(-threads // WARP)
        self.warps = number.size * self.warps_per_block
        self.block = np.repeat(np.arange(number.size), threads)
        self.thread = np.tile(np.arange(threads), number.size)
        self.warp = self.block * self.warps_per_block + self.thread // WARP
        self.lane = self.thread % WARP

    @property
    def size(self) -> int:
        """How many lanes there are."""
        return self.block.size

    @cached_property
    def everybody(self) -> Lanes:
        """All lanes; one object, since what it knows about itself is asked for at every step."""
        return Lanes(None, self)

    def at(self, slots: Indices) -> Lanes:
        """The lanes of these indices, which ascend."""
        return self.everybody if slots.size == self.size else Lanes(slots, self)

    def keep(self, index: Indices) -> None:
        """Forget all lanes but these."""
        for name in ("block", "thread", "warp", "lane"):
            setattr(self, name, getattr(self, name).take(index))
        self.__dict__.pop("everybody", None)


class Lanes:
    """Some lanes of a chunk: their indices (``None``: all of them), and who they are.

    >>> everybody = Lanes(None, Residents(np.arange(2), threads=32))
    >>> everybody.size, everybody.warps
    (64, 2)
    >>> some = everybody.part(np.array([0, 1, 40]))
    >>> some.size, some.warps, some.warp, some.lane
    (3, 2, array([0, 0, 1]), array([0, 1, 8]))
    """

    def __init__(self, index: Indices | None, residents: Residents) -> None:
        self.index = index
        self.residents = residents
        self.size = residents.size if index is None else index.size

    def _of(self, values: Indices) -> Indices:
        return values if self.index is None else values.take(self.index)

    @cached_property
    def warp(self) -> Indices:
        """The warp of each of these lanes, ascending."""
        return self._of(self.residents.warp)

    @cached_property
    def lane(self) -> Indices:
        """The place of each lane in its warp, 0 to 31."""
        return self._of(self.residents.lane)

    @cached_property
    def block(self) -> Indices:
        """The block of each lane, counted within the chunk, ascending."""
        return self._of(self.residents.block)

    @cached_property
    def thread(self) -> Indices:
        """The linear number of each lane in its block."""
        return self._of(self.residents.thread)

    @cached_property
    def slots(self) -> Indices:
        """The index of each lane in whole vectors."""
        return np.arange(self.size) if self.index is None else self.index

    @cached_property
    def warps(self) -> int:
        """How many warps have a lane in this set."""
        return int(np.count_nonzero(np.diff(self.warp))) + 1 if self.size else 0

    @cached_property
    def positions(self) -> NDArray[np.intp]:
        """The place in this set of each (warp, lane of the warp), −1 for those who are not in it."""
        table = np.full(self.residents.warps * WARP, -1)
        table[self.warp * WARP + self.lane] = np.arange(self.size)
        return table

    def part(self, positions: Indices) -> Lanes:
        """A subset, by position in this set."""
        return Lanes(positions if self.index is None else self.index.take(positions), self.residents)

    def split(self, condition: Any) -> tuple[Lanes | None, Lanes | None]:
        """Those lanes for which a condition holds, and the others; ``None`` instead of an empty set."""
        chosen = int(np.count_nonzero(condition)) if condition.ndim else self.size * bool(condition)
        if chosen == self.size:
            return self, None
        if chosen == 0:
            return None, self
        yes, no = _positions(condition)
        return self.part(yes), self.part(no)

    def groups(self, values: Any) -> list[tuple[int, Lanes]]:
        """These lanes by a value that each has: one set for each value."""
        if not values.ndim:
            return [(int(values), self)]
        return [(int(value), self.part(np.flatnonzero(values == value))) for value in np.unique(values)]

    def join(self, other: Lanes) -> Lanes:
        """The union of two disjoint sets."""
        if self.size + other.size == self.residents.size:
            return self.residents.everybody
        both = np.concatenate([self.slots, other.slots])  # two runs in order: a stable sort merges them, far faster
        return Lanes(np.sort(both, kind="stable"), self.residents)


def pick(values: Any, lanes: Lanes) -> Any:
    """The values of some lanes; a scalar stands for every lane."""
    return values.take(lanes.index) if values.ndim and lanes.index is not None else values


def put(old: Any, new: Any, lanes: Lanes) -> Any:
    """A whole vector in which some lanes have new values.

    Always a copy: two registers may share one array after a ``mov``, and the other one must keep its values.
    """
    merged = old.copy() if old.ndim else np.full(lanes.residents.size, old)
    if new.ndim and new.dtype == merged.dtype:
        unsigned = UNSIGNED[merged.itemsize]
        _scatter(merged.view(unsigned), new.view(unsigned), lanes.index)
    else:
        merged[lanes.index] = new
    return merged


def coordinates(linear: Any, shape: tuple[int, int, int]) -> list[Any]:
    """x, y, z of linear numbers, x fastest."""
    x, y = shape[0], shape[1]
    return [part.astype(np.int32) for part in (linear % x, linear // x % y, linear // (x * y))]


@njit(cache=True, nogil=True)
def _positions(condition: Any) -> tuple[Any, Any]:
    """Where a condition holds and where not, in one pass without a branch: each position is written to both."""
    yes, no = np.empty(condition.size + 1, np.int64), np.empty(condition.size + 1, np.int64)
    holding = failing = 0
    for n in range(condition.size):
        yes[holding] = no[failing] = n
        holding += condition[n]
        failing = n + 1 - holding
    return yes[:holding], no[:failing]


@njit(cache=True, nogil=True)
def _scatter(old: Any, new: Any, index: Any) -> None:
    """Put new values at an index; twice as fast as NumPy, which checks it."""
    for n in range(index.size):
        old[np.uint64(index[n])] = new[n]
