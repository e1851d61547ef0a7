"""The calls that lanes are in: where each returns to, and the registers that recursion would overwrite."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from convlab.emulator.code import Call, Code
from convlab.emulator.lanes import Lanes, Residents, pick, put
from convlab.emulator.memory import Memory

__all__ = ["CallStack"]

STACK_BYTES = 1 << 14  # of a thread; CUDA gives it 1 KB unless told otherwise
SHOWN = 8  # of a deep recursion: calls at either end
CHUNK_BYTES = 1 << 29  # of all threads of a chunk: more would fill the machine's memory
LEVEL_BYTES = 64  # of a thread, about what this class keeps for each level


class CallStack:
    """How deep each lane is, where it goes on after each level, and what was saved there."""

    def __init__(self, residents: Residents, code: Code, memory: Memory) -> None:
        self.code = code
        self.memory = memory
        self.depth = np.zeros(residents.size, np.intp)
        self.after: list[NDArray[np.intp]] = []
        self.saved: list[dict[int, dict[int, Any]]] = []  # at each depth, for each place to return to
        self.frames: list[NDArray[np.int64]] = []
        self.steps: list[NDArray[np.intp]] = []
        self.used = 0  # lanes that are in a call
        self.deepest = 0

    def callers(self, slot: int) -> list[int]:
        """The steps with the calls that a lane is in, the latest first; of very many only those at either end."""
        depths = list(reversed(range(int(self.depth[slot]))))
        shown = depths if len(depths) <= 2 * SHOWN else [*depths[:SHOWN], *depths[-SHOWN:]]
        return [int(self.steps[depth][slot]) for depth in shown]

    def enter(self, registers: list[Any], call: Call, lanes: Lanes, step: int) -> bool:
        """Lanes call a function at the end of a step; false when their stack is full."""
        pointer = self.code.pointer
        start = pick(registers[pointer], lanes)
        end = int(np.max(start)) + call.frame + self.code.frame
        self.deepest = max(self.deepest, int(self.depth[lanes.slots].max()) + 1)
        total = (end + LEVEL_BYTES * self.deepest) * lanes.residents.size
        if end > STACK_BYTES or total > CHUNK_BYTES or self.deepest > STACK_BYTES // 16:
            return False
        self.memory.local.grow(end)
        for depth, part in lanes.groups(self.depth[lanes.slots]):
            self._save(registers, call, depth, part, step)
        self.depth[lanes.slots] += 1
        self.used += lanes.size
        moved = start + np.int64(call.frame)
        registers[pointer] = moved if lanes.index is None else put(registers[pointer], moved, lanes)
        return True

    def _save(self, registers: list[Any], call: Call, depth: int, lanes: Lanes, step: int) -> None:
        """What lanes of one depth find again when they return to it."""
        if depth == len(self.after):
            self.after.append(np.full(self.depth.size, -1))
            self.frames.append(np.zeros(self.depth.size, np.int64))
            self.steps.append(np.zeros(self.depth.size, np.intp))
            self.saved.append({})
        slots = lanes.slots
        self.after[depth][slots] = -1 if call.after is None else call.after
        self.frames[depth][slots] = call.frame
        self.steps[depth][slots] = step
        saved = self.saved[depth].setdefault(-1 if call.after is None else call.after, {})
        for number in call.saved:
            old = saved.get(number, registers[number].dtype.type(0))
            saved[number] = put(old, pick(registers[number], lanes), Lanes(slots, lanes.residents))

    def leave(self, registers: list[Any], lanes: Lanes) -> list[tuple[int, Lanes]]:
        """Lanes return; the step at which each goes on (−1: its thread ends)."""
        self.depth[lanes.slots] -= 1
        self.used -= lanes.size
        result: list[tuple[int, Lanes]] = []
        pointer = self.code.pointer
        for depth, part in lanes.groups(self.depth[lanes.slots]):
            slots = part.slots
            whole = Lanes(slots, lanes.residents)
            start = pick(registers[pointer], whole)
            registers[pointer] = put(registers[pointer], start - self.frames[depth][slots], whole)
            for after, group in part.groups(self.after[depth][slots]):
                if after >= 0:
                    self._restore(registers, self.saved[depth][after], Lanes(group.slots, lanes.residents))
                result.append((after, group))
        return result

    def _restore(self, registers: list[Any], saved: dict[int, Any], lanes: Lanes) -> None:
        for number, values in saved.items():
            registers[number] = put(registers[number], values[lanes.slots], lanes)

    def keep(self, index: NDArray[np.intp]) -> None:
        """Forget all lanes but these; none is in a call."""
        self.depth = self.depth.take(index)
        self.after, self.frames, self.steps, self.saved = [], [], [], []
