"""Video instructions: arithmetic on bytes and halves of registers, one at a time (`vadd`) or side by side (`vadd4`).

Source: PTX ISA, "Scalar Video Instructions" and "SIMD Video Instructions".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.emulator.instructions.table import handles
from convlab.emulator.program import Instruction, Operand, Register, Symbol
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES

__all__ = ["multiply_add", "scalar", "side_by_side"]

WORD = DTYPES["u32"]
OPERATIONS = {
    "vadd": "v0 + v1",
    "vsub": "v0 - v1",
    "vabsdiff": "absolute(v0 - v1)",
    "vmin": "minimum(v0, v1)",
    "vmax": "maximum(v0, v1)",
    "vavrg": "average(v0, v1)",
}
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
SHIFTS = {"vshl": "<<", "vshr": ">>"}
COUNTS = {"clamp": "minimum(v1, 32)", "wrap": "(v1 & 31)"}
SECOND = {"add": "{0} + {1}", "min": "minimum({0}, {1})", "max": "maximum({0}, {1})"}
DEFAULTS = {2: ((0, 1), (2, 3)), 4: ((0, 1, 2, 3), (4, 5, 6, 7))}  # pieces of a and of b, of both together
SIDE_BY_SIDE = tuple(f"{name}{n}" for name in (*OPERATIONS, "vset") for n in (2, 4))


def _part(t: Translator, operand: Operand) -> tuple[Operand, str]:
    """The register and the selector of ``%r1.b0``."""
    if isinstance(operand, Symbol) and operand.name not in t.numbers:
        name, _, selector = operand.name.rpartition(".")
        return Register(name) if name in t.numbers else operand, selector
    return operand, ""


def _types(t: Translator, instruction: Instruction) -> tuple[list[str], list[str]]:
    """The types of result, a and b, and what else the opcode says; a comparison's result is unsigned."""
    types = [part for part in instruction.parts[1:] if part in ("u32", "s32")]
    if instruction.parts[0].startswith("vset"):
        types.insert(0, "u32")
    if len(types) != 3:
        raise t.unsupported()
    return types, [part for part in instruction.parts[1:] if part not in ("u32", "s32")]


def _operation(t: Translator, name: str, modes: list[str]) -> str:
    """What is computed from v0 and v1; takes its own mode out of the list."""
    if name in OPERATIONS:
        return OPERATIONS[name]
    table: dict[str, str] = COUNTS if name in SHIFTS else COMPARISONS
    mode = next((mode for mode in modes if mode in table), None)
    if mode is None:
        raise t.unsupported()
    modes.remove(mode)
    return f"(v0 {SHIFTS[name]} {COUNTS[mode]})" if name in SHIFTS else f"(v0 {COMPARISONS[mode]} v1).astype(v0.dtype)"


def _dtype(kind: str, size: int) -> np.dtype[Any]:
    return np.dtype(f"{'i' if kind == 's32' else 'u'}{size}")


@handles(*SIDE_BY_SIDE)
def side_by_side(t: Translator, instruction: Instruction) -> None:
    """``vadd4.u32.s32.s32.sat d.b10, a, b.b7654, c``: piece by piece; the others come from c, or are added to it."""
    count = int(instruction.parts[0][-1])
    (result, *sources), modes = _types(t, instruction)
    operation = _operation(t, instruction.parts[0][:-1], modes)
    if modes not in ([], ["sat"], ["add"]):
        raise t.unsupported()
    (target, mask), *inputs = (_part(t, operand) for operand in instruction.operands[:3])
    c = t.read(instruction.operands[3], WORD)
    texts = [t.read(operand, WORD) for operand, _ in inputs]
    for number, (kind, (_, selector)) in enumerate(zip(sources, inputs, strict=True)):
        places = _places(t, selector, count) or DEFAULTS[count][number]
        dtype = t.name_type(_dtype(kind, 4 // count))
        t.emit(f"v{number} = chosen({texts[0]}, {texts[1]}, {places}, {dtype})")
    size = t.name_type(_dtype(result, 4 // count))
    value = f"clamped({operation}, {size})" if "sat" in modes else operation
    places = _places(t, mask, count) or DEFAULTS[count][0]
    ending = f"accumulated({value}, {places}, {c})" if "add" in modes else f"merged({value}, {places}, {c}, {size})"
    t.write(target, ending, WORD)


def _places(t: Translator, selector: str, count: int) -> tuple[int, ...]:
    """The pieces that a selector such as ``b3210`` or ``h10`` names, the lowest one first."""
    if not selector:
        return ()
    letter, digits = selector[0], selector[1:]
    if letter != {2: "h", 4: "b"}[count] or not set(digits) <= set("01234567"[: 2 * count]):
        raise t.unsupported(f"with such a selector of {count} pieces")
    return tuple(int(digit) for digit in reversed(digits))


@handles(*(name for name in (*OPERATIONS, "vset", *SHIFTS) if name != "vavrg"))
def scalar(t: Translator, instruction: Instruction) -> None:
    """``vadd.s32.u32.s32.sat.max d, a.b0, b.h1, c``, or with a result ``d.b2`` whose other bits are those of c."""
    (result, *sources), modes = _types(t, instruction)
    operation = _operation(t, instruction.parts[0], modes)
    second = [mode for mode in modes if mode != "sat"]
    target, selector = _part(t, instruction.operands[0])
    _read_parts(t, instruction, sources)
    size, place = _piece(t, selector)
    value = f"clamped({operation}, {t.name_type(_dtype(result, size))})" if "sat" in modes else operation
    if len(second) > 1 or not {*second} <= SECOND.keys() or (second and selector):
        raise t.unsupported()
    if second:
        c = t.read(instruction.operands[3], DTYPES[result])
        value = SECOND[second[0]].format(value, f"{c}.astype({t.name_type(np.dtype('i8'))})")
    if not selector:
        t.write(target, f"({value}).astype({t.name_type(WORD)})", WORD)
        return
    c = t.read(instruction.operands[3], WORD)
    t.emit(f"v2 = ({value})[..., None]")
    t.write(target, f"merged(v2, ({place},), {c}, {t.name_type(_dtype('u32', size))})", WORD)


def _read_parts(t: Translator, instruction: Instruction, sources: list[str]) -> None:
    """a and b, or the pieces of them that are selected, as 64-bit numbers v0 and v1."""
    for number, (kind, operand) in enumerate(zip(sources, instruction.operands[1:3], strict=True)):
        register, selector = _part(t, operand)
        size, place = _piece(t, selector)
        pieces = f"pieces({t.read(register, WORD)}, {t.name_type(_dtype(kind, size))})"
        t.emit(f"v{number} = part({pieces}, {place}).astype({t.name_type(np.dtype('i8'))})")


def _piece(t: Translator, selector: str) -> tuple[int, int]:
    """The size in bytes and the number of a piece: ``b3`` or ``h1``; no selector is the whole register."""
    pieces = {"": (4, 0)} | {f"b{n}": (1, n) for n in range(4)} | {f"h{n}": (2, n) for n in range(2)}
    if selector not in pieces:
        raise t.unsupported("with such a selector")
    return pieces[selector]


@handles("vmad")
def multiply_add(t: Translator, instruction: Instruction) -> None:
    """``vmad.s32.s32.u32.sat.shr7 d, a.h0, b.b1, c``; ``.po`` adds one more."""
    (_, *sources), modes = _types(t, instruction)
    if not {*modes} <= {"po", "sat", "shr7", "shr15"}:
        raise t.unsupported()
    _read_parts(t, instruction, sources)
    signed = "s32" if "s32" in sources else "u32"
    c = t.read(instruction.operands[3], DTYPES[signed])
    wide = t.name_type(_dtype(signed, 8))
    value = f"v0.astype({wide}) * v1.astype({wide}) + {c}.astype({wide})"
    value = f"({value} + {t.constant(int('po' in modes), _dtype(signed, 8))})"
    for mode, places in (("shr7", 7), ("shr15", 15)):
        value = f"({value} >> {places})" if mode in modes else value
    if "sat" in modes:
        value = f"clipped({value}, {t.name_type(DTYPES[signed])})"
    t.write(instruction.operands[0], f"{value}.astype({t.name_type(WORD)})", WORD)
