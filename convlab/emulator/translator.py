"""The pen of the translation: collects the Python lines of one block, and what they read and write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from convlab.emulator.code import Site
from convlab.emulator.program import Entry, Immediate, Instruction, Operand, Param, Register, Symbol
from convlab.emulator.types import constant
from convlab.errors import UnsupportedInstruction

__all__ = ["Translator"]


@dataclass(slots=True)
class Translator:
    """Collects the lines of one block; handlers call `read`, `write` and `emit`."""

    entry: Entry
    current: Instruction
    numbers: dict[str, int]
    dtypes: list[np.dtype[Any]]
    params: dict[str, tuple[Param, int]]
    addresses: dict[str, int]
    sites: list[Site]
    constants: dict[str, Any]
    lines: list[str] = field(default_factory=list)
    reads: set[int] = field(default_factory=set)
    writes: set[int] = field(default_factory=set)

    def read(self, operand: Operand, dtype: np.dtype[Any]) -> str:
        """A Python expression for an operand, seen as the given type."""
        if isinstance(operand, Immediate):
            return self.constant(operand.value, dtype)
        name = operand.name if isinstance(operand, Register | Symbol) else ""
        if name in self.addresses:
            return self.constant(self.addresses[name], dtype)
        if name not in self.numbers:
            variable = self.entry.locals.get(name) or self.entry.globals.get(name)
            raise self.unsupported(f"{variable.space} memory" if variable else f"the operand {name or operand!s}")
        number = self.numbers[name]
        if number not in self.writes:
            self.reads.add(number)
        text = f"r{number}"
        if self.dtypes[number] != dtype:
            text = self.as_type(text, self.dtypes[number], dtype)
        return f"(~{text})" if isinstance(operand, Register) and operand.negated else text

    def as_type(self, text: str, own: np.dtype[Any], wanted: np.dtype[Any]) -> str:
        """The same bits as another type; a wider register gives its lower half, as PTX allows for ld, st and cvt."""
        if own.itemsize > wanted.itemsize:
            text = f"{text}.astype({self.name_type(np.dtype(f'i{wanted.itemsize}'))})"
        elif own.itemsize < wanted.itemsize:
            raise self.unsupported(f"a {8 * own.itemsize}-bit register as {8 * wanted.itemsize} bits")
        return f"bits({text}, {self.name_type(wanted)})"

    def write(self, operand: Operand, expression: str, dtype: np.dtype[Any]) -> None:
        """Assign an expression of the given type to a register; a wider register is extended by the type's sign."""
        if not isinstance(operand, Register):
            raise self.unsupported(f"the destination {operand!s}")
        number = self.numbers[operand.name]
        own = self.dtypes[number]
        if own.itemsize != dtype.itemsize:
            expression = f"({expression}).astype({self.name_type(np.dtype(f'{dtype.kind}{own.itemsize}'))})"
            dtype = np.dtype(f"{dtype.kind}{own.itemsize}")
        if own != dtype:
            expression = f"bits({expression}, {self.name_type(own)})"
        self.emit(f"r{number} = {expression}")
        self.writes.add(number)

    def emit(self, line: str) -> None:
        """Append one line of Python."""
        self.lines.append(line)

    def constant(self, value: int | float, dtype: np.dtype[Any]) -> str:
        """The name under which generated code finds a literal."""
        name = f"k{len(self.constants)}"
        self.constants[name] = constant(value, dtype)
        return name

    def name_type(self, dtype: np.dtype[Any]) -> str:
        """The name under which generated code finds a type."""
        self.constants[f"t_{dtype.str[1:]}" if dtype.kind != "b" else "t_b1"] = dtype
        return f"t_{dtype.str[1:]}" if dtype.kind != "b" else "t_b1"

    def site(self, action: str, space: str, dtype: np.dtype[Any], count: int) -> int:
        """Register a memory instruction; its number is what generated code passes to memory."""
        self.sites.append(Site(len(self.sites), self.current.place, action, space, dtype, count))
        return len(self.sites) - 1

    def unsupported(self, what: str = "") -> UnsupportedInstruction:
        """The error for what this emulator does not execute: instruction, CUDA line, way out."""
        detail = f" ({what})" if what else ""
        return UnsupportedInstruction(
            f"{self.current.place}: the emulator does not execute `{self.current.opcode}`{detail} yet. "
            "Write the line without it, or run on a GPU with device='cuda'."
        )
