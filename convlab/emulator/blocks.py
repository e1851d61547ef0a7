"""The control-flow graph of a function: basic blocks, and which registers live across their borders."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import lru_cache

from convlab.emulator.program import Function, Instruction, Register, Symbol
from convlab.errors import CompileError

__all__ = ["BARRIERS", "MEETINGS", "WHOLE_WARPS", "Block", "live_out", "members", "split"]

JUMPS = ("bra", "brx", "call", "ret", "exit", "trap")  # what a block ends with
# Instructions that lanes wait for each other at: they begin a block, and the machine decides who may enter it.
BARRIERS = ("bar", "barrier")
WHOLE_WARPS = ("mma", "wmma", "ldmatrix", "stmatrix", "movmatrix")  # take all lanes of a warp
MEETINGS = (*BARRIERS, *WHOLE_WARPS, "shfl", "vote", "match", "redux", "elect")


@dataclass(slots=True)
class Block:
    """Instructions without a jump inside; afterwards to ``target`` where ``condition`` holds, else to ``fall``.

    ``None`` as a target or fall-through means that the function ends. ``switch`` holds the targets of ``brx.idx``.
    """

    first: int
    instructions: list[Instruction] = field(default_factory=list)
    condition: Register | None = None
    target: int | None = None
    fall: int | None = None
    switch: tuple[int | None, ...] = ()

    @property
    def last(self) -> str:
        """The opcode it ends with, as far as its first part."""
        return self.instructions[-1].parts[0] if self.instructions else ""

    @property
    def successors(self) -> tuple[int, ...]:
        """The blocks that may come next."""
        return tuple(n for n in (self.target, self.fall, *self.switch) if n is not None)


def split(function: Function) -> list[Block]:
    """Cut a function into basic blocks, in PTX order.

    A guarded instruction is a jump around itself, so that only branches ever divide lanes.
    """
    code = function.instructions
    if not code:
        raise CompileError(f"The function {function.name} has no instructions, not even ret.")
    starts = sorted({0, *function.labels.values(), *_borders(code)} - {len(code)})
    number = {start: index for index, start in enumerate(starts)}
    labels = {name: number.get(at) for name, at in function.labels.items()}
    blocks = []
    for index, start in enumerate(starts):
        end = starts[index + 1] if index + 1 < len(starts) else len(code)
        block = Block(start, code[start:end], fall=number.get(end))
        _close(block, labels, function)
        blocks.append(block)
    return _with_guards(blocks)


def _borders(code: list[Instruction]) -> set[int]:
    """The places where a block must begin: at meetings, after jumps, and around each guarded instruction."""
    borders = set()
    for at, instruction in enumerate(code):
        if instruction.guard is not None and instruction.parts[0] != "bra":
            borders |= {at, at + 1}
        elif instruction.parts[0] in JUMPS:
            borders.add(at + 1)
        elif instruction.parts[0] in MEETINGS:
            borders.add(at)
    return borders


def _close(block: Block, labels: dict[str, int | None], function: Function) -> None:
    """Read the jump at the end of a block."""
    last = block.instructions[-1]
    kind = last.parts[0]
    if kind == "bra":
        block.target, block.condition = _label(last, last.operands[0] if last.operands else None, labels), last.guard
        if last.guard is None:
            block.fall = block.target
    elif kind == "brx":
        table = last.operands[1] if len(last.operands) > 1 else None
        names = function.tables.get(table.name, ()) if isinstance(table, Symbol) else ()
        block.switch, block.fall = tuple(_label(last, Symbol(name), labels) for name in names), None
    elif kind in ("ret", "exit", "trap"):
        block.fall = None


def _label(jump: Instruction, operand: object, labels: dict[str, int | None]) -> int | None:
    """The block that a jump names."""
    name = operand.name if isinstance(operand, Symbol) else ""
    if name not in labels:
        raise CompileError(f"{jump.place}: the PTX branches to {name[:40]!r}, and no such label exists.")
    return labels[name]


def _with_guards(blocks: list[Block]) -> list[Block]:
    """Give each guarded instruction, alone in its block, a jump over it, as an empty block before it."""
    result: list[Block] = []
    moved: dict[int | None, int | None] = {None: None}
    for index, block in enumerate(blocks):
        moved[index] = len(result)
        guard = block.instructions[0].guard
        if guard is not None and block.instructions[0].parts[0] != "bra":
            over = Register(guard.name, not guard.negated)
            after = index + 1 if index + 1 < len(blocks) else None
            result.append(Block(block.first, [], over, target=after, fall=-1))  # -1: the guarded block itself
        result.append(block)
    for at, block in enumerate(result):
        block.target = moved[block.target]
        block.fall = at + 1 if block.fall == -1 else moved[block.fall]
        block.switch = tuple(moved[n] for n in block.switch)
    return result


def live_out(blocks: list[Block], reads: list[set[int]], writes: list[set[int]]) -> list[int]:
    """The registers that some later block reads, for each block; ``reads`` are those read before written.

    Each set is one number, with bit n for register n: of sets, thousands of large ones would fill the memory.

    Source: the backward data-flow equations of Aho, Lam, Sethi, Ullman, "Compilers", section 9.2.5.
    """
    read, written = (list(map(_bits, each)) for each in (reads, writes))
    before: list[list[int]] = [[] for _ in blocks]
    for index, block in enumerate(blocks):
        for successor in block.successors:
            before[successor].append(index)
    live_in, result = [0] * len(blocks), [0] * len(blocks)
    waiting, waits = deque(reversed(range(len(blocks)))), [True] * len(blocks)
    while waiting:
        index = waiting.popleft()
        waits[index] = False
        after = 0
        for successor in blocks[index].successors:
            after |= live_in[successor]
        result[index] = after
        now = read[index] | (after & ~written[index])
        if now != live_in[index]:
            live_in[index] = now
            again = [at for at in dict.fromkeys(before[index]) if not waits[at]]
            waiting += again
            for at in again:
                waits[at] = True
    return result


def _bits(numbers: set[int]) -> int:
    bits = 0
    for number in numbers:
        bits |= 1 << number
    return bits


@lru_cache(maxsize=256)
def members(bits: int) -> tuple[int, ...]:
    """The numbers in a set that is given by its bits.

    >>> members(0b100101)
    (0, 2, 5)
    """
    return tuple(number for number, bit in enumerate(reversed(f"{bits:b}")) if bit == "1")
