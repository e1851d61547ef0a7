"""Where the variables and parameters of a program lie: a place for each name, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from convlab.emulator.addresses import LOCAL_WINDOW, SHARED_WINDOW, aligned, buffer_address, function_address
from convlab.emulator.calls import signature_of
from convlab.emulator.program import Function, Instruction, Operand, Param, Program, Symbol, Variable, Vector
from convlab.errors import CompileError

__all__ = ["Layout", "Passed", "SharedLayout", "lay_out", "names", "packed", "passed", "share"]

FRAME_ALIGNMENT = 16  # bytes: what the widest access needs


@dataclass(slots=True)
class Layout:
    """The places of one function's names.

    ``addresses`` are counted within the name's own space; those in ``framed`` from the start of the function's frame
    in local memory, which is 0 in a kernel and stands in register ``pointer`` in other functions. ``windows`` is what
    leads from a name's space to the generic one. The frame has ``frame`` bytes; what is passed on lies behind it, to
    ``extent``.
    """

    addresses: dict[str, int] = field(default_factory=dict)
    framed: set[str] = field(default_factory=set)
    windows: dict[str, int] = field(default_factory=dict)
    params: dict[str, tuple[Param, int]] = field(default_factory=dict)
    pointer: int = 0
    kernel: bool = True
    frame: int = 0
    extent: int = 0

    def put_in_frame(self, name: str, at: int) -> None:
        """Place a name in the function's frame."""
        self.addresses[name] = at
        self.framed.add(name)
        self.windows[name] = LOCAL_WINDOW


def packed(params: Iterable[Param], at: int = 0) -> tuple[list[tuple[Param, int]], int]:
    """Each parameter with its place, one after the other at its alignment; and the end."""
    places = []
    for param in params:
        at = aligned(at, param.align)
        places.append((param, at))
        at += param.size
    return places, at


def names(functions: Iterable[Function]) -> set[str]:
    """Whatever their instructions name but registers: labels, variables, special registers."""
    leaves = (leaf for function in functions for instruction in function.instructions for leaf in instruction.leaves)
    return {leaf.name for leaf in leaves if isinstance(leaf, Symbol)}


@dataclass(slots=True)
class SharedLayout:
    """The shared variables of a kernel and the functions it reaches, with their places; dynamic ones come last."""

    variables: tuple[tuple[int, Variable], ...]
    size: int


def share(program: Program, functions: Sequence[Function]) -> SharedLayout:
    """Static shared variables of these functions one after the other, and all dynamic ones at their end."""
    used = names(functions)
    found = [v for v in program.variables.values() if v.space == "shared" and v.name in used]
    found += [v for function in functions for v in function.variables.values() if v.space == "shared"]
    places, at = [], 0
    for variable in sorted(found, key=lambda v: v.data.size == 0):
        at = aligned(at, variable.align)
        places.append((at, variable))
        at += variable.data.size
    return SharedLayout(tuple(places), at)


def lay_out(function: Function, shared: SharedLayout, kernel: bool, pointer: int) -> Layout:
    """The places of everything that one function may name."""
    program = function.module
    layout = Layout(pointer=pointer, kernel=kernel)
    for index, variable in enumerate(program.in_global_memory()):
        layout.addresses[variable.name] = buffer_address(index)
    for index, name in enumerate(program.functions):
        layout.addresses.setdefault(name, function_address(index))
    for at, variable in shared.variables:
        layout.addresses[variable.name] = at
        layout.windows[variable.name] = SHARED_WINDOW
    if kernel:
        base = buffer_address(len(program.in_global_memory()))  # where a launch puts the parameters
        for param, at in packed(function.params)[0]:
            layout.params[param.name] = (param, at)
            layout.addresses[param.name] = base + at
    _frame(function, layout)
    return layout


def _frame(function: Function, layout: Layout) -> None:
    """Place what lies in local memory: what a function returns and takes, its arrays; and then what it passes."""
    own, at = packed((*function.signature.returns, *function.params)) if not layout.kernel else ([], 0)
    arrays = [v for v in function.variables.values() if v.space == "local"]
    more, at = packed((Param(v.name, "b8", v.data.size, v.align) for v in arrays), at)
    layout.frame, layout.extent = aligned(at, FRAME_ALIGNMENT), at
    for param, at in (*own, *more):
        layout.put_in_frame(param.name, at)
    for instruction in function.instructions:
        for operand, place in passed(function, instruction) if instruction.parts[0] == "call" else ():
            if not isinstance(operand, Symbol):
                raise CompileError(f"{instruction.place}: a function is called before the PTX declares it.")
            layout.put_in_frame(operand.name, layout.frame + place.at)
            layout.extent = max(layout.extent, layout.frame + place.at + place.param.size)
    for param in function.scratch.values():  # declared, and used by no call
        if param.name not in layout.addresses:
            end = max(layout.frame, aligned(layout.extent, FRAME_ALIGNMENT))
            layout.put_in_frame(param.name, end)
            layout.extent = end + max(param.size, FRAME_ALIGNMENT)


class Passed(NamedTuple):
    """A parameter of a call, and where the function that is called looks for it."""

    param: Param
    at: int


def passed(function: Function, instruction: Instruction) -> list[tuple[Operand, Passed]]:
    """Each operand that a call returns to or takes, in this order, with its place behind the caller's frame."""
    signature = signature_of(function, instruction)
    if signature is None:
        return []
    lists = [operand.items for operand in instruction.operands if isinstance(operand, Vector)]
    operands = [item for items in lists for item in items]
    places = [Passed(*place) for place in packed((*signature.returns, *signature.params))[0]]
    return list(zip(operands, places, strict=True))
