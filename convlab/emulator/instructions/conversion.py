"""Conversions between types (``cvt``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.emulator.instructions.floating import CLAMPS, DIRECTIONS, clamped, flushed
from convlab.emulator.instructions.rows import CONSTANTS, KINDS, kind_of
from convlab.emulator.instructions.table import handles
from convlab.emulator.program import Instruction
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES

__all__ = ["convert"]

# rounding → function, which rounds the last digit that the result has, or to whole numbers
ROUNDINGS = {"rn": "rint", "rz": "trunc", "rm": "floor", "rp": "ceil", "rna": "round_away"}
WHOLE = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
FLAGS = (*CLAMPS, "satfinite")
SHORT_CUTS = {("f16", "rn"): "to_f16", ("bf16", "rn"): "to_bf16", ("tf32", "rna"): "to_tf32"}  # from singles
FLOATS = ("f16", "bf16", "tf32", "f32", "f64")
PAIRS = {"f16x2": "f16", "bf16x2": "bf16", "e4m3x2": "e4m3", "e5m2x2": "e5m2"}  # packed type → its pieces
SINGLES = {name: KINDS[name].load for name in ("f16x2", "bf16x2")} | {
    f"{name}x2": f"from_{name}(parts({{}}))" for name in ("e4m3", "e5m2")
}


@handles("cvt")
def convert(t: Translator, instruction: Instruction) -> None:
    """Between integers, between floats, from one to the other, and to packed pairs."""
    if "pack" in instruction.parts:
        _pack_integers(t, instruction)
        return
    *modes, to, of = instruction.parts[1:]
    mode = ".".join(mode for mode in modes if mode not in FLAGS)
    if to in PAIRS:
        _convert_pair(t, instruction, mode or "rn")
        return
    source = kind_of(t, of)
    if of.endswith("x2"):
        raise t.unsupported()
    target, operand = instruction.operands
    value = source.read(t, operand)
    if to in FLOATS:
        dtype = np.dtype("u2") if to.endswith("f16") else DTYPES[to]
        t.write(target, _to_float(t, instruction, value, mode), dtype)
    elif to in KINDS and KINDS[to].stored == KINDS[to].computed and to != "pred":
        t.write(target, _to_integer(t, instruction, value, mode), DTYPES[to])
    else:
        raise t.unsupported()


def _to_integer(t: Translator, instruction: Instruction, value: str, mode: str) -> str:
    """From an integer, cut or saturated; from a float, which rounds and always saturates."""
    to, of = instruction.parts[-2:]
    name = t.name_type(DTYPES[to])
    if KINDS[of].computed.kind == "f" and mode in WHOLE:
        return f"to_integer({flushed(t, instruction, value, KINDS[of])}, {name}, {WHOLE[mode]})"
    if mode or KINDS[of].computed.kind == "f":
        raise t.unsupported()
    return f"clipped({value}, {name})" if "sat" in instruction.parts else f"{value}.astype({name})"


def _to_float(t: Translator, instruction: Instruction, value: str, mode: str) -> str:
    """From an integer or a float: rounded to a whole number, clamped, flushed, and rounded to the type's digits."""
    to, of = instruction.parts[-2:]
    source = KINDS[of]
    if source.computed.kind == "f":
        value = flushed(t, instruction, value, source) if of in ("f32", "f64") else value
        if mode in WHOLE:
            value, mode = f"{WHOLE[mode]}({value})", ""
    if mode not in ("", *ROUNDINGS):
        raise t.unsupported()
    result = _narrowed(t, instruction, clamped(instruction, value), to, mode)
    return flushed(t, instruction, result, KINDS[to]) if to in ("f32", "f64") else result


def _narrowed(t: Translator, instruction: Instruction, value: str, to: str, mode: str) -> str:
    """A number in a floating-point format, rounded once, as its bits where NumPy lacks the format."""
    source = KINDS[instruction.parts[-1]].computed if instruction.parts[-1] in KINDS else np.dtype("f4")
    finite = "satfinite" in instruction.parts
    long = source.kind in "iu" and source.itemsize == 8
    if to == "f64" and long and mode in DIRECTIONS:
        return f"double_directed({value}, {t.constant(CONSTANTS[DIRECTIONS[mode]], DTYPES['f64'])})"
    if to == "f64" or (to == "f32" and (mode in ("", "rn") or source == np.dtype("f4"))):
        return f"({value}).astype({t.name_type(DTYPES[to])})"
    short_cut = SHORT_CUTS.get((to, mode or "rn"))
    if short_cut and source == np.dtype("f4") and not finite:
        return f"{short_cut}({value})"
    return f"narrow_{to}({f'sticky({value})' if long else value}, {ROUNDINGS[mode or 'rn']}, {finite})"


def _convert_pair(t: Translator, instruction: Instruction, mode: str) -> None:
    """Two singles into one register, the first one high; or a packed pair into another one."""
    to, of = instruction.parts[-2:]
    if mode not in ROUNDINGS:
        raise t.unsupported()
    if of == "f32":
        target, high, low = instruction.operands
        values = [KINDS["f32"].read(t, operand) for operand in (low, high)]
        template = "joined({}, {})"
    elif of in SINGLES:
        target, pair = instruction.operands
        values = [SINGLES[of].format(t.read(pair, DTYPES[of]))]
        template = "whole({})"
    else:
        raise t.unsupported()
    clamps = (clamped(instruction, flushed(t, instruction, value, KINDS["f32"])) for value in values)
    pieces = [_narrowed(t, instruction, value, PAIRS[to], mode) for value in clamps]
    t.write(target, template.format(*pieces), DTYPES[to])


PACKED: dict[str, np.dtype[Any]] = {name: DTYPES[name] for name in ("u16", "s16", "u8", "s8")}


def _pack_integers(t: Translator, instruction: Instruction) -> None:
    """``cvt.pack.sat.u8.s32.b32 d, a, b, c``: a above b, both saturated, in the lower bits; the rest from c."""
    _, *modes = instruction.parts
    to = modes[2] if modes[:2] == ["pack", "sat"] else ""
    if to not in PACKED or modes[3:] != (["s32"] if PACKED[to].itemsize == 2 else ["s32", "b32"]):
        raise t.unsupported()
    target, high, low, *rest = instruction.operands
    name, size = t.name_type(PACKED[to]), PACKED[to].itemsize
    bits = t.name_type(np.dtype(f"u{size}"))
    a, b = (f"bits(clipped({t.read(operand, DTYPES['s32'])}, {name}), {bits})" for operand in (high, low))
    both = f"joined({b}, {a})"
    if size == 2:
        t.write(target, both, DTYPES["u32"])
        return
    shifted = f"{t.read(rest[0], DTYPES['u32'])} << {t.constant(16, DTYPES['u32'])}"
    t.write(target, f"({shifted}) | {both}", DTYPES["u32"])
