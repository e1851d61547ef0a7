"""PTX to NumPy: each basic block becomes one straight piece of Python over whole vectors of lanes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from convlab.emulator import blocks as graph
from convlab.emulator import call_graph
from convlab.emulator.addresses import function_address
from convlab.emulator.advice import declined
from convlab.emulator.calls import callee
from convlab.emulator.code import (
    Branch,
    Call,
    Code,
    End,
    Exit,
    Meeting,
    Return,
    Site,
    Source,
    Step,
    Switch,
)
from convlab.emulator.instructions import HANDLERS
from convlab.emulator.lanes import pick, put
from convlab.emulator.layout import Layout, SharedLayout, lay_out, names, share
from convlab.emulator.numerics import NAMESPACE
from convlab.emulator.program import Function, Register, Symbol
from convlab.emulator.specials import SPECIALS
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES
from convlab.emulator.uses import used
from convlab.emulator.waiting import patience, waiting
from convlab.errors import CompileError

__all__ = ["WRONG_OPERANDS", "translate"]

# Handlers take operands as PTX has them, and fail on others.
WRONG_OPERANDS = (AssertionError, AttributeError, LookupError, OverflowError, TypeError, ValueError)
TOGETHER = 1000  # Python functions to compile at once: all of a large kernel would take gigabytes
MOST_INSTRUCTIONS = 1 << 16  # of a kernel: more would take minutes and gigabytes to translate


@lru_cache(maxsize=64)
def translate(kernel: Function) -> Code:
    """Translate a kernel and the functions it reaches to Python; the result is kept for the next launch.

    No text of the PTX reaches the generated code: registers become numbers, literals become values.

    Raises:
        UnsupportedInstruction: for what the table of instructions lacks, with the line of CUDA C.
    """
    reached = call_graph.reached(kernel)
    size = sum(len(function.instructions) for function in reached)
    if size > MOST_INSTRUCTIONS:
        raise CompileError(
            f"{kernel.name[:40]} has {size:,} instructions, with those of the functions that it calls; "
            f"the emulator takes {MOST_INSTRUCTIONS:,} at most."
        )
    return _Linker(kernel, reached).code()


@dataclass(slots=True)
class _Piece:
    """One function on its way to steps: its blocks, what was written for each, and the number of its first step."""

    function: Function
    layout: Layout
    blocks: list[graph.Block]
    parts: list[Translator]
    results: list[str]
    live: list[int]
    patience: list[int]
    first: int


class _Linker:
    """Translates functions one after the other, and puts them together."""

    def __init__(self, kernel: Function, functions: list[Function]) -> None:
        self.kernel = kernel
        self.functions = functions
        self.recursive = call_graph.recursive(functions)
        self.waiting = waiting(functions)
        self.shared: SharedLayout = share(kernel.module, functions)
        self.dtypes: list[np.dtype[Any]] = []
        self.sites: list[Site] = []
        self.constants: dict[str, Any] = {}
        used = names(functions)
        self.specials = [name for name in SPECIALS if name in used]
        self.special_numbers = {name: number for number, name in enumerate(self.specials)}
        self.dtypes += [SPECIALS[name].dtype for name in self.specials]
        self.pointer = len(self.dtypes)
        self.dtypes.append(np.dtype("i8"))

    def code(self) -> Code:
        """Everything, as one record."""
        pieces, first = [], 0
        for function in self.functions:
            piece = self._function(function, first)
            pieces.append(piece)
            first += len(piece.blocks)
        lines = [line for piece in pieces for line in self._source(piece)]
        scope = {**NAMESPACE, **self.constants, "pick": pick, "put": put}
        starts = [at for at, line in enumerate(lines) if line.startswith("def ")]
        for first_line, end in pairwise([*starts[::TOGETHER], len(lines)]):
            exec(compile("\n".join(lines[first_line:end]), "<kernel>", "exec"), scope)
        entries = {id(piece.function): piece.first for piece in pieces}
        steps = [step for piece in pieces for step in self._steps(piece, scope, entries)]
        functions = {
            function_address(n): entries[id(f)]
            for n, f in enumerate(self.kernel.module.functions.values())
            if id(f) in entries
        }
        return Code(
            steps=steps,
            first=entries[id(self.kernel)],
            dtypes=self.dtypes,
            specials=self.specials,
            pointer=self.pointer,
            sites=self.sites,
            frame=max(piece.layout.extent for piece in pieces),
            functions=functions,
            shared=self.shared.variables,
            shared_bytes=self.shared.size,
            source="\n".join(lines),
        )

    def _function(self, function: Function, first: int) -> _Piece:
        """Write the lines of all blocks of a function."""
        numbers = dict(self.special_numbers)
        for name, kind in {"#cc": "u32", **function.registers}.items():
            numbers[name] = len(self.dtypes)
            self.dtypes.append(DTYPES[kind])
        layout = lay_out(function, self.shared, function is self.kernel, self.pointer)
        blocks = graph.split(function)
        shared = (numbers, self.dtypes, layout, self.sites, self.constants)
        uses = (used(function), used(function, copies=False))
        parts = [Translator(function, function.instructions[block.first], *shared, *uses) for block in blocks]
        results = [_translate_block(part, block) for part, block in zip(parts, blocks, strict=True)]
        live = graph.live_out(blocks, [p.reads for p in parts], [p.writes for p in parts])
        return _Piece(function, layout, blocks, parts, results, live, patience(function, blocks, self.waiting), first)

    def _source(self, piece: _Piece) -> list[str]:
        """The Python functions of all blocks."""
        lines = []
        for index, (part, result) in enumerate(zip(piece.parts, piece.results, strict=True)):
            outputs = [number for number in sorted(part.writes) if piece.live[index] >> number & 1]
            lines += _functions(piece.first + index, part, result, outputs)
        return lines

    def _steps(self, piece: _Piece, scope: dict[str, Any], entries: dict[int, int]) -> Iterable[Step]:
        """The steps of a function, numbered as they come in the whole."""
        for index, block in enumerate(piece.blocks):
            number = piece.first + index
            yield Step(
                scope[f"full{number}"],
                scope[f"part{number}"],
                self._exit(piece, index, entries),
                tuple(block.instructions),
                piece.function.instructions[block.first].place,
                _meeting(piece.parts[index], block),
            )

    def _exit(self, piece: _Piece, index: int, entries: dict[int, int]) -> Exit:
        """Where lanes go after a block."""
        block = piece.blocks[index]
        ends_thread = piece.function is self.kernel
        if block.last in ("exit", "trap") or (block.last == "ret" and ends_thread):
            return End()
        if block.last == "ret":
            return Return()

        def step(target: int | None) -> int | None:
            return None if target is None else piece.first + target

        if block.switch:
            return Switch(tuple(map(step, block.switch)), piece.patience[index])
        if block.last == "call":
            target, _ = callee(block.instructions[-1])
            own = piece.function.module.functions.get(target.name) if isinstance(target, Symbol) else None
            if own is not None or isinstance(target, Register):
                saved: tuple[int, ...] = ()
                if own is None or (id(piece.function), id(own)) in self.recursive:
                    above = self.pointer + 1  # special registers never change
                    saved = graph.members(piece.live[index] >> above << above)
                first = entries[id(own)] if own is not None else None
                return Call(first, step(block.fall), piece.layout.frame, saved)
        if block.target is None and block.fall is None and block.condition is None:
            return End() if ends_thread else Return()
        return Branch(step(block.target), step(block.fall), piece.patience[index])


def _meeting(part: Translator, block: graph.Block) -> Meeting | None:
    """What lanes wait for at the start of a block."""
    if not block.instructions or block.instructions[0].parts[0] not in graph.MEETINGS:
        return None
    instruction = part.current = block.instructions[0]
    parts, operands = instruction.parts, instruction.operands
    u32 = DTYPES["u32"]
    if parts[0] in graph.BARRIERS and "warp" not in parts:
        rest = operands[1:-1] if "red" in parts else operands
        numbers = [part.source(operand, u32) for operand in rest]
        who = numbers[0] if numbers else Source(None, np.uint32(0))
        return Meeting(True, who, numbers[1] if len(numbers) > 1 else None, "arrive" in parts)
    if parts[0] in graph.WHOLE_WARPS:
        return Meeting(False, Source(None, np.uint32(0xFFFFFFFF)))
    if "sync" not in parts:
        return None
    return Meeting(False, part.source(operands[-1], u32))


def _translate_block(part: Translator, block: graph.Block) -> str:
    """Emit the lines of one block; returns the expression of its condition or of where it goes, if it has one."""
    try:
        return _emit(part, block)
    except WRONG_OPERANDS as error:
        wrong = part.current
        raise CompileError(f"{wrong.place}: `{wrong.opcode[:60]}` cannot have these operands.") from error


def _emit(part: Translator, block: graph.Block) -> str:
    for instruction in block.instructions:
        part.current = instruction
        handler = HANDLERS.get(instruction.parts[0])
        if handler is None or declined(instruction):  # some forms of what is executed are not
            raise part.unsupported()
        handler(part, instruction)
    _meeting(part, block)  # notes which registers the machine will need
    if block.condition is not None:
        return part.read(block.condition, DTYPES["pred"])
    if block.last == "brx":
        return part.read(block.instructions[-1].operands[0], DTYPES["u32"])
    target = callee(block.instructions[-1])[0] if block.last == "call" else None
    return part.read(target, DTYPES["b64"]) if isinstance(target, Register) else ""


def _functions(index: int, part: Translator, result: str, outputs: list[int]) -> list[str]:
    """Two Python functions around the same lines: one for whole vectors, one that gathers and scatters."""
    body = [f"    {line}" for line in part.lines]
    inputs = sorted(part.reads)
    return [
        f"def full{index}(R, lanes, memory):",
        *(f"    r{n} = R[{n}]" for n in inputs),
        *body,
        *(f"    R[{n}] = r{n}" for n in outputs),
        f"    return {result or 'None'}",
        f"def part{index}(R, lanes, memory):",
        *(f"    r{n} = pick(R[{n}], lanes)" for n in inputs),
        *body,
        *(f"    R[{n}] = put(R[{n}], r{n}, lanes)" for n in outputs),
        f"    return {result or 'None'}",
    ]
