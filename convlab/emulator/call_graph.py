"""The call graph: which functions a kernel reaches, and which of them may come back to themselves."""

from __future__ import annotations

from convlab.emulator.calls import callee
from convlab.emulator.program import Function, Register, Symbol
from convlab.errors import CompileError

__all__ = ["reached", "recursive"]

DEEPEST = 200  # functions inside of each other, without recursion


def reached(kernel: Function) -> list[Function]:
    """The functions that a kernel may call, before those that call them, and the kernel last.

    Lanes with the lowest step go first: those inside a function come back before the others go on.
    """
    program, order, seen = kernel.module, list[Function](), set[int]()

    def visit(function: Function, depth: int = 0) -> None:
        if id(function) in seen:
            return
        seen.add(id(function))
        if depth > DEEPEST:
            raise CompileError(f"{function.name[:40]}: functions call each other more than {DEEPEST} levels deep.")
        for name in _called(function):
            visit(program.functions[name], depth + 1)
        order.append(function)

    visit(kernel)
    return order


def recursive(functions: list[Function]) -> set[tuple[int, int]]:
    """The calls, as caller and callee, that may come back to their caller while it waits."""
    direct = {id(f): {id(f.module.functions[name]) for name in _called(f)} for f in functions}
    reach = {function: set(targets) for function, targets in direct.items()}
    grows = True
    while grows:
        grows = False
        for caller, targets in reach.items():
            reach[caller] = targets.union(*(reach[target] for target in targets))
            grows = grows or len(reach[caller]) > len(targets)
    return {(caller, target) for caller, targets in direct.items() for target in targets if caller in reach[target]}


def _called(function: Function) -> list[str]:
    """The functions that one function calls; a call through a pointer may reach all."""
    names = []
    for instruction in function.instructions:
        if instruction.parts[0] == "call":
            target, _ = callee(instruction)
            pointer = isinstance(target, Register)
            names += list(function.module.functions) if pointer else [target.name] if isinstance(target, Symbol) else []
    return [name for name in names if name in function.module.functions]
