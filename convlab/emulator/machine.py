"""The machine: runs the steps of a kernel over chunks of blocks, all lanes of a chunk at once."""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convlab.emulator.code import IMPATIENT, Branch, Call, Code, End, Exit, Return, Step, StoppedError, Switch
from convlab.emulator.faults import Fault, FaultLog
from convlab.emulator.lanes import Lanes, Residents, coordinates, pick
from convlab.emulator.meetings import Meetings
from convlab.emulator.memory import Memory
from convlab.emulator.program import Place
from convlab.emulator.schedule import Schedule
from convlab.emulator.specials import SPECIALS, Dim3, Launch
from convlab.emulator.stack import CallStack

__all__ = ["BUDGET", "Machine"]

CHUNK = 16384  # lanes at a time: their registers fit the second-level cache, and NumPy's overhead is spread thin
RESIDENT = 1 << 17  # where threads may wait for those of other blocks: about as many as a GPU runs at a time
PRIVATE_BYTES = 1 << 28  # local and shared memory of a chunk together: large arrays make chunks smaller
REGISTER_BYTES = 1 << 29  # of a chunk: only programs of thousands of registers come near it
PULSE = 10_000  # instructions between two signs of life
BUDGET = 3_000_000  # instructions that the lanes of a chunk may issue one after the other: some ten seconds


class Machine:
    """Runs one chunk of blocks after the other: lowest step first, the other lanes wait."""

    def __init__(
        self, code: Code, memory: Memory, launch: Launch, budget: int, seed: int | None, files: Collection[str]
    ) -> None:
        self.code = code
        self.memory = memory
        self.launch = launch
        self.budget = budget
        self.seed = seed
        self.pulse: Callable[[int], None] = lambda _: None
        self.files = files
        self.threads = prod(launch.block)
        self.blocks_per_chunk = _blocks_per_chunk(code, launch)
        self.hooks = memory.hooks
        self.log = FaultLog()
        self.ends = _idle_ends(code)
        self.has_meetings = any(step.meeting is not None for step in code.steps)
        memory.complain, memory.absent = self.complain, self._absent
        self.residents = Residents(np.zeros(0, np.intp), self.threads)
        self.registers: list[Any] = []

    def observe(self, observer: Any) -> None:
        """Let an observer see whatever it has a method for."""
        self.hooks.add(observer)
        if hasattr(observer, "attach"):
            observer.attach(self)

    def finish(self) -> None:
        """All blocks have run."""
        for tell in self.hooks["finish"]:
            tell(self)

    def chunk(self, numbers: NDArray[np.intp]) -> None:
        """Run some blocks to their end.

        Raises:
            StoppedError: they do not come to an end; the log says why.
        """
        self._start(numbers)
        self.schedule.put(self.code.first, self.residents.everybody)
        latest = 0
        while True:
            if not self.schedule and not self._wake():
                return
            group, at, turn, lanes = self.schedule.take()
            if turn > latest:  # everybody else has had a turn: perhaps some wait for threads that ended
                latest = turn
                self.schedule.put(at, lanes, turn, group)
                self._run_all(self.meetings.after_ends())
                continue
            step = self.code.steps[at]
            if step.meeting is None:
                self._run(at, step, lanes, turn, group)
                continue
            self._run_all(self.meetings.arrive(at, step.meeting, self.registers, lanes), turn, group, lanes)

    def _start(self, numbers: NDArray[np.intp]) -> None:
        """Registers and memory of a chunk at its first instruction."""
        residents = self.residents = Residents(numbers, self.threads)
        special = [_uniform(SPECIALS[name].value(self.launch, residents)) for name in self.code.specials]
        self.registers = special + [dtype.type(0) for dtype in self.code.dtypes[len(special) :]]
        self.memory.start(residents)
        self.meetings = Meetings(residents, self.code.steps, self.complain, self.hooks)
        seed = None if self.seed is None else self.seed + int(numbers[0])
        self.schedule = Schedule(residents, seed, self.ends)
        self.stack = CallStack(residents, self.code, self.memory)
        self.spent, self.due = 0, PULSE
        self.about_to_run = 0  # sets of lanes that have met, and are in no schedule
        for tell in self.hooks["start"]:
            tell(self)

    def _wake(self) -> bool:
        """Nobody can go on: let those go who waited for threads that have ended; false when nobody is left."""
        if not self.meetings.waiting:
            return False
        ready = self.meetings.after_ends() or self.meetings.give_up()
        if not ready:
            raise StoppedError
        self._run_all(ready)
        return True

    def _run_all(
        self, ready: list[tuple[int, Lanes]], turn: int = 0, group: int | None = None, own: Lanes | None = None
    ) -> None:
        """Run the steps of lanes that have met; those that arrived last (``own``) stay in their group."""
        for left, (at, lanes) in zip(reversed(range(len(ready))), ready, strict=True):
            self.about_to_run = left
            self._run(at, self.code.steps[at], lanes, turn, group if lanes is own else None)

    def _run(self, at: int, step: Step, lanes: Lanes, turn: int, group: int | None) -> None:
        """Run one step with some lanes, and send them where they go."""
        for tell in self.hooks["step"]:
            tell(at, lanes)
        self.memory.clock = self.spent
        run = step.full if lanes.index is None else step.part
        result = run(self.registers, lanes, self.memory)
        self.spent += len(step.instructions) or 1
        if self.spent > self.due:
            self.due += PULSE
            self.pulse(self.spent)
        if self.spent > self.budget:
            self._endless(step, lanes)
        LEAVE[type(step.exit)](self, at, step.exit, lanes, result, turn, group)

    def _branch(self, at: int, way: Branch, lanes: Lanes, condition: Any, turn: int, group: int | None) -> None:
        taken, fallen = (None, lanes) if condition is None else lanes.split(condition)
        if condition is not None:
            for tell in self.hooks["branch"]:
                tell(at, lanes, taken, fallen)
        for target, part in ((way.target, taken), (way.fall, fallen)):
            if part is not None:
                self._jump(at, target, part, way.patience, turn, group)
        if way.target is None or way.fall is None:
            self._drop_ended()

    def _switch(self, at: int, way: Switch, lanes: Lanes, index: Any, turn: int, group: int | None) -> None:
        for number, part in lanes.groups(index):
            target = way.targets[number] if number < len(way.targets) else None
            self._jump(at, target, part, way.patience, turn, group)

    def _jump(self, at: int, target: int | None, lanes: Lanes, patience: int, turn: int, group: int | None) -> None:
        """Lanes go on at a step, or end; those that jumped back in vain let others go first."""
        if target is None:
            self._finish(lanes)
            return
        tired = target <= at and self.schedule.impatient(group or 0, target, lanes, patience)
        self.schedule.put(target, lanes, turn + tired, group)

    def _call(self, at: int, way: Call, lanes: Lanes, address: Any, turn: int, group: int | None) -> None:
        targets = [(way.target, lanes)]
        if way.target is None:
            targets = [(self.code.functions.get(a), part) for a, part in lanes.groups(address)]
        for target, part in targets:
            if target is None:
                place = self.code.steps[at].instructions[-1].place
                self.complain("out_of_bounds", "error", place, part, "calls a function through a pointer that is none.")
                raise StoppedError
            if not self.stack.enter(self.registers, way, part, at):
                place = self.code.steps[at].instructions[-1].place
                message = f"is {self.stack.deepest:,} calls deep here, and its stack is full: the recursion has no end."
                self.complain("endless_loop", "error", place, part, message)
                raise StoppedError
            self.schedule.put(target, part, turn, group)

    def _return(self, at: int, way: Return, lanes: Lanes, _: Any, turn: int, group: int | None) -> None:
        for after, part in self.stack.leave(self.registers, lanes):
            if after < 0:
                self._finish(part)
            else:
                self.schedule.put(after, part, turn, group)

    def _end(self, at: int, way: End, lanes: Lanes, *_: Any) -> None:
        self._finish(lanes)
        self._drop_ended()

    def _finish(self, lanes: Lanes) -> None:
        """These threads have ended."""
        if self.has_meetings:
            self.meetings.end(lanes)

    def _drop_ended(self) -> None:
        """When all lanes that are left stand at one step, forget the others: whole vectors are fastest."""
        only = self.schedule.only()
        if only is None or self.meetings.waiting or self.stack.used or self.about_to_run:
            return
        at, turn, lanes = only
        if lanes.index is None:
            return
        index = lanes.index
        self.registers = [pick(values, lanes) for values in self.registers]
        self.memory.local.keep(index)
        self.meetings.keep(index)
        self.stack.keep(index)
        self.residents.keep(index)
        self.schedule.waiting.clear()
        self.schedule.put(at, self.residents.everybody, turn)

    def who(self, slot: int) -> tuple[Dim3, Dim3]:
        """The block and the thread of a lane, each as (x, y, z)."""
        residents = self.residents
        block = residents.number[residents.block[slot]]
        return _position(block, self.launch.grid), self.thread(residents.thread[slot])

    def thread(self, number: int) -> Dim3:
        """x, y, z of a thread's linear number in its block."""
        return _position(number, self.launch.block)

    def _absent(self, site: int, wanted: int, lanes: Lanes, bad: NDArray[np.intp]) -> None:
        """A shuffle reads from a lane that does not take part; one that is not there at all does no harm by itself."""
        warp = lanes.warp[bad[0]]
        residents = self.residents
        there = (residents.warp == warp) & (residents.lane == wanted) & self.meetings.alive
        severity = "error" if there.any() else "warning"
        message = f"reads from lane {wanted} of its warp, which does not take part: the value is undefined."
        self.complain("shuffle", severity, self.code.sites[site].place, lanes.part(bad), message)

    def _endless(self, step: Step, lanes: Lanes) -> None:
        """Log the place where lanes still are when the budget is spent."""
        self.complain(
            "endless_loop", "error", step.place, lanes, f"is still here after {self.budget:,} instructions.", count=1
        )
        raise StoppedError

    def frames(self, *places: Place) -> list[tuple[str, int]]:
        """The innermost line of the learner's own files at a place, and the lines it was called from."""
        frames = [frame for place in places for frame in ((place.file, place.line), *place.callers)]
        inner = next((n for n, (file, _) in enumerate(frames) if file in self.files), 0)
        return frames[inner:]

    def complain(
        self,
        kind: str,
        severity: str,
        place: Place,
        lanes: Lanes,
        message: str,
        other_line: int | None = None,
        *,
        space: str = "",
        about: str = "",
        count: int | None = None,
    ) -> None:
        """Enter a fault into the log; its first lane is the culprit."""
        slot = int(lanes.slots[0])
        calls = [self.code.steps[step].instructions[-1].place for step in self.stack.callers(slot)]
        (file, line), *stack = self.frames(place, *calls)
        times = lanes.size if count is None else count
        who = self.who(slot)
        self.log.add(Fault(kind, severity, space, file, line, tuple(stack), *who, message, times, other_line), about)


LEAVE: dict[type[Exit], Callable[..., None]] = {
    Branch: Machine._branch,
    Switch: Machine._switch,
    Call: Machine._call,
    Return: Machine._return,
    End: Machine._end,
}


def _blocks_per_chunk(code: Code, launch: Launch) -> int:
    """How many blocks go at a time: whole ones, of about `CHUNK` threads, as far as memory lasts."""
    threads = prod(launch.block)
    waits = any(isinstance(step.exit, Branch | Switch) and step.exit.patience == IMPATIENT for step in code.steps)
    private = code.frame * threads + launch.shared_bytes
    registers = sum(dtype.itemsize for dtype in code.dtypes) * threads
    lanes = RESIDENT if waits else CHUNK
    return max(1, min(lanes // threads, PRIVATE_BYTES // max(1, private), REGISTER_BYTES // registers))


def _idle_ends(code: Code) -> set[int]:
    """The steps that only end the thread, unless shuffles tell lanes that are elsewhere from those that have ended."""
    if any(step.meeting is not None and not step.meeting.barrier for step in code.steps):
        return set()
    return {n for n, step in enumerate(code.steps) if isinstance(step.exit, End) and len(step.instructions) == 1}


def _position(number: int, shape: Dim3) -> Dim3:
    """x, y, z of a linear number."""
    x, y, z = (int(c) for c in coordinates(np.int64(number), shape))
    return x, y, z


def _uniform(values: Any) -> Any:
    """A scalar for a vector of equal values: what is computed from scalars stays scalar, and costs nothing."""
    return values[0] if values.ndim and (values == values[0]).all() else values
