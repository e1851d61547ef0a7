"""Sets of lanes: who is active, and how values of some lanes are taken from and put back into whole vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Lanes", "pick", "put"]


class Lanes:
    """Some lanes of a chunk: their indices (``None``: all of them), and the warp that each belongs to.

    >>> everybody = Lanes(None, np.repeat(np.arange(2), 32))
    >>> everybody.size, everybody.warps
    (64, 2)
    >>> some = everybody.part(np.array([0, 1, 40]))
    >>> some.size, some.warps, some.warp
    (3, 2, array([0, 0, 1]))
    """

    __slots__ = ("_warp", "_warps", "all_warps", "index", "size")

    def __init__(self, index: NDArray[np.intp] | None, all_warps: NDArray[np.intp]) -> None:
        self.index = index
        self.all_warps = all_warps
        self.size = all_warps.size if index is None else index.size
        self._warp: NDArray[np.intp] | None = all_warps if index is None else None
        self._warps = -1

    @property
    def warp(self) -> NDArray[np.intp]:
        """The warp of each of these lanes, ascending."""
        if self._warp is None:
            assert self.index is not None
            self._warp = self.all_warps.take(self.index)
        return self._warp

    @property
    def warps(self) -> int:
        """How many warps have a lane in this set."""
        if self._warps < 0:
            self._warps = int(np.count_nonzero(np.diff(self.warp))) + 1 if self.size else 0
        return self._warps

    def part(self, positions: NDArray[np.intp]) -> Lanes:
        """A subset, by position in this set."""
        return Lanes(positions if self.index is None else self.index.take(positions), self.all_warps)

    def split(self, condition: Any) -> tuple[Lanes | None, Lanes | None]:
        """Those lanes for which a condition holds, and the others; ``None`` instead of an empty set."""
        chosen = int(np.count_nonzero(condition)) if condition.ndim else self.size * bool(condition)
        if chosen == self.size:
            return self, None
        if chosen == 0:
            return None, self
        return self.part(np.flatnonzero(condition)), self.part(np.flatnonzero(~condition))

    def join(self, other: Lanes) -> Lanes:
        """The union of two disjoint sets."""
        if self.size + other.size == self.all_warps.size:
            return Lanes(None, self.all_warps)
        assert self.index is not None
        assert other.index is not None
        return Lanes(np.sort(np.concatenate([self.index, other.index])), self.all_warps)


def pick(values: Any, lanes: Lanes) -> Any:
    """The values of some lanes; a scalar stands for every lane."""
    return values.take(lanes.index) if values.ndim else values


def put(old: Any, new: Any, lanes: Lanes) -> Any:
    """A whole vector in which some lanes have new values.

    Always a copy: two registers may share one array after a ``mov``, and the other one must keep its values.
    """
    merged = old.copy() if old.ndim else np.full(lanes.all_warps.size, old)
    merged[lanes.index] = new
    return merged
