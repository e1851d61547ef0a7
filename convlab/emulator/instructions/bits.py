"""Comparisons, selections, moves and operations on bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.emulator.instructions.arithmetic import flushed
from convlab.emulator.instructions.table import handles, type_of
from convlab.emulator.program import Immediate, Instruction, Vector
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES

COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
UNSIGNED = {
    "lo": "lt",
    "ls": "le",
    "hi": "gt",
    "hs": "ge",
}  # the names that PTX gives to unsigned comparisons


@handles("shl", "shr")
def shift(t: Translator, instruction: Instruction) -> None:
    """Shifts; a literal count within the width needs no clamp."""
    dtype = type_of(t, instruction)
    if instruction.parts[0] == "shr" and instruction.parts[-1].startswith("b"):
        dtype = np.dtype(f"u{dtype.itemsize}")
    value, count = instruction.operands[1:]
    a = t.read(value, dtype)
    left = instruction.parts[0] == "shl"
    if isinstance(count, Immediate) and 0 <= count.value < 8 * dtype.itemsize:
        t.write(instruction.operands[0], f"{a} {'<<' if left else '>>'} {t.constant(count.value, dtype)}", dtype)
        return
    function = "shift_left" if left else "shift_right"
    t.write(instruction.operands[0], f"{function}({a}, {t.read(count, DTYPES['u32'])})", dtype)


@handles("setp")
def compare(t: Translator, instruction: Instruction) -> None:
    """``setp.lt.s32 p, a, b``, also combined with a predicate: ``setp.lt.and.s32 p, a, b, c``."""
    dtype = type_of(t, instruction)
    a, b = (flushed(instruction, t.read(operand, dtype)) for operand in instruction.operands[1:3])
    name, *joined = [part for part in instruction.parts[1:-1] if part != "ftz"]
    result = _comparison(t, name, a, b, dtype)
    if joined:
        join = {"and": "&", "or": "|", "xor": "^"}.get(joined[0])
        if join is None:
            raise t.unsupported()
        result = f"({result}) {join} {t.read(instruction.operands[3], DTYPES['pred'])}"
    t.write(instruction.operands[0], result, DTYPES["pred"])


def _comparison(t: Translator, name: str, a: str, b: str, dtype: np.dtype[Any]) -> str:
    """One comparison; the names that end in ``u`` also hold when an operand is NaN."""
    if dtype.kind == "f" and name in ("num", "nan"):
        return f"{'~' if name == 'num' else ''}(isnan({a}) | isnan({b}))"
    unordered = dtype.kind == "f" and name.endswith("u")
    name = UNSIGNED.get(name, name[:-1] if unordered else name)
    if name not in COMPARISONS:
        raise t.unsupported()
    plain = f"({a} {COMPARISONS[name]} {b})"
    if unordered:
        return f"{plain} | isnan({a}) | isnan({b})"
    # PTX's `ne` is ordered: false when an operand is NaN, unlike Python's `!=`.
    return f"{plain} & ~(isnan({a}) | isnan({b}))" if name == "ne" and dtype.kind == "f" else plain


@handles("selp")
def selection(t: Translator, instruction: Instruction) -> None:
    """``selp d, a, b, p``."""
    dtype = type_of(t, instruction)
    target, a, b, chosen = instruction.operands
    condition = t.read(chosen, DTYPES["pred"])
    t.write(target, f"select({condition}, {t.read(a, dtype)}, {t.read(b, dtype)})", dtype)


@handles("mov")
def move(t: Translator, instruction: Instruction) -> None:
    """Copies, also of two halves into a whole, ``mov.b64 d, {a, b}``, and back.

    Arrays are never changed in place, so a second name for the same array is a copy.
    """
    dtype = type_of(t, instruction)
    target, value = instruction.operands
    if isinstance(value, Vector):
        t.write(target, _packed(t, value, dtype), dtype)
    elif isinstance(target, Vector):
        _unpack(t, target, t.read(value, np.dtype(f"u{dtype.itemsize}")), dtype)
    else:
        t.write(target, t.read(value, dtype), dtype)


def _packed(t: Translator, parts: Vector, dtype: np.dtype[Any]) -> str:
    """The bits of several registers side by side, the first one lowest."""
    size = dtype.itemsize // len(parts.items)
    whole, part = np.dtype(f"u{dtype.itemsize}"), np.dtype(f"u{size}")
    pieces = [
        f"({t.read(item, part)}.astype({t.name_type(whole)}) << {t.constant(8 * size * n, whole)})"
        for n, item in enumerate(parts.items)
    ]
    return f"bits({' | '.join(pieces)}, {t.name_type(dtype)})"


def _unpack(t: Translator, targets: Vector, value: str, dtype: np.dtype[Any]) -> None:
    """The bits of one register cut into several, the lowest first."""
    size = dtype.itemsize // len(targets.items)
    whole, part = np.dtype(f"u{dtype.itemsize}"), np.dtype(f"u{size}")
    for n, target in enumerate(targets.items):
        shifted = f"({value} >> {t.constant(8 * size * n, whole)})"
        t.write(target, f"{shifted}.astype({t.name_type(part)})", part)


@handles("clz", "popc")
def count_bits(t: Translator, instruction: Instruction) -> None:
    """Counts of bits are 32-bit numbers, whatever they count in."""
    dtype = np.dtype(f"u{type_of(t, instruction).itemsize}")
    function = {"clz": "leading_zeros", "popc": "bit_count"}[instruction.parts[0]]
    value = t.read(instruction.operands[1], dtype)
    t.write(instruction.operands[0], f"{function}({value}).astype({t.name_type(DTYPES['s32'])})", DTYPES["s32"])


@handles("bfi", "bfe")
def bit_field(t: Translator, instruction: Instruction) -> None:
    """``bfi d, a, b, position, length`` and ``bfe d, a, position, length``."""
    dtype = type_of(t, instruction)
    target, *values, position, length = instruction.operands
    function = {"bfi": "insert_field", "bfe": "extract_field"}[instruction.parts[0]]
    texts = [t.read(value, dtype) for value in values] + [t.read(n, DTYPES["u32"]) for n in (position, length)]
    t.write(target, f"{function}({', '.join(texts)})", dtype)
