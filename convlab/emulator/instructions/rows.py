"""Rows of the tables of arithmetic: what an instruction computes, on which types, as one expression of NumPy code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from convlab.emulator.program import Instruction, Operand
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES

__all__ = ["CONSTANTS", "KINDS", "Kind", "Row", "apply", "filled", "kind_of", "rows"]


@dataclass(frozen=True, slots=True)
class Kind:
    """How a PTX type is stored in a register, and what expressions of tables compute with."""

    stored: np.dtype[Any]
    computed: np.dtype[Any]
    load: str = "{}"
    store: str = "{}"
    tiny: float = 0.0  # of floats: the smallest normal number

    def read(self, t: Translator, operand: Operand) -> str:
        """An operand as the table's expressions see it."""
        return self.load.format(t.read(operand, self.stored))

    def write(self, t: Translator, target: Operand, expression: str) -> None:
        """A result of a table's expression into a register."""
        t.write(target, self.store.format(expression), self.stored)


SINGLE, F16_TINY, F32_TINY = np.dtype("f4"), 2.0**-14, 2.0**-126
KINDS = {name: Kind(dtype, dtype) for name, dtype in DTYPES.items() if dtype.kind in "biu" and name[0] in "bpsu"} | {
    "f32": Kind(SINGLE, SINGLE, tiny=F32_TINY),
    "f64": Kind(np.dtype("f8"), np.dtype("f8"), tiny=2.0**-1022),
    "f16": Kind(np.dtype("u2"), SINGLE, "from_f16({})", "to_f16({})", F16_TINY),
    "bf16": Kind(np.dtype("u2"), SINGLE, "from_bf16({})", "to_bf16({})", F32_TINY),
    "f16x2": Kind(np.dtype("u4"), SINGLE, "from_f16(parts({}))", "whole(to_f16({}))", F16_TINY),
    "bf16x2": Kind(np.dtype("u4"), SINGLE, "from_bf16(parts({}))", "whole(to_bf16({}))", F32_TINY),
    "s16x2": Kind(np.dtype("u4"), np.dtype("i2"), "signed_parts({})", "whole({})"),
    "u16x2": Kind(np.dtype("u4"), np.dtype("u2"), "parts({})", "whole({})"),
}


def kind_of(t: Translator, name: str) -> Kind:
    """The kind of a type by its PTX name."""
    if name not in KINDS:
        raise t.unsupported()
    return KINDS[name]


@dataclass(frozen=True, slots=True)
class Row:
    """One form of an instruction: an expression, the type of its result, the types of its operands.

    A type is one of PTX (``"u32"``), or ``"same"``: the one that the opcode ends with; ``"bits"``: without its sign;
    ``"wide"``: twice as wide; ``"widened"``: the same, then extended to that.
    """

    expression: str
    result: str = "same"
    operands: tuple[str, ...] = ()  # none: as many of the same type as the expression has places

    def types(self) -> tuple[str, ...]:
        """The type of each operand."""
        places = re.findall(r"\{(\d)\}", self.expression)
        return self.operands or ("same",) * (1 + max(map(int, places)))


def rows(table: dict[str, str | Row]) -> dict[str, Row]:
    """A table whose short entries are expressions only."""
    return {name: row if isinstance(row, Row) else Row(row) for name, row in table.items()}


CONSTANTS = {"one": 1.0, "zero": 0.0, "down": -np.inf, "up": np.inf}


def apply(t: Translator, instruction: Instruction, row: Row, kind: Kind) -> None:
    """Fill an instruction's operands into its row's expression, and write the result."""
    target, *operands = instruction.operands
    types = row.types()
    if len(operands) != len(types):
        raise ValueError(f"{len(operands)} operands for {len(types)}")
    texts = [_read(t, operand, name, kind) for operand, name in zip(operands, types, strict=True)]
    _relative(t, row.result, kind).write(t, target, filled(t, row.expression, texts, kind))


def filled(t: Translator, expression: str, texts: list[str], kind: Kind) -> str:
    """An expression with operands and constants in their places."""
    named = {name: t.constant(value, kind.computed) for name, value in CONSTANTS.items() if f"{{{name}}}" in expression}
    return expression.format(*texts, **named)


def _read(t: Translator, operand: Operand, name: str, kind: Kind) -> str:
    """An operand, as the row says."""
    if name == "widened":
        return f"{kind.read(t, operand)}.astype({t.name_type(_relative(t, 'wide', kind).stored)})"
    return _relative(t, name, kind).read(t, operand)


def _relative(t: Translator, name: str, kind: Kind) -> Kind:
    """The kind of a type that may be given relative to the instruction's own."""
    if name == "same":
        return kind
    size = kind.stored.itemsize
    if name in ("bits", "wide"):
        dtype = np.dtype(f"u{size}" if name == "bits" else f"{kind.stored.kind}{2 * size}")
        return Kind(dtype, dtype)
    return kind_of(t, name)
