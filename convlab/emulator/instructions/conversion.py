"""Conversions between types (``cvt``)."""

from __future__ import annotations

from convlab.emulator.instructions.arithmetic import CLAMPS, clamped, flushed
from convlab.emulator.instructions.table import handles
from convlab.emulator.program import Instruction
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES

# from, to, modes: where NumPy's own conversion is the one that PTX asks for
PLAIN_CONVERSIONS = {("i", "i"), ("i", "f", "rn"), ("f", "f"), ("f", "f", "rn")}
ROUNDINGS = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


@handles("cvt")
def convert(t: Translator, instruction: Instruction) -> None:
    """Between integers, between floats, and from one to the other."""
    target, source = (DTYPES.get(kind) for kind in instruction.parts[-2:])
    if target is None or source is None:
        raise t.unsupported()
    value = flushed(instruction, t.read(instruction.operands[1], source))
    modes = tuple(part for part in instruction.parts[1:-2] if part not in CLAMPS)
    kinds = ("fi"[source.kind in "iu"], "fi"[target.kind in "iu"])
    if (*kinds, *modes) in PLAIN_CONVERSIONS:
        expression = f"{value}.astype({t.name_type(target)})"
    elif kinds == ("f", "f") and len(modes) == 1 and modes[0] in ROUNDINGS:
        expression = f"{ROUNDINGS[modes[0]]}({value}).astype({t.name_type(target)})"
    elif kinds == ("f", "i") and len(modes) == 1 and modes[0] in ROUNDINGS:
        expression = f"to_integer({value}, {t.name_type(target)}, {ROUNDINGS[modes[0]]})"
    else:
        raise t.unsupported()
    t.write(instruction.operands[0], clamped(t, instruction, expression, target), target)
