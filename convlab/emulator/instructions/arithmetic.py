"""Arithmetic on integers, and on the bits of them: one row a form."""

from __future__ import annotations

from convlab.emulator.instructions.carries import with_carry
from convlab.emulator.instructions.floating import FLOATS, floating
from convlab.emulator.instructions.rows import Row, apply, kind_of, rows
from convlab.emulator.instructions.table import handles
from convlab.emulator.program import Instruction
from convlab.emulator.translator import Translator

__all__ = ["arithmetic"]

# opcode without its type → what it computes
INTEGER = rows(
    {
        "add": "{0} + {1}",
        "sub": "{0} - {1}",
        "mul.lo": "{0} * {1}",
        "mul.hi": "multiply_high({0}, {1})",
        "mul.wide": Row("{0} * {1}", "wide", ("widened", "widened")),
        "mad.lo": "{0} * {1} + {2}",
        "mad.hi": "multiply_high({0}, {1}) + {2}",
        "mad.wide": Row("{0} * {1} + {2}", "wide", ("widened", "widened", "wide")),
        "sad": "absolute_difference({0}, {1}) + {2}",
        "div": "divide({0}, {1})",
        "rem": "remainder({0}, {1})",
        "min": "minimum({0}, {1})",
        "max": "maximum({0}, {1})",
        "neg": "-{0}",
        "abs": "absolute({0})",
    }
)
LOGIC = rows({"and": "{0} & {1}", "or": "{0} | {1}", "xor": "{0} ^ {1}", "not": "~{0}"})
PRODUCT_OF_24_BITS = "(low_24_bits({0}) * low_24_bits({1}))"
WORD = INTEGER | rows(
    {
        "mul24.lo": f"{PRODUCT_OF_24_BITS}.astype({{0}}.dtype)",
        "mul24.hi": f"({PRODUCT_OF_24_BITS} >> 16).astype({{0}}.dtype)",
        "mad24.lo": f"{PRODUCT_OF_24_BITS}.astype({{0}}.dtype) + {{2}}",
        "mad24.hi": f"({PRODUCT_OF_24_BITS} >> 16).astype({{0}}.dtype) + {{2}}",
    }
)
SIGNED_WORD = WORD | rows(
    {
        "add.sat": "add_saturated({0}, {1})",
        "sub.sat": "subtract_saturated({0}, {1})",
        "mad.hi.sat": "add_saturated(multiply_high({0}, {1}), {2})",
        "mad24.hi.sat": f"add_saturated(({PRODUCT_OF_24_BITS} >> 16).astype({{0}}.dtype), {{2}})",
        "min.relu": "maximum(minimum({0}, {1}), {zero})",
        "max.relu": "maximum(maximum({0}, {1}), {zero})",
    }
)
PAIR = {name: INTEGER[name] for name in ("add", "sub", "min", "max", "neg")}
SIGNED_PAIR = PAIR | {name: SIGNED_WORD[name] for name in ("min.relu", "max.relu")}
FAMILIES = (
    dict.fromkeys(("s16", "u16", "s64", "u64"), INTEGER)
    | dict.fromkeys(("b16", "b32", "b64", "pred"), LOGIC)
    | {"s32": SIGNED_WORD, "u32": WORD, "s16x2": SIGNED_PAIR, "u16x2": PAIR}
)


@handles(*{name.split(".")[0] for family in (SIGNED_WORD, LOGIC, FLOATS) for name in family})
def arithmetic(t: Translator, instruction: Instruction) -> None:
    """Everything whose form and type have a row: look it up, fill the operands in."""
    if "cc" in instruction.parts:
        with_carry(t, instruction)
        return
    *modes, name = instruction.parts
    if name == "relu":  # NVRTC writes max.s32.relu, the PTX ISA has max.relu.s32
        *modes, name = (*modes[:-1], name, modes[-1])
    if name not in FAMILIES:
        floating(t, instruction)
        return
    row = FAMILIES[name].get(".".join(modes))
    if row is None:
        raise t.unsupported()
    apply(t, instruction, row, kind_of(t, name))
