"""What handlers write with: it collects the Python lines of one block, and what they read and write."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from convlab.emulator.advice import refusal
from convlab.emulator.code import Site, Source
from convlab.emulator.layout import Layout
from convlab.emulator.memory.generic import GENERIC
from convlab.emulator.names import readable
from convlab.emulator.program import Address, Function, Immediate, Instruction, Operand, Register, Symbol, Vector
from convlab.emulator.specials import CLOCKS
from convlab.emulator.types import DTYPES, constant
from convlab.errors import UnsupportedInstruction

__all__ = ["SPACES", "Translator"]

STRENGTHS = {"volatile": 1, "relaxed": 2, "acquire": 2, "release": 2}

# The memory space of an instruction → where generated code finds it.
SPACES = {
    "global": "memory.everywhere",
    "const": "memory.everywhere",
    "shared": "memory.shared",
    "local": "memory.local",
    "generic": "memory.generic",
}


@dataclass(slots=True)
class Translator:
    """Collects the lines of one block; handlers call `read`, `write` and `emit`."""

    function: Function
    current: Instruction
    numbers: dict[str, int]
    dtypes: list[np.dtype[Any]]
    layout: Layout
    sites: list[Site]
    constants: dict[str, Any]
    used: Container[str] = ()  # registers that somebody reads
    needed: Container[str] = ()  # those of them that are not just copied within local memory
    lines: list[str] = field(default_factory=list)
    reads: set[int] = field(default_factory=set)
    writes: set[int] = field(default_factory=set)

    def read(self, operand: Operand, dtype: np.dtype[Any]) -> str:
        """A Python expression for an operand, seen as the given type."""
        if isinstance(operand, Immediate):
            return self.constant(operand.value, dtype)
        name = operand.name if isinstance(operand, Register | Symbol) else ""
        if isinstance(operand, Symbol) and name in self.layout.addresses:
            if dtype.itemsize < 8 and self.layout.addresses[name] >> 8 * dtype.itemsize:
                raise self.unsupported(f"the address of {readable(name)[:40]} in {8 * dtype.itemsize} bits")
            return self.place(self.layout.addresses[name] + operand.offset, dtype, name in self.layout.framed)
        if name.endswith("_hi") and name in CLOCKS:  # a launch ends long before these count
            return self.constant(0, dtype)
        if name in CLOCKS:
            return f"memory.time({self.name_type(dtype)})"
        if name not in self.numbers:
            raise self.unsupported(f"the operand {readable(name)[:40] or 'here'}")
        number = self.numbers[name]
        if number not in self.writes:
            self.reads.add(number)
        text = f"r{number}"
        if self.dtypes[number] != dtype:
            text = self.as_type(text, self.dtypes[number], dtype)
        if not isinstance(operand, Register) or not operand.negated:
            return text
        if self.dtypes[number].kind != "b":
            raise self.unsupported("the opposite of a number")
        return f"(~{text})"

    def as_type(self, text: str, own: np.dtype[Any], wanted: np.dtype[Any]) -> str:
        """The same bits as another type; a wider register gives its lower half, as PTX allows for ld, st and cvt."""
        if "b" in (own.kind, wanted.kind):
            raise self.unsupported("a predicate as a number")
        if own.itemsize > wanted.itemsize:
            text = f"{text}.astype({self.name_type(np.dtype(f'i{wanted.itemsize}'))})"
        elif own.itemsize < wanted.itemsize:
            raise self.unsupported(f"a {8 * own.itemsize}-bit register as {8 * wanted.itemsize} bits")
        return f"bits({text}, {self.name_type(wanted)})"

    def write(self, operand: Operand, expression: str, dtype: np.dtype[Any]) -> None:
        """Assign an expression of the given type to a register; a wider register is extended by the type's sign.

        The name ``_`` takes what nobody wants: the expression may still do something.
        """
        if operand == Symbol("_"):
            self.emit(expression)
            return
        if not isinstance(operand, Register):
            raise self.unsupported(f"the destination {operand!s}")
        number = self.numbers[operand.name]
        own = self.dtypes[number]
        if own != dtype and "b" in (own.kind, dtype.kind):
            raise self.unsupported("a predicate as a number")
        if own.itemsize != dtype.itemsize and dtype.kind == "f":
            raise self.unsupported(f"a float of {8 * dtype.itemsize} bits into a register of {8 * own.itemsize}")
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
        return self.bind(constant(value, dtype))

    def bind(self, value: Any) -> str:
        """The name under which generated code finds an object of ours."""
        name = f"k{len(self.constants)}"
        self.constants[name] = value
        return name

    def name_type(self, dtype: np.dtype[Any]) -> str:
        """The name under which generated code finds a type."""
        name = f"t_{dtype.str[1:]}"  # without the byte order
        self.constants[name] = dtype
        return name

    def place(self, address: int, dtype: np.dtype[Any] = DTYPES["b64"], framed: bool = True) -> str:
        """An address that is known here, or, in a function, counted from the start of its frame."""
        if not framed or self.layout.kernel:
            return self.constant(address, dtype)
        self.reads.add(self.layout.pointer)
        return f"(r{self.layout.pointer} + {self.constant(address, DTYPES['b64'])}).astype({self.name_type(dtype)})"

    def site(self, action: str, space: str, dtype: np.dtype[Any], count: int, **more: Any) -> int:
        """Register a memory instruction; its number is what generated code passes to memory."""
        self.sites.append(Site(len(self.sites), self.current.place, action, space, dtype, count, **more))
        return len(self.sites) - 1

    def load(self, dtype: np.dtype[Any], count: int, address: str, holder: str = "") -> list[str]:
        """Emit a load of some elements a lane; returns the names of their values."""
        names = [f"v{n}" for n in range(count)]
        where, site = self._access("load", dtype, count, holder)
        self.emit(f"({', '.join(names)},) = {where}.load({site}, {address}, lanes)")
        return names

    def store(self, dtype: np.dtype[Any], address: str, values: list[str], holder: str = "") -> None:
        """Emit a store of some elements a lane."""
        where, site = self._access("store", dtype, len(values), holder)
        self.emit(f"{where}.store({site}, {address}, ({', '.join(values)},), lanes)")

    def atomic(self, operation: str, dtype: np.dtype[Any], address: str, values: list[str]) -> str:
        """An expression that does an atomic operation and gives what was there before."""
        where, site = self._access("atomic", dtype, 1)
        return f"{where}.atomic({site}, {operation!r}, {address}, ({', '.join(values)},), lanes)"

    def space(self) -> str:
        """The memory space that the instruction names; none is the generic one."""
        named = {part.partition("::")[0] for part in self.current.parts[1:]}
        return next((space for space in ("global", "shared", "local", "const", "param") if space in named), "")

    def _access(self, action: str, dtype: np.dtype[Any], count: int, holder: str = "") -> tuple[str, int]:
        """Where generated code finds the memory that the instruction accesses, and the number of its site.

        ``holder`` is the space that really holds it, where that is another one than the instruction names.
        """
        if count not in (1, 2, 4, 8):
            raise self.unsupported(f"{count} elements at a time")
        space = self.space()
        strength = 2 if action == "atomic" else max(STRENGTHS.get(part, 0) for part in self.current.parts)
        target, wanted = self.current.operands[0], self.needed if space == "local" else self.used
        targets = (target.items if isinstance(target, Vector) else (target,)) if action == "load" else ()
        unused = tuple(n for n, item in enumerate(targets) if getattr(item, "name", "") not in wanted)
        if space:
            return SPACES[holder or space], self.site(action, space, dtype, count, strength=strength, unused=unused)
        sites = [self.site(action, name, dtype, count, strength=strength, unused=unused) for name, _ in GENERIC]
        return SPACES["generic"], sites[0]

    def address(self, operand: Operand, space: str = "") -> str:
        """The address of each lane in its space, in bytes."""
        if not isinstance(operand, Address):
            raise self.unsupported("without an address in brackets")
        base = operand.base
        if isinstance(base, Symbol) and base.name not in self.numbers:
            known = self.read(Symbol(base.name, base.offset + operand.offset), DTYPES["b64"])
            if not space and base.name in self.layout.windows:  # a name stands for its address in its own space
                known = f"({known} + {self.constant(self.layout.windows[base.name], DTYPES['b64'])})"
            return known
        narrow = isinstance(base, Register) and self.dtypes[self.numbers[base.name]].itemsize == 4
        dtype = DTYPES["s32"] if narrow else DTYPES["b64"]  # shared and local addresses fit 32 bits, and wrap there
        text = self.read(base, dtype)
        if operand.offset:
            text = f"({text} + {self.constant(operand.offset, dtype)})"
        return f"{text}.astype({self.name_type(DTYPES['b64'])})" if narrow else text

    def is_predicate(self, register: Register) -> bool:
        """Whether a register holds a predicate."""
        return self.dtypes[self.numbers[register.name]] == DTYPES["pred"]

    def source(self, operand: Operand, dtype: np.dtype[Any]) -> Source:
        """An operand that the machine itself needs, before the block runs."""
        if isinstance(operand, Immediate):
            return Source(None, constant(operand.value, dtype))
        number = self.numbers.get(operand.name) if isinstance(operand, Register) else None
        if number is None:
            raise self.unsupported("with such an operand")
        self.reads.add(number)
        return Source(number)

    def unsupported(self, what: str = "") -> UnsupportedInstruction:
        """The error for what this emulator does not execute: instruction, CUDA line, way out."""
        return UnsupportedInstruction(refusal(self.current, what, self.function.module.entries))
