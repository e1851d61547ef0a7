"""The call graph: which functions a kernel reaches, and which of them may come back to themselves."""

from __future__ import annotations

from convlab.emulator.calls import callee
from convlab.emulator.program import Function, Instruction, Register, Symbol
from convlab.errors import CompileError

__all__ = ["called", "reached", "recursive"]

DEEPEST = 200  # functions inside of each other, without recursion


def reached(kernel: Function) -> list[Function]:
    """The functions that a kernel may call, before those that call them, and the kernel last.

    Lanes with the lowest step go first: those inside a function come back before the others go on.
    """
    order, seen = list[Function](), set[int]()

    def visit(function: Function, depth: int = 0) -> None:
        if id(function) in seen:
            return
        seen.add(id(function))
        if depth > DEEPEST:
            raise CompileError(f"{function.name[:40]}: functions call each other more than {DEEPEST} levels deep.")
        for each in _callees(function):
            visit(each, depth + 1)
        order.append(function)

    visit(kernel)
    return order


def recursive(functions: list[Function]) -> set[tuple[int, int]]:
    """The calls, as caller and callee, that may come back to their caller while it waits."""
    direct = {id(function): {id(each) for each in _callees(function)} for function in functions}
    reach = {function: set(targets) for function, targets in direct.items()}
    grows = True
    while grows:
        grows = False
        for caller, targets in reach.items():
            reach[caller] = targets.union(*(reach[target] for target in targets))
            grows = grows or len(reach[caller]) > len(targets)
    return {(caller, target) for caller, targets in direct.items() for target in targets if caller in reach[target]}


def called(function: Function, call: Instruction) -> list[Function]:
    """The functions of the module that a call may reach: one, or all through a pointer, or none of them."""
    known, (target, _) = function.module.functions, callee(call)
    if isinstance(target, Register):
        return list(known.values())
    return [known[target.name]] if isinstance(target, Symbol) and target.name in known else []


def _callees(function: Function) -> list[Function]:
    """The functions that one function calls."""
    calls = [instruction for instruction in function.instructions if instruction.parts[0] == "call"]
    return [each for call in calls for each in called(function, call)]
