"""Local memory: the bytes that each thread has to itself, for arrays that do not fit registers, and for printf."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convlab.emulator.code import Report, Site
from convlab.emulator.lanes import Lanes

__all__ = ["LOCAL_WINDOW", "LocalMemory"]

LOCAL_WINDOW = 1 << 60  # where local addresses lie in the generic space, far from every buffer


class LocalMemory:
    """One row of bytes for each lane of a chunk; addresses are offsets into the own row."""

    def __init__(self, size: int, lanes: int, sites: Sequence[Site], report: Report | None) -> None:
        self.size = size
        self.data = np.zeros((lanes, -(-size // 16) * 16), np.uint8)  # rows that every element type divides
        self.sites = sites
        self.report = report

    def keep(self, lanes: Lanes) -> None:
        """Forget all lanes but these."""
        self.data = self.data[lanes.index]

    def load(self, site: int, address: Any, lanes: Lanes) -> tuple[Any, ...]:
        """The elements at each lane's own address; a lane outside of its row reads zero."""
        where = self.sites[site]
        rows, columns, good = self._places(site, address, lanes)
        view = self.data.view(where.dtype)
        out = np.zeros((where.count, lanes.size), where.dtype)
        for n in range(where.count):
            out[n, good] = view[rows, columns + n]
        return tuple(out)

    def store(self, site: int, address: Any, values: tuple[Any, ...], lanes: Lanes) -> None:
        """Write each lane's elements to its own row; a lane outside of it writes nothing."""
        where = self.sites[site]
        rows, columns, good = self._places(site, address, lanes)
        view = self.data.view(where.dtype)
        for n, value in enumerate(values):
            view[rows, columns + n] = value[good] if value.ndim else value

    def rows(self, address: Any, lanes: Lanes) -> list[bytes]:
        """What lies at a generic address, for each lane; an address outside of local memory has nothing."""
        offsets = np.broadcast_to(address, lanes.size) - LOCAL_WINDOW
        data = self.data if lanes.index is None else self.data[lanes.index]
        return [
            row[at:].tobytes() if 0 <= at < self.size else b"" for row, at in zip(data, offsets.tolist(), strict=True)
        ]

    def _places(
        self, site: int, address: Any, lanes: Lanes
    ) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.bool_]]:
        """Row and column of each good lane, and which lanes are good; the others are reported."""
        where = self.sites[site]
        address = np.broadcast_to(address, lanes.size)
        inside = (address >= 0) & (address <= self.size - where.width)
        aligned = address % where.width == 0
        good = inside & aligned
        if not good.all() and self.report is not None:
            what = {"load": "reads", "store": "writes"}[where.action] + " its local arrays"
            for kind, bad, rest in (
                ("out_of_bounds", ~inside, f"; they have {self.size} bytes."),
                ("misaligned", inside & ~aligned, f", which is no multiple of the access's {where.width} bytes."),
            ):
                if bad.any():
                    first = int(address[bad][0])
                    self.report(where, kind, what, f" at byte {first}{rest}", lanes, np.flatnonzero(bad))
        everybody = np.arange(lanes.size) if lanes.index is None else lanes.index
        return everybody[good], address[good] // where.dtype.itemsize, good
