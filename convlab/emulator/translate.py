"""PTX to NumPy: each basic block becomes one straight piece of Python over whole vectors of lanes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from convlab.emulator import blocks as graph
from convlab.emulator.code import Code, Site, Step
from convlab.emulator.instructions import HANDLERS, flops
from convlab.emulator.lanes import pick, put
from convlab.emulator.memory import Memory
from convlab.emulator.numerics import NAMESPACE
from convlab.emulator.program import Entry, Param
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES
from convlab.errors import CompileError

__all__ = ["SPECIALS", "translate"]

# Values that differ from thread to thread or from block to block live in registers of their own.
SPECIALS = tuple(f"%{name}.{axis}" for name in ("tid", "ctaid", "ntid", "nctaid") for axis in "xyz")


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
    shared = (numbers, dtypes, _offsets(entry), addresses, sites, constants)
    parts = [Translator(entry, entry.instructions[block.first], *shared) for block in blocks]
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
        try:
            handler(part, instruction)
        except (
            AssertionError,
            IndexError,
            OverflowError,
            TypeError,
            ValueError,
        ) as error:  # handlers take operands as PTX has them
            raise CompileError(f"{instruction.place}: `{instruction.opcode}` cannot have these operands.") from error
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
