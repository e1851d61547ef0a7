"""What the lanes of a warp do together: shuffles, votes, matches, reductions; and barriers of a block."""

from __future__ import annotations

from convlab.emulator.instructions.table import handles, type_of
from convlab.emulator.program import Instruction, Operand, Symbol, Vector
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES

__all__ = ["active", "barrier", "elect", "match", "reduce", "shuffle", "vote"]

U32 = DTYPES["u32"]
PRED = DTYPES["pred"]


@handles("shfl")
def shuffle(t: Translator, instruction: Instruction) -> None:
    """``shfl.sync.mode.b32 d|p, a, b, c, mask``: the value of another lane, and whether there is one."""
    mode = _mode(t, "up", "down", "bfly", "idx")
    target, value, lane, clamp, *_ = instruction.operands
    site = t.site("shuffle", "", U32, 1)
    texts = ", ".join(t.read(operand, U32) for operand in (value, lane, clamp))
    _write_both(t, target, f"shuffle_{mode}({texts}, lanes, memory, {site})")


def _mode(t: Translator, *known: str) -> str:
    """The one of the known modes that the opcode names: a text of ours, not of the PTX."""
    found = [mode for mode in known if mode in t.current.parts]
    if len(found) != 1:
        raise t.unsupported()
    return found[0]


def _write_both(t: Translator, target: Operand, expression: str) -> None:
    """A number and a predicate to ``d|p``, or the number alone to ``d``."""
    t.emit(f"v0, v1 = {expression}")
    first, second = target.items if isinstance(target, Vector) else (target, Symbol("_"))
    t.write(first, "v0", U32)
    t.write(second, "v1", PRED)


@handles("vote")
def vote(t: Translator, instruction: Instruction) -> None:
    """``vote.sync.{all,any,uni}.pred`` and ``vote.sync.ballot.b32``."""
    target, predicate, *mask = instruction.operands
    mode = _mode(t, "all", "any", "uni", "ballot")
    members = t.read(mask[0], U32) if mask else t.constant(0xFFFFFFFF, U32)
    dtype = U32 if mode == "ballot" else PRED
    t.write(target, f"vote_{mode}({t.read(predicate, PRED)}, {members}, lanes)", dtype)


@handles("match")
def match(t: Translator, instruction: Instruction) -> None:
    """``match.sync.any`` and ``match.sync.all``: the lanes with the same value."""
    target, value, mask = instruction.operands
    dtype = type_of(t, instruction)
    _write_both(t, target, f"match_{_mode(t, 'any', 'all')}({t.read(value, dtype)}, {t.read(mask, U32)}, lanes)")


@handles("redux")
def reduce(t: Translator, instruction: Instruction) -> None:
    """``redux.sync.op.type``: one result for all lanes of a mask."""
    target, value, mask = instruction.operands
    mode, dtype = _mode(t, "add", "min", "max", "and", "or", "xor"), type_of(t, instruction)
    if dtype.kind not in "iu":
        raise t.unsupported()
    t.write(target, f"reduce_{mode}({t.read(value, dtype)}, {t.read(mask, U32)}, lanes)", dtype)


@handles("elect")
def elect(t: Translator, instruction: Instruction) -> None:
    """``elect.sync d|p, mask``: the lowest lane of the mask is the leader."""
    target, mask = instruction.operands
    _write_both(t, target, f"leader({t.read(mask, U32)}, lanes)")


@handles("activemask")
def active(t: Translator, instruction: Instruction) -> None:
    """The lanes of the warp that are here now."""
    t.write(instruction.operands[0], "active_mask(lanes)", U32)


@handles("bar", "barrier")
def barrier(t: Translator, instruction: Instruction) -> None:
    """The machine lets lanes in when all are there; what is left to do is the reduction of ``bar.red``."""
    if "cluster" in instruction.parts:
        raise t.unsupported("of a cluster")
    if "arrive" in instruction.parts and len(instruction.operands) != 2:
        raise ValueError("those who arrive say how many are expected")
    if "red" not in instruction.parts:
        return
    target, *rest = instruction.operands
    operation = next((part for part in instruction.parts if part in ("popc", "and", "or")), None)
    if operation is None:
        raise t.unsupported()
    t.write(target, f"block_{operation}({t.read(rest[-1], PRED)}, lanes)", U32 if operation == "popc" else PRED)
