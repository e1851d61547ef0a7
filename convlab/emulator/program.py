"""What a PTX file says, as plain records: functions, instructions, operands, variables, source places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Address",
    "Function",
    "Immediate",
    "Instruction",
    "Operand",
    "Param",
    "Place",
    "Program",
    "Register",
    "Signature",
    "Symbol",
    "Variable",
    "Vector",
    "leaves",
    "registers",
]


@dataclass(frozen=True, slots=True)
class Place:
    """A line of CUDA C, with the chain of call sites when the compiler inlined it there."""

    file: str
    line: int
    callers: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Register:
    """A virtual register, ``%r7``; ``negated`` is the ``!`` before a predicate."""

    name: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Immediate:
    """A literal: an ``int``, or the exact bits of a floating-point number as a ``float``."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name that is no declared register: a label, a parameter, a variable plus bytes, or a special register."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Address:
    """A memory operand ``[base + offset]``, the offset in bytes."""

    base: Register | Symbol | Immediate
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Vector:
    """A braced list of operands, ``{%f1, %f2}``; also the two destinations of ``setp p|q``."""

    items: tuple[Register | Symbol | Immediate, ...]


Operand = Register | Immediate | Symbol | Address | Vector


@dataclass(frozen=True, slots=True)
class Instruction:
    """One PTX instruction: its dotted opcode in parts, its operands, its guard and its line of CUDA C."""

    parts: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | None
    place: Place

    @property
    def opcode(self) -> str:
        """The opcode as PTX writes it, such as ``ld.global.f32``."""
        return ".".join(self.parts)

    @property
    def leaves(self) -> Iterator[Register | Immediate | Symbol]:
        """Its operands without their brackets and braces."""
        for operand in self.operands:
            yield from leaves(operand)


def leaves(operand: Operand) -> Iterator[Register | Immediate | Symbol]:
    """An operand without its brackets and braces."""
    if isinstance(operand, Vector):
        yield from operand.items
    else:
        yield operand.base if isinstance(operand, Address) else operand


def registers(operand: Operand) -> list[str]:
    """The names of the registers in an operand."""
    return [leaf.name for leaf in leaves(operand) if isinstance(leaf, Register)]


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter: PTX type (``u64``, ``f32``, ``b8`` for structs), size and alignment in bytes."""

    name: str
    type: str
    size: int
    align: int


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function returns and takes."""

    returns: tuple[Param, ...] = ()
    params: tuple[Param, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """A variable of a module or a function: its memory space, and its bytes as they are before the first launch.

    ``element`` is its PTX type, for messages; a size of zero means dynamic shared memory.
    """

    name: str
    space: str
    align: int
    data: NDArray[np.uint8]
    element: str = "b8"


@dataclass(slots=True, eq=False)
class Function:
    """A kernel or a device function: its signature, registers by name with their PTX type, instructions and labels.

    ``variables`` are its own local and shared ones; ``scratch`` the ``.param`` variables that it passes to others;
    ``tables`` the label lists of ``brx.idx``; ``prototypes`` the signatures of indirect calls.
    """

    name: str
    module: Program
    signature: Signature = Signature()
    registers: dict[str, str] = field(default_factory=dict)
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    scratch: dict[str, Param] = field(default_factory=dict)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    prototypes: dict[str, Signature] = field(default_factory=dict)
    limits: dict[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def params(self) -> tuple[Param, ...]:
        """What it takes."""
        return self.signature.params


@dataclass(slots=True, eq=False)
class Program:
    """A parsed PTX file; ``declared`` holds the functions that it has a body for elsewhere, such as ``vprintf``."""

    version: str = ""
    target: str = ""
    entries: dict[str, Function] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    declared: dict[str, Signature] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)

    def in_global_memory(self) -> list[Variable]:
        """The variables that lie among the buffers of a launch, in this order, before its arguments."""
        return [variable for variable in self.variables.values() if variable.space in ("global", "const")]
