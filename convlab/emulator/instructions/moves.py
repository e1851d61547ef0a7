"""Copies between registers (``mov``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.emulator.instructions.table import handles, type_of
from convlab.emulator.program import Instruction, Vector
from convlab.emulator.translator import Translator

__all__ = ["move"]


@handles("mov")
def move(t: Translator, instruction: Instruction) -> None:
    """Copies, also of two or four pieces into a whole, ``mov.b64 d, {a, b}``, and back.

    Arrays are never changed in place, so a second name for the same array is a copy.
    """
    dtype = type_of(t, instruction)
    target, value = instruction.operands
    if isinstance(value, Vector) and isinstance(target, Vector):
        _move_each(t, target, value, dtype)
    elif isinstance(value, Vector):
        names = ", ".join(t.read(item, _piece(dtype, value)) for item in value.items)
        t.write(target, f"joined({names})", np.dtype(f"u{dtype.itemsize}"))
    elif isinstance(target, Vector):
        piece = _piece(dtype, target)
        t.emit(f"v0 = pieces({t.read(value, dtype)}, {t.name_type(piece)})")
        for index, item in enumerate(target.items):
            t.write(item, f"part(v0, {index})", piece)
    else:
        t.write(target, t.read(value, dtype), dtype)


def _move_each(t: Translator, target: Vector, value: Vector, dtype: np.dtype[Any]) -> None:
    """``mov.v4.f32 {%f1, %f2, %f3, %f4}, v``: all are read before the first is written."""
    for index, item in enumerate(value.items):
        t.emit(f"p{index} = {t.read(item, dtype)}")
    for index, item in enumerate(target.items):
        t.write(item, f"p{index}", dtype)


def _piece(dtype: np.dtype[Any], vector: Vector) -> np.dtype[Any]:
    """The type of a vector's items, which fill a register together."""
    if len(vector.items) not in (2, 4):
        raise ValueError(f"{len(vector.items)} pieces")
    return np.dtype(f"u{dtype.itemsize // len(vector.items)}")
