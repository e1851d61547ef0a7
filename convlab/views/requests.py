"""The requests of a warp to global memory, from a trace: lanes, addresses, and the sectors that they touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from convlab.emulator.addresses import buffer_address, nearest
from convlab.emulator.observers.requests import SECTOR
from convlab.emulator.observers.trace import Trace, TraceAccess

__all__ = ["WORD", "Request", "requests"]

WORD = 4  # bytes: the cells in which memory is drawn


@dataclass(frozen=True, eq=False)
class Request:
    """One load or store of a warp: lane ``lanes[i]`` touches ``width`` bytes of ``array`` from byte ``start[i]`` on."""

    action: str
    array: str
    file: str
    line: int
    lanes: tuple[int, ...]
    start: tuple[int, ...]
    width: int
    index: tuple[str, ...]  # of each lane's element, as a text

    @cached_property
    def sectors(self) -> list[int]:
        """The numbers of the touched sectors of 32 bytes, counted from the beginning of the array."""
        return sorted({start // SECTOR for start in self.start})

    @cached_property
    def words(self) -> Mapping[int, list[int]]:
        """The words that lanes ask for, by number, and these lanes' places among ``lanes``."""
        found: dict[int, list[int]] = {}
        for place, start in enumerate(self.start):
            for word in range(start // WORD, (start + self.width - 1) // WORD + 1):
                found.setdefault(word, []).append(place)
        return found

    @property
    def asked(self) -> int:
        """The bytes that lanes ask for, each counted once."""
        return len({*self.start}) * self.width

    @property
    def moved(self) -> int:
        """The bytes of all touched sectors."""
        return len(self.sectors) * SECTOR


def requests(trace: Trace) -> list[Request]:
    """List what a warp asked of global memory, in the order of its steps.

    >>> from convlab.spec import ConvSpec
    >>> from convlab.views.traced import trace_method
    >>> run = trace_method("naive", ConvSpec(n=1, c=1, h=4, w=32, k=1, r=1, s=1))
    >>> [(each.action, each.array, len(each.sectors)) for each in requests(run.trace)]
    [('load', 'x', 4), ('load', 'w', 1), ('store', 'y', 4)]
    """
    return [
        _request(access, step.file, step.line)
        for step in trace.steps
        for access in step.accesses
        if access.space == "global" and access.action in ("load", "store")
    ]


def _request(access: TraceAccess, file: str, line: int) -> Request:
    first = int(nearest(access.address[0]))
    start = tuple((access.address - buffer_address(first)).tolist())
    index = tuple(map(str, access.index.reshape(len(start), -1).tolist()))
    return Request(access.action, access.name, file, line, access.lanes, start, access.width, index)
