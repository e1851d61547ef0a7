"""Which loops may wait for what another thread does: there, lanes that jump back soon let others go on."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import accumulate

from convlab.emulator.blocks import Block
from convlab.emulator.call_graph import called
from convlab.emulator.code import IMPATIENT, PATIENT
from convlab.emulator.program import Function, Immediate, Instruction

__all__ = ["patience", "waiting"]

FRESH = {"volatile", "relaxed", "acquire", "cv", "cg"}  # loads that see what other blocks have written since


def waiting(functions: Sequence[Function]) -> set[int]:
    """The functions, by their ``id``, that may wait, or call one that may; those that are called come first."""
    found = set[int]()
    for function in functions:
        if any(_waits(function, instruction, found) for instruction in function.instructions):
            found.add(id(function))
    return found


def patience(function: Function, blocks: Sequence[Block], waiting: Container[int]) -> list[int]:
    """How often lanes may jump back from each block while others wait; 0 where it never jumps back."""
    waits = (any(_waits(function, instruction, waiting) for instruction in block.instructions) for block in blocks)
    count = list(accumulate(waits, initial=0))  # of blocks that may wait, before each block
    result = []
    for index, block in enumerate(blocks):
        back = min((n for n in block.successors if n <= index), default=None)
        result.append(0 if back is None else IMPATIENT if count[index + 1] > count[back] else PATIENT)
    return result


def _waits(function: Function, instruction: Instruction, waiting: Container[int]) -> bool:
    """Whether a loop with this instruction may be waiting for what another thread does."""
    parts = instruction.parts
    if parts[0] == "call":
        return any(id(each) in waiting for each in called(function, instruction))
    if parts[0] == "atom":
        only_reads = instruction.operands[-1:] == (Immediate(0),)  # atomicAdd(&flag, 0)
        return "cas" in parts or "exch" in parts or only_reads
    return parts[0] in ("nanosleep", "membar", "fence") or (parts[0] == "ld" and not FRESH.isdisjoint(parts))
