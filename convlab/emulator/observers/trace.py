"""A trace: what one warp does, line by line, with its active lanes and the addresses they touch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convlab.emulator.addresses import buffer_address, nearest
from convlab.emulator.code import Site
from convlab.emulator.lanes import Lanes
from convlab.emulator.machine import Machine
from convlab.emulator.program import Place

__all__ = ["LIMIT", "Trace", "TraceAccess", "TraceStep", "Tracer"]

LIMIT = 10_000  # steps that a trace holds; it counts the rest


@dataclass(frozen=True, slots=True, eq=False)
class TraceAccess:
    """One memory instruction of the warp.

    ``address`` holds the address of each active lane in bytes, in the order of ``lanes``: in global memory as the
    kernel sees it, else within the block's shared or the thread's local memory. ``name`` is the array that the first
    lane touches, ``index`` the place of each lane in it: rows of tensor indices where its axes are known, else one
    number, counted in elements of ``width // count`` bytes.
    """

    action: str
    space: str
    width: int
    count: int
    lanes: tuple[int, ...]
    address: NDArray[np.int64]
    name: str
    index: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TraceStep:
    """Consecutive instructions of one line: the lanes that were active, and their memory accesses."""

    file: str
    line: int
    callers: tuple[tuple[str, int], ...]
    instructions: int
    lanes: tuple[int, ...]
    accesses: list[TraceAccess] = field(default_factory=list)


@dataclass(slots=True)
class Trace:
    """The steps of one warp of one block, in the order it ran them; ``left_out`` counts those that did not fit."""

    block: int
    warp: int
    steps: list[TraceStep] = field(default_factory=list)
    left_out: int = 0

    def __repr__(self) -> str:
        more = f", and {self.left_out:,} more" if self.left_out else ""
        return f"trace of block {self.block}, warp {self.warp}: {len(self.steps):,} steps{more}"


class Tracer:
    """The observer that writes a trace of one warp.

    Args:
        block: the linear number of the block in the grid.
        warp: the warp's number in the block.
    """

    def __init__(self, block: int, warp: int) -> None:
        self.trace = Trace(block, warp)
        self.current: list[TraceStep] = []

    def attach(self, machine: Machine) -> None:
        """Find out where things lie."""
        self.machine = machine

    def start(self, machine: Machine) -> None:
        """Find the warp among those of a chunk."""
        found = np.flatnonzero(machine.residents.number == self.trace.block)
        self.warp = int(found[0]) * machine.residents.warps_per_block + self.trace.warp if found.size else -1
        self.ends = np.array([self.warp, self.warp + 1])
        self.current = []

    def _here(self, lanes: Lanes) -> slice:
        """The positions of the warp's lanes in a set."""
        return slice(*lanes.warp.searchsorted(self.ends))

    def step(self, at: int, lanes: Lanes) -> None:
        """Begin a new step for each run of instructions of one line."""
        active = tuple(lanes.lane[self._here(lanes)].tolist()) if self.warp >= 0 else ()
        self.current = []
        if not active:
            return
        runs: list[list[Any]] = []
        for instruction in self.machine.code.steps[at].instructions:
            if runs and runs[-1][0] == instruction.place:
                runs[-1][1] += 1
            else:
                runs.append([instruction.place, 1])
        for place, count in runs:
            step = TraceStep(place.file, place.line, place.callers, count, active)
            self.current.append(step)
            if len(self.trace.steps) < LIMIT:
                self.trace.steps.append(step)
            else:
                self.trace.left_out += 1

    def access(self, site: Site, address: Any, lanes: Lanes, values: tuple[Any, ...]) -> None:
        """Add an access to the step of its line."""
        step = next((s for s in self.current if _same(s, site.place)), None)
        if step is None:
            return
        here = self._here(lanes)
        where = np.broadcast_to(address, lanes.size)[here].astype(np.int64)
        if not where.size:
            return
        name, index = self._place(site, where)
        active = tuple(lanes.lane[here].tolist())
        step.accesses.append(TraceAccess(site.action, site.space, site.width, site.count, active, where, name, index))

    def _place(self, site: Site, address: NDArray[np.int64]) -> tuple[str, NDArray[np.int64]]:
        """The array that the first lane touches, and the place of each lane in it."""
        size = site.dtype.itemsize
        if site.space in ("shared", "local"):
            space = getattr(self.machine.memory, site.space)
            spot = space.describe(int(address[0]), site)
            first = int(spot.element.strip("[]") or 0)
            return spot.name, first + (address - address[0]) // size
        number = int(nearest(address[0]))
        buffers = self.machine.memory.everywhere.buffers
        if not 0 <= number < len(buffers):
            return "", address // size
        buffer = buffers[number]
        element = (address - buffer_address(number)) // (size if buffer.raw else buffer.data.itemsize)
        inside = bool(((element >= 0) & (element < buffer.data.size)).all())
        if buffer.axes is None or not inside:
            return buffer.name, element
        return buffer.name, np.stack(np.unravel_index(element, buffer.data.shape), axis=1).astype(np.int64)


def _same(step: TraceStep, place: Place) -> bool:
    return (step.file, step.line, step.callers) == (place.file, place.line, place.callers)
