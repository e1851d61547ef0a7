"""PTX to NumPy: each basic block becomes one straight piece of Python over whole vectors of lanes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from convlab.emulator import blocks as graph
from convlab.emulator.instructions import HANDLERS, flops
from convlab.emulator.lanes import pick, put
from convlab.emulator.memory import Memory
from convlab.emulator.numerics import DTYPES, NAMESPACE, constant
from convlab.emulator.program import Entry, Immediate, Instruction, Operand, Param, Place, Register, Symbol
from convlab.errors import UnsupportedInstruction

__all__ = ["SPECIALS", "Code", "Site", "Step", "translate"]

# Values that differ from thread to thread or from block to block live in registers of their own.
SPECIALS = tuple(f"%{name}.{axis}" for name in ("tid", "ctaid", "ntid", "nctaid") for axis in "xyz")


@dataclass(frozen=True, slots=True)
class Site:
    """An instruction that accesses memory: what observers and faults know it by."""

    index: int
    place: Place
    action: str  # "load" or "store"
    space: str
    dtype: np.dtype[Any]
    count: int  # elements per lane: 1, 2 or 4

    @property
    def width(self) -> int:
        """Bytes per lane."""
        return self.count * self.dtype.itemsize

    @property
    def shift(self) -> int:
        """The element's size as a power of two."""
        return self.dtype.itemsize.bit_length() - 1


@dataclass(slots=True)
class Step:
    """A basic block, ready to run: for all lanes (``full``) and for some of them (``part``)."""

    full: Callable[..., Any]
    part: Callable[..., Any]
    target: int | None
    fall: int | None
    places: tuple[Place, ...]  # one for each instruction
    flops: tuple[int, ...]  # floating-point operations of each instruction in each lane


@dataclass(slots=True)
class Code:
    """A kernel as Python: its steps, its registers' types, its memory instructions, its local bytes a thread."""

    steps: list[Step]
    dtypes: list[np.dtype[Any]]
    sites: list[Site]
    local_bytes: int
    source: str


@dataclass(slots=True)
class Translator:
    """Collects the lines of one block; handlers call `read`, `write` and `emit`."""

    entry: Entry
    numbers: dict[str, int]
    dtypes: list[np.dtype[Any]]
    params: dict[str, tuple[Param, int]]
    addresses: dict[str, int]
    sites: list[Site]
    constants: dict[str, Any]
    lines: list[str] = field(default_factory=list)
    reads: set[int] = field(default_factory=set)
    writes: set[int] = field(default_factory=set)
    current: Instruction | None = None

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
        assert self.current is not None
        self.sites.append(Site(len(self.sites), self.current.place, action, space, dtype, count))
        return len(self.sites) - 1

    def unsupported(self, what: str = "") -> UnsupportedInstruction:
        """The error for what this emulator does not execute: instruction, CUDA line, way out."""
        assert self.current is not None
        detail = f" ({what})" if what else ""
        return UnsupportedInstruction(
            f"{self.current.place}: the emulator does not execute `{self.current.opcode}`{detail} yet. "
            "Write the line without it, or run on a GPU with device='cuda'."
        )


@lru_cache(maxsize=64)
def translate(entry: Entry) -> Code:
    """Translate one kernel to Python; the result is kept for the next launch.

    No text of the PTX reaches the generated code: registers become numbers, literals become values.

    Raises:
        UnsupportedInstruction: for what the table of instructions lacks, with the line of CUDA C.
    """
    numbers = {name: index for index, name in enumerate([*entry.registers, *SPECIALS])}
    dtypes = [DTYPES[kind] for kind in entry.registers.values()] + [DTYPES["b32"]] * len(SPECIALS)
    blocks = graph.split(entry)
    sites: list[Site] = []
    constants: dict[str, Any] = {}
    addresses, local_bytes = _addresses(entry)
    parts = [Translator(entry, numbers, dtypes, _offsets(entry), addresses, sites, constants) for _ in blocks]
    conditions = [_translate_block(part, block) for part, block in zip(parts, blocks, strict=True)]
    live = graph.live_out(blocks, [p.reads for p in parts], [p.writes for p in parts])
    pieces = []
    for index, (part, condition) in enumerate(zip(parts, conditions, strict=True)):
        pieces += _functions(index, part, condition, sorted(live[index] & part.writes))
    source = "\n".join(pieces)
    scope = {**NAMESPACE, **constants, "pick": pick, "put": put}
    exec(compile(source, f"<{entry.name}>", "exec"), scope)
    steps = [
        Step(
            scope[f"full{index}"],
            scope[f"part{index}"],
            block.target,
            block.fall,
            tuple(i.place for i in block.instructions),
            tuple(flops(i) for i in block.instructions),
        )
        for index, block in enumerate(blocks)
    ]
    return Code(steps, dtypes, sites, local_bytes, source)


def _offsets(entry: Entry) -> dict[str, tuple[Param, int]]:
    """Each parameter with its place in the packed parameter bytes."""
    offsets, at = {}, 0
    for param in entry.params:
        at = -(-at // param.align) * param.align
        offsets[param.name] = (param, at)
        at += param.size
    return offsets


def _addresses(entry: Entry) -> tuple[dict[str, int], int]:
    """Where variables lie: those of the module first among the buffers, local ones from 0 on; and the local size."""
    module = [name for name, variable in entry.globals.items() if variable.space == "global"]
    addresses = {name: Memory.address(index) for index, name in enumerate(module)}
    at = 0
    for variable in entry.locals.values():
        if variable.space == "local":
            at = -(-at // variable.align) * variable.align
            addresses[variable.name] = at
            at += variable.data.size
    return addresses, at


def _translate_block(part: Translator, block: graph.Block) -> str:
    """Emit the lines of one block; returns the expression of its condition, if it has one."""
    for instruction in block.instructions:
        part.current = instruction
        handler = HANDLERS.get(instruction.parts[0])
        if handler is None:
            raise part.unsupported()
        handler(part, instruction)
    return part.read(block.condition, DTYPES["pred"]) if block.condition is not None else ""


def _functions(index: int, part: Translator, condition: str, outputs: list[int]) -> list[str]:
    """Two Python functions around the same lines: one for whole vectors, one that gathers and scatters."""
    body = [f"    {line}" for line in part.lines]
    inputs = sorted(part.reads)
    return [
        f"def full{index}(R, lanes, memory):",
        *(f"    r{n} = R[{n}]" for n in inputs),
        *body,
        *(f"    R[{n}] = r{n}" for n in outputs),
        f"    return {condition or 'None'}",
        f"def part{index}(R, lanes, memory):",
        *(f"    r{n} = pick(R[{n}], lanes)" for n in inputs),
        *body,
        *(f"    R[{n}] = put(R[{n}], r{n}, lanes)" for n in outputs),
        f"    return {condition or 'None'}",
    ]
