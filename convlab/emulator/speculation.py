"""Loads that the compiler took out of an ``if``: back into it, where only those threads load that use the value."""

from __future__ import annotations

from dataclasses import replace

from convlab.emulator.program import Function, Instruction, Operand, Register, Symbol, Vector, registers

__all__ = ["guard_loads"]

WITHOUT_RESULT = ("st", "red", "bra", "brx", "call", "bar", "barrier", "membar", "fence", "cp")


def guard_loads(function: Function) -> None:
    """Guard each load from shared memory of which a ``selp`` uses the value for some threads only.

    ``int v = 0; if (t == 0) v = total;`` loads in other threads as well and selects afterwards, since a load from
    shared memory harms nobody. For those that discard the value it would count as a read of what somebody else writes.
    """
    for at, load in enumerate(function.instructions):
        target = load.operands[0] if load.operands else None
        if load.parts[0] == "ld" and "shared" in load.parts and load.guard is None and isinstance(target, Register):
            guard = _condition_of_all_uses(function, at, target)
            if guard is not None:
                function.instructions[at] = replace(load, guard=guard)


def _condition_of_all_uses(function: Function, load: int, target: Register) -> Register | None:
    """The predicate under which everything that the value reaches takes it; ``None`` where something always does."""
    code, found, written = function.instructions, None, set[str]()
    waiting, seen = [load + 1], set[int]()
    while waiting:
        at = waiting.pop()
        if at in seen or at >= len(code):
            continue
        seen.add(at)
        instruction = code[at]
        results, operands = _parted(instruction)
        if target.name in {name for operand in operands for name in registers(operand)}:
            condition = _condition(instruction, target)
            if condition is None or condition.name in written or found not in (None, condition):
                return None
            found = condition
        written.update(results)
        if found is not None and found.name in written:
            return None
        if target.name not in results or instruction.guard is not None:
            waiting += _next(function, at, instruction)
    return found


def _condition(user: Instruction, value: Register) -> Register | None:
    """The predicate under which a ``selp`` takes a value; ``None`` for any other use."""
    if user.parts[0] != "selp" or user.guard is not None or len(user.operands) != 4:
        return None
    _, first, second, chosen = user.operands
    if not isinstance(chosen, Register) or (first == value) == (second == value):
        return None
    return Register(chosen.name, chosen.negated != (second == value))


def _next(function: Function, at: int, instruction: Instruction) -> list[int]:
    """The instructions that may follow one."""
    opcode, falls = instruction.parts[0], instruction.guard is not None
    if opcode == "brx":
        table = instruction.operands[-1]
        names = function.tables.get(table.name, ()) if isinstance(table, Symbol) else ()
    else:
        names = tuple(o.name for o in instruction.operands if opcode == "bra" and isinstance(o, Symbol))
    ends = opcode in ("bra", "brx", "ret", "exit", "trap")
    targets = [function.labels[name] for name in names if name in function.labels]
    return targets + ([at + 1] if falls or not ends else [])


def _parted(instruction: Instruction) -> tuple[list[str], list[Operand]]:
    """The registers that an instruction writes, and the operands that it reads, its guard among them."""
    first, rest = instruction.operands[:1], instruction.operands[1:]
    guard = (instruction.guard,) if instruction.guard is not None else ()
    if instruction.parts[0] in WITHOUT_RESULT:
        returned = first if instruction.parts[0] == "call" and isinstance(first[0], Vector) else ()
        return [name for operand in returned for name in registers(operand)], [*first, *rest, *guard]
    return [name for operand in first for name in registers(operand)], [*rest, *guard]
