"""The control-flow graph of a kernel: basic blocks, and which registers live across their borders."""

from __future__ import annotations

from dataclasses import dataclass, field

from convlab.emulator.program import Entry, Instruction, Register, Symbol
from convlab.errors import CompileError

__all__ = ["Block", "live_out", "split"]

ENDS = ("ret", "exit")


@dataclass(slots=True)
class Block:
    """Instructions without a jump inside; afterwards to ``target`` where ``condition`` holds, else to ``fall``.

    ``None`` as a target or fall-through means that the thread ends.
    """

    first: int
    instructions: list[Instruction] = field(default_factory=list)
    condition: Register | None = None
    target: int | None = None
    fall: int | None = None


def split(entry: Entry) -> list[Block]:
    """Cut a kernel into basic blocks, in PTX order.

    A guarded instruction is a jump around itself, so that only branches ever divide lanes.
    """
    code = entry.instructions
    if not code:
        raise CompileError(f"The kernel {entry.name} has no instructions, not even ret.")
    starts = sorted({0, *entry.labels.values(), *_borders(code)} - {len(code)})
    number = {start: index for index, start in enumerate(starts)}
    labels = {name: number.get(at) for name, at in entry.labels.items()}
    blocks = []
    for index, start in enumerate(starts):
        end = starts[index + 1] if index + 1 < len(starts) else len(code)
        block = Block(start, code[start:end], fall=number.get(end))
        _close(block, labels)
        blocks.append(block)
    return _with_guards(blocks)


def _borders(code: list[Instruction]) -> set[int]:
    """The places where a block must begin: after each jump or end, and around each guarded instruction."""
    borders = set()
    for at, instruction in enumerate(code):
        if instruction.guard is not None and instruction.parts[0] != "bra":
            borders |= {at, at + 1}
        elif instruction.parts[0] in ("bra", *ENDS):
            borders.add(at + 1)
    return borders


def _close(block: Block, labels: dict[str, int | None]) -> None:
    """Read the jump at the end of a block."""
    last = block.instructions[-1]
    if last.parts[0] == "bra":
        name = last.operands[0].name if last.operands and isinstance(last.operands[0], Symbol) else ""
        if name not in labels:
            raise CompileError(f"{last.place}: the PTX branches to {name!r}, and no such label exists.")
        block.target, block.condition = labels[name], last.guard
        if last.guard is None:
            block.fall = block.target
    elif last.parts[0] in ENDS:
        block.fall = None


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
    return result


def live_out(blocks: list[Block], reads: list[set[int]], writes: list[set[int]]) -> list[set[int]]:
    """The registers that some later block reads, for each block; ``reads`` are those read before written.

    Source: the backward data-flow equations of Aho, Lam, Sethi, Ullman, "Compilers", section 9.2.5.
    """
    live_in: list[set[int]] = [set() for _ in blocks]
    result: list[set[int]] = [set() for _ in blocks]
    changed = True
    while changed:
        changed = False
        for index in reversed(range(len(blocks))):
            block = blocks[index]
            after: set[int] = set()
            for successor in (block.target, block.fall):
                if successor is not None:
                    after |= live_in[successor]
            before = reads[index] | (after - writes[index])
            if after != result[index] or before != live_in[index]:
                result[index], live_in[index], changed = after, before, True
    return result
