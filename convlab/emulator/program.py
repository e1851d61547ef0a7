"""What a PTX file says, as plain records: entries, instructions, operands, source places."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Address",
    "Entry",
    "Immediate",
    "Instruction",
    "Operand",
    "Param",
    "Place",
    "Program",
    "Register",
    "Symbol",
    "Variable",
    "Vector",
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
    """A name that is no declared register: a label, a parameter, a variable, or a special register."""

    name: str


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


@dataclass(frozen=True, slots=True)
class Param:
    """A kernel parameter: PTX type (``u64``, ``f32``, ``b8`` for structs), size and alignment in bytes."""

    name: str
    type: str
    size: int
    align: int


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """A variable of a module or a kernel: its memory space, and its bytes as they are before the first launch."""

    name: str
    space: str
    align: int
    data: NDArray[np.uint8]


@dataclass(slots=True, eq=False)
class Entry:
    """One kernel: parameters, declared registers by name with their PTX type, instructions, labels.

    ``locals`` are its own variables; ``globals`` those of its module, whose bytes all launches share.
    """

    name: str
    params: tuple[Param, ...] = ()
    registers: dict[str, str] = field(default_factory=dict)
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    locals: dict[str, Variable] = field(default_factory=dict)
    globals: dict[str, Variable] = field(default_factory=dict)


@dataclass(slots=True)
class Program:
    """A parsed PTX file."""

    version: str = ""
    target: str = ""
    entries: dict[str, Entry] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
