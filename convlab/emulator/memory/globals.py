"""Global memory: buffers far apart in one 64-bit address space, and loads and stores that cannot leave them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convlab.emulator.addresses import WINDOW_BITS, buffer_address, nearest
from convlab.emulator.code import Site
from convlab.emulator.lanes import Lanes
from convlab.emulator.memory.access import all_inside
from convlab.emulator.memory.buffers import Buffer, describe
from convlab.emulator.memory.space import Piece, Space

__all__ = ["GlobalSpace"]


class GlobalSpace(Space):
    """All buffers of a launch: module variables, parameters, arguments."""

    def __init__(self, buffers: Sequence[Buffer], sites: Sequence[Site]) -> None:
        super().__init__(sites)
        self.buffers = list(buffers)
        self.bytes = [buffer.data.reshape(-1).view(np.uint8) for buffer in self.buffers]

    def holds(self, space: str, address: Any) -> Any:
        """Whether addresses belong to a constant variable ("const"), a parameter ("param"), or anything else."""
        variables = [buffer for buffer in self.buffers if buffer.raw]
        spaces = np.array([*("global" if v.writable else "const" for v in variables), "param", "global"])
        index = nearest(address)
        known = spaces[np.where((index < 0) | (index > len(variables)), len(spaces) - 1, index)]
        return np.asarray(known == space)[()] & (address >> WINDOW_BITS == 0)

    def load(self, number: int, address: Any, lanes: Lanes) -> tuple[Any, ...]:
        """As every space, but when all lanes read the same good address, scalars that stand for all of them."""
        site = self.sites[number]
        if not address.ndim:
            index = nearest(int(address))
            if 0 <= index < len(self.buffers):
                at = int(address) - buffer_address(index)
                if 0 <= at <= self.bytes[index].size - site.width and at % site.width == 0:
                    self.announce(site, address, lanes)
                    return tuple(self.bytes[index][at : at + site.width].view(site.dtype))
        return super().load(number, address, lanes)

    def locate(self, site: Site, address: Any, lanes: Lanes) -> list[Piece]:
        """Mostly one buffer; several in one access, or bad lanes, are sorted out with care."""
        address = address if address.ndim else np.full(lanes.size, address)
        index = nearest(int(address[0])) if address.size else -1
        if 0 <= index < len(self.buffers) and (site.action == "load" or self.buffers[index].writable):
            data, low = self.bytes[index], buffer_address(index)
            if all_inside(address, low, data.size, site.width):
                return [Piece(data, address, low)]
        return self._sort_out(site, address, lanes)

    def _sort_out(self, site: Site, address: NDArray[np.int64], lanes: Lanes) -> list[Piece]:
        """The good lanes by buffer; the bad ones are reported."""
        known = nearest(address)
        known = np.where((known >= 0) & (known < len(self.buffers)), known, -1)
        pieces = []
        for index in np.unique(known).tolist():
            here = np.flatnonzero(known == index)
            kinds = self._judge(site, address[here], index)
            for kind in np.unique(kinds[kinds != ""]).tolist():
                bad = here[kinds == kind]
                self._complain(site, kind, int(address[bad[0]]), index, lanes, bad)
            good = here[kinds == ""]
            if good.size:
                pieces.append(Piece(self.bytes[index], address[good], buffer_address(index), good))
        return pieces

    def _judge(self, site: Site, address: NDArray[np.int64], index: int) -> NDArray[np.str_]:
        """For each lane the kind of fault, or an empty string."""
        kinds = np.full(address.size, "", dtype="U16")
        kinds[address % site.width != 0] = "misaligned"
        if index < 0:
            kinds[:] = "out_of_bounds"
            return kinds
        offset = address - buffer_address(index)
        kinds[(offset < 0) | (offset + site.width > self.bytes[index].size)] = "out_of_bounds"
        if site.action != "load" and not self.buffers[index].writable:
            kinds[:] = "out_of_bounds"
        return kinds

    def _complain(self, site: Site, kind: str, address: int, index: int, lanes: Lanes, bad: NDArray[np.intp]) -> None:
        """Put a bad access into words, by the name of the nearest buffer."""
        if index < 0:
            name = f"{site.width} bytes"
            rest = f" at address {address:#x}, through a null pointer, or an address that belongs to no array."
        else:
            name = self.buffers[index].name
            rest = describe(self.buffers[index], address - buffer_address(index), site, kind)
        self.report(site, kind, name, rest, lanes, bad)
