"""Which registers of a function anybody reads: a load into any other is the compiler's own, and no mistake."""

from __future__ import annotations

from collections import defaultdict

from convlab.emulator.program import Function, Instruction, Register, registers

__all__ = ["used"]

KEPT = {"local", "param"}  # where a struct is copied whole, whatever part of it has a value


def used(function: Function, copies: bool = True) -> set[str]:
    """The registers whose values matter; without ``copies`` not those that are only stored in local memory again."""
    found, moves = set[str](), defaultdict[str, list[str]](list)
    for instruction in function.instructions:
        operands, guard = instruction.operands, instruction.guard
        if guard is not None:
            found.add(guard.name)
        read = operands[1:] if instruction.parts[0] in ("ld", "mov") else operands
        names = [name for operand in read for name in registers(operand)]
        if instruction.parts[0] == "mov" and operands and isinstance(operands[0], Register):
            moves[operands[0].name] += names
        elif copies or not _keeps(instruction):
            found.update(names)
        else:
            found.update(name for operand in operands[:1] for name in registers(operand))
    waiting = list(found)
    while waiting:
        sources = set(moves[waiting.pop()]) - found
        found |= sources
        waiting += sources
    return found


def _keeps(instruction: Instruction) -> bool:
    """Whether a value only goes to local memory."""
    return instruction.parts[0] == "st" and not KEPT.isdisjoint(instruction.parts)
