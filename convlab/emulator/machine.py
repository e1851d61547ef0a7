"""The machine: runs the steps of a kernel over chunks of blocks, all lanes of a chunk at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convlab.emulator.code import Code, Site
from convlab.emulator.counters import UNOBSERVED, Counter, Counters
from convlab.emulator.faults import Fault, FaultLog
from convlab.emulator.lanes import Lanes, pick
from convlab.emulator.local import LocalMemory
from convlab.emulator.memory import Buffer, Memory
from convlab.emulator.program import Entry, Place
from convlab.emulator.translate import SPECIALS, translate

__all__ = ["BUDGET", "Result", "run"]

CHUNK = 16384  # lanes at a time: their registers fit the second-level cache, and NumPy's overhead is spread thin
LOCAL_BYTES = 1 << 28  # of all lanes of a chunk together: large local arrays make chunks smaller
BUDGET = 10_000_000  # instructions that the lanes of a chunk may issue one after the other

Dim3 = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Result:
    """What a launch did: counters in total and by (file, line), the faults found, and what it printed."""

    counters: Counters
    lines: dict[tuple[str, int], Counters]
    faults: list[Fault]
    stdout: str


def run(
    entry: Entry,
    grid: Dim3,
    block: Dim3,
    arguments: Sequence[Buffer | bytes | None],
    *,
    observe: bool = True,
    budget: int | None = None,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> Result:
    """Execute a kernel.

    Args:
        entry: a parsed kernel.
        grid: blocks along x, y, z.
        block: threads along x, y, z.
        arguments: one for each parameter: a buffer, the bytes of a scalar or struct, or ``None`` for a null pointer.
        observe: count instructions, requests and sectors.
        budget: how many instructions the lanes of a chunk may issue before the launch ends as an endless loop.
        progress: wraps the sequence of chunks, to show how far the launch is.

    Raises:
        UnsupportedInstruction: before anything runs.
    """
    code = translate(entry)
    variables = [Buffer(v.name, v.data) for v in entry.globals.values() if v.space == "global"]
    buffers = [*variables, *(argument for argument in arguments if isinstance(argument, Buffer))]
    memory = Memory(buffers, _pack(entry, arguments, len(variables)), code.sites)
    machine = Machine(code, memory, grid, block, BUDGET if budget is None else budget)
    counter = Counter(code)
    if observe:
        machine.observers.append(counter)
        memory.observers.append(counter)
    with np.errstate(all="ignore"):
        for first in progress(range(0, prod(grid), machine.blocks_per_chunk)):
            if not machine.chunk(first):
                break
    lines = counter.lines() if observe else {}
    total = sum(lines.values(), Counters({})) if observe else UNOBSERVED
    return Result(total, lines, machine.log.faults(), memory.printer.text())


def _pack(entry: Entry, arguments: Sequence[Buffer | bytes | None], index: int) -> bytes:
    """The parameter bytes as the kernel sees them: pointers are addresses, everything lies at its alignment.

    ``index`` is the number of the first argument's buffer.
    """
    packed = bytearray()
    for param, argument in zip(entry.params, arguments, strict=True):
        packed += bytes(-len(packed) % param.align)
        if isinstance(argument, bytes):
            value = argument
        elif argument is None:
            value = bytes(8)
        else:
            value = Memory.address(index).to_bytes(8, "little")
            index += 1
        assert len(value) == param.size, f"{param.name}: {len(value)} bytes for {param.size}"
        packed += value
    return bytes(packed)


class Machine:
    """Runs one chunk of blocks after the other: lowest program counter first, the other lanes wait."""

    def __init__(self, code: Code, memory: Memory, grid: Dim3, block: Dim3, budget: int) -> None:
        self.code = code
        self.memory = memory
        self.grid = grid
        self.block = block
        self.budget = budget
        lanes = min(CHUNK, LOCAL_BYTES // max(1, code.local_bytes))
        self.blocks_per_chunk = max(1, lanes // prod(block))
        self.observers: list[Any] = []
        self.log = FaultLog()
        memory.report = self._report
        self._lane_block = self._lane_thread = np.empty(0, np.intp)

    def chunk(self, first: int) -> bool:
        """Run the blocks from ``first`` on; false when they do not come to an end."""
        registers, lanes = self._start(first)
        waiting: dict[int, Lanes] = {0: lanes}
        spent = 0
        while waiting:
            at = min(waiting)
            lanes = waiting.pop(at)
            step = self.code.steps[at]
            for observer in self.observers:
                observer.step(at, lanes)
            run = step.full if lanes.index is None else step.part
            condition = run(registers, lanes, self.memory)
            taken, fallen = (None, lanes) if condition is None else lanes.split(condition)
            ended = self._send(waiting, step.target, taken) + self._send(waiting, step.fall, fallen)
            if ended and len(waiting) == 1:
                registers = self._drop_ended(registers, waiting)
            spent += len(step.places) or 1
            if spent > self.budget:
                self._endless(at, lanes)
                return False
        return True

    @staticmethod
    def _send(waiting: dict[int, Lanes], target: int | None, lanes: Lanes | None) -> bool:
        """Queue lanes at a step; true when they end instead."""
        if lanes is None:
            return False
        if target is not None:
            waiting[target] = waiting[target].join(lanes) if target in waiting else lanes
        return target is None

    def _start(self, first: int) -> tuple[list[Any], Lanes]:
        """The registers of a chunk at its first instruction."""
        threads = prod(self.block)
        count = min(self.blocks_per_chunk, prod(self.grid) - first)
        self._lane_block = np.repeat(np.arange(first, first + count), threads)
        self._lane_thread = np.tile(np.arange(threads), count)
        warps_per_block = -(-threads // 32)
        warp = np.repeat(np.arange(count) * warps_per_block, threads) + self._lane_thread // 32
        registers: list[Any] = [dtype.type(0) for dtype in self.code.dtypes[: -len(SPECIALS)]]
        registers += [_uniform(values) for values in self._specials()]
        self.memory.local = LocalMemory(self.code.local_bytes, count * threads, self.code.sites, self._report)
        return registers, Lanes(None, warp)

    def _specials(self) -> list[Any]:
        """%tid, %ctaid, %ntid, %nctaid along x, y, z, in the order of `SPECIALS`."""
        tid = _coordinates(self._lane_thread, self.block)
        ctaid = _coordinates(self._lane_block, self.grid)
        return [*tid, *ctaid, *(np.int32(n) for n in self.block), *(np.int32(n) for n in self.grid)]

    def _drop_ended(self, registers: list[Any], waiting: dict[int, Lanes]) -> list[Any]:
        """When all lanes that are left stand at one step, forget the others: whole vectors are fastest."""
        ((at, lanes),) = waiting.items()
        if lanes.index is None:
            return registers
        self._lane_block = self._lane_block.take(lanes.index)
        self._lane_thread = self._lane_thread.take(lanes.index)
        self.memory.local.keep(lanes)
        waiting[at] = Lanes(None, lanes.warp)
        return [pick(values, lanes) for values in registers]

    def who(self, lane: int) -> tuple[Dim3, Dim3]:
        """The block and the thread of a lane, each as (x, y, z)."""
        block = _coordinates(self._lane_block[lane : lane + 1], self.grid)
        thread = _coordinates(self._lane_thread[lane : lane + 1], self.block)
        return (
            (int(block[0][0]), int(block[1][0]), int(block[2][0])),
            (int(thread[0][0]), int(thread[1][0]), int(thread[2][0])),
        )

    def _report(self, site: Site, kind: str, what: str, rest: str, lanes: Lanes, bad: NDArray[np.intp]) -> None:
        """Enter a bad access into the log, with its first lane as the culprit."""
        lane = int(bad[0]) if lanes.index is None else int(lanes.index[bad[0]])
        self._log(kind, site.space, site.place, lane, f"{what}{rest}", what, bad.size)

    def _endless(self, at: int, lanes: Lanes) -> None:
        """Log the place where lanes still are when the budget is spent."""
        places = self.code.steps[at].places
        place = places[0] if places else self.code.steps[at + 1].places[0]
        lane = 0 if lanes.index is None else int(lanes.index[0])
        self._log("endless_loop", "", place, lane, f"is still here after {self.budget:,} instructions.")

    def _log(
        self, kind: str, space: str, place: Place, lane: int, message: str, about: str = "", count: int = 1
    ) -> None:
        block, thread = self.who(lane)
        fault = Fault(kind, "error", space, place.file, place.line, place.callers, block, thread, message, count)
        self.log.add(fault, about)


def _coordinates(linear: NDArray[np.intp], shape: Dim3) -> list[NDArray[np.int32]]:
    """x, y, z of linear numbers, x fastest."""
    x, y = shape[0], shape[1]
    return [part.astype(np.int32) for part in (linear % x, linear // x % y, linear // (x * y))]


def _uniform(values: Any) -> Any:
    """A scalar for a vector of equal values: what is computed from scalars stays scalar, and costs nothing."""
    return values[0] if values.ndim and (values == values[0]).all() else values
