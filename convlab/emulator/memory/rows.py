"""Shared and local memory: a row of bytes for each block or thread; addresses are offsets into the own row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from convlab.emulator.addresses import aligned
from convlab.emulator.code import Site
from convlab.emulator.lanes import Lanes
from convlab.emulator.memory.access import all_inside
from convlab.emulator.memory.space import Piece, Space

__all__ = ["POISON", "RowSpace", "Spot"]

ALIGNMENT = 16  # rows that every access divides
POISON = 0xFF  # what memory holds that nobody wrote: NaN, or −1, which nobody takes for a result


class Spot(NamedTuple):
    """What a message says of an address: the variable's name, the element in brackets, how much memory there is."""

    name: str
    element: str
    size: str


class RowSpace(Space):
    """A row of ``size`` bytes for each owner; ``owner`` says which row a lane has, by a name of `Lanes`."""

    def __init__(
        self, size: int, rows: int, owner: str, sites: Sequence[Site], describe: Callable[[int, Site], Spot]
    ) -> None:
        super().__init__(sites)
        self.size = size
        self.rows = rows
        self.stride = aligned(size, ALIGNMENT)
        self.data = np.full(rows * self.stride, POISON, np.uint8)
        self.owner = owner
        self.describe = describe

    def locate(self, site: Site, address: Any, lanes: Lanes) -> list[Piece]:
        """Each lane's place in its own row."""
        if address.dtype != np.int64 or not address.ndim:
            address = np.broadcast_to(address, lanes.size).astype(np.int64)
        rows = getattr(lanes, self.owner)
        if all_inside(address, 0, self.size, site.width):
            return [Piece(self.data, address, rows=rows, stride=self.stride)]
        inside = (address >= 0) & (address <= self.size - site.width)
        aligned = address % site.width == 0
        self._complain(site, "out_of_bounds", ~inside, address, lanes)
        self._complain(site, "misaligned", inside & ~aligned, address, lanes)
        good = np.flatnonzero(inside & aligned)
        return [Piece(self.data, address[good], 0, good, rows[good], self.stride)] if good.size else []

    def _complain(self, site: Site, kind: str, wrong: NDArray[np.bool_], address: Any, lanes: Lanes) -> None:
        """Report the bad lanes of one kind."""
        bad = np.flatnonzero(wrong)
        if not bad.size:
            return
        first = int(address[bad[0]])
        name, element, size = self.describe(first, site)
        rest = f"{element}, which lies outside: {size}"
        if kind == "misaligned":
            rest = f" at byte {first}, which is no multiple of the access's {site.width} bytes."
        self.report(site, kind, name, rest, lanes, bad)

    def keep(self, index: NDArray[np.intp]) -> None:
        """Forget all rows but these."""
        self.data = self.data.reshape(self.rows, self.stride)[index].reshape(-1)
        self.rows = index.size

    def grow(self, size: int) -> None:
        """Make all rows longer."""
        if size <= self.size:
            return
        self.size = size
        if size <= self.stride:
            return
        stride = aligned(max(size, self.stride * 3 // 2), ALIGNMENT)  # so that deep recursion copies seldom
        longer = np.full((self.rows, stride), POISON, np.uint8)
        longer[:, : self.stride] = self.data.reshape(self.rows, self.stride)
        self.stride, self.data = stride, longer.reshape(-1)

    def after(self, offset: int, row: int) -> bytes:
        """The bytes of a row from an offset on; none when it lies outside."""
        inside = 0 <= offset < self.size
        return self.data[row * self.stride + offset : row * self.stride + self.size].tobytes() if inside else b""
