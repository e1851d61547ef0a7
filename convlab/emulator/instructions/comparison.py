"""Comparisons and choices: ``setp``, ``set``, ``selp``, ``slct``."""

from __future__ import annotations

import numpy as np

from convlab.emulator.instructions.floating import flushed
from convlab.emulator.instructions.rows import KINDS, Kind, kind_of
from convlab.emulator.instructions.table import handles, type_of
from convlab.emulator.program import Instruction, Vector
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES

__all__ = ["compare", "compare_to_value", "selection", "selection_by_sign"]

INTEGERS = {
    **{"eq": "{0} == {1}", "ne": "{0} != {1}", "lt": "{0} < {1}", "le": "{0} <= {1}", "gt": "{0} > {1}"},
    "ge": "{0} >= {1}",
}
UNSIGNED = INTEGERS | {"lo": "{0} < {1}", "ls": "{0} <= {1}", "hi": "{0} > {1}", "hs": "{0} >= {1}"}
# PTX's comparisons of floats are false when an operand is NaN, also `ne`; those that end in `u` are true then.
FLOATS = INTEGERS | {
    "ne": "({0} < {1}) | ({0} > {1})",
    "equ": "~(({0} < {1}) | ({0} > {1}))",
    "neu": "{0} != {1}",
    "ltu": "~({0} >= {1})",
    "leu": "~({0} > {1})",
    "gtu": "~({0} <= {1})",
    "geu": "~({0} < {1})",
    "num": "~(isnan({0}) | isnan({1}))",
    "nan": "isnan({0}) | isnan({1})",
}
COMPARISONS = {"i": INTEGERS, "u": UNSIGNED, "f": FLOATS}
JOINS = {"and": "&", "or": "|", "xor": "^"}


@handles("setp")
def compare(t: Translator, instruction: Instruction) -> None:
    """``setp.lt.s32 p, a, b``; with a second result ``p|q``, and combined with a predicate: ``setp.lt.and.s32``.

    The second result is the comparison's opposite, or of pairs the comparison of the upper halves.
    """
    name, *modes = instruction.parts[1:-1]
    kind = kind_of(t, instruction.parts[-1])
    target = instruction.operands[0]
    targets = target.items if isinstance(target, Vector) else (target,)
    t.emit(f"v0 = {_comparison(t, instruction, name, kind)}")
    results = ("part(v0, 0)", "part(v0, 1)") if instruction.parts[-1].endswith("x2") else ("v0", "~v0")
    joined = _joined(t, instruction, modes)
    for number in range(len(targets)):
        t.emit(f"p{number} = {results[number]}{joined}")
    for number, register in enumerate(targets):
        t.write(register, f"p{number}", DTYPES["pred"])


def _joined(t: Translator, instruction: Instruction, modes: list[str]) -> str:
    """What a comparison is combined with, if anything."""
    modes = [mode for mode in modes if mode != "ftz"]
    if not modes:
        if len(instruction.operands) != 3:
            raise ValueError("the number of operands")
        return ""
    if len(modes) > 1 or modes[0] not in JOINS:
        raise t.unsupported()
    return f" {JOINS[modes[0]]} {t.read(instruction.operands[3], DTYPES['pred'])}"


def _comparison(t: Translator, instruction: Instruction, name: str, kind: Kind) -> str:
    """One comparison, by the table of its type."""
    template = COMPARISONS.get(kind.computed.kind, {}).get(name)
    if template is None:
        raise t.unsupported()
    texts = [flushed(t, instruction, kind.read(t, operand), kind) for operand in instruction.operands[1:3]]
    return f"({template.format(*texts)})"


ONES = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}  # what `set` writes for true, as bits; integers: all ones


@handles("set")
def compare_to_value(t: Translator, instruction: Instruction) -> None:
    """``set.lt.u32.f32 d, a, b``: all ones or 1.0 for true, else zero; of pairs, in each half."""
    name, *modes, to, of = instruction.parts[1:]
    kind = kind_of(t, of)
    pair = of.endswith("x2")
    true = ONES.get(to.removesuffix("x2"), -1)
    if to not in KINDS or KINDS[to].computed.kind not in "iuf" or (pair and KINDS[to].stored.itemsize != 4):
        raise t.unsupported()
    dtype = np.dtype("i2") if pair else np.dtype(f"i{KINDS[to].stored.itemsize}")
    condition = f"{_comparison(t, instruction, name, kind)}{_joined(t, instruction, modes)}"
    chosen = f"select({condition}, {t.constant(true, dtype)}, {t.constant(0, dtype)})"
    t.write(instruction.operands[0], f"whole({chosen})" if pair else chosen, np.dtype("u4") if pair else dtype)


@handles("selp")
def selection(t: Translator, instruction: Instruction) -> None:
    """``selp d, a, b, p``."""
    dtype = np.dtype(f"i{type_of(t, instruction).itemsize}")
    target, a, b, chosen = instruction.operands
    condition = t.read(chosen, DTYPES["pred"])
    t.write(target, f"select({condition}, {t.read(a, dtype)}, {t.read(b, dtype)})", dtype)


@handles("slct")
def selection_by_sign(t: Translator, instruction: Instruction) -> None:
    """``slct d, a, b, c``: a where c is at least zero, else b; −0 is zero, and NaN is not."""
    *_, kind, by = (part for part in instruction.parts if part != "ftz")
    if by not in ("s32", "f32"):
        raise t.unsupported()
    dtype = np.dtype(f"i{kind_of(t, kind).stored.itemsize}")
    target, a, b, c = instruction.operands
    condition = f"{flushed(t, instruction, KINDS[by].read(t, c), KINDS[by])} >= 0"
    t.write(target, f"select({condition}, {t.read(a, dtype)}, {t.read(b, dtype)})", dtype)
