"""Arithmetic on numbers: everything whose operands and result have one type, and products of twice the width."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.emulator.instructions.table import handles, type_of
from convlab.emulator.program import Instruction
from convlab.emulator.translator import Translator

# family of type → opcode → expression; every operand and the result have the instruction's type
INTEGER = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul.lo": "{0} * {1}",
    "mul.hi": "multiply_high({0}, {1})",
    "mad.lo": "{0} * {1} + {2}",
    "div": "divide({0}, {1})",
    "rem": "remainder({0}, {1})",
    "min": "minimum({0}, {1})",
    "max": "maximum({0}, {1})",
    "neg": "-{0}",
    "abs": "absolute({0})",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "xor": "{0} ^ {1}",
    "not": "~{0}",
    "brev": "reverse_bits({0})",
}
FLOAT = {
    "add": "{0} + {1}",
    "add.rn": "{0} + {1}",
    "sub": "{0} - {1}",
    "sub.rn": "{0} - {1}",
    "mul": "{0} * {1}",
    "mul.rn": "{0} * {1}",
    "fma.rn": "fma({0}, {1}, {2})",
    "div.rn": "{0} / {1}",
    "div.full": "{0} / {1}",
    "div.approx": "{0} / {1}",
    "rcp.rn": "{one} / {0}",
    "rcp.approx": "{one} / {0}",
    "sqrt.rn": "sqrt({0})",
    "sqrt.approx": "sqrt({0})",
    "rsqrt.approx": "{one} / sqrt({0})",
    "ex2.approx": "exp2({0})",
    "lg2.approx": "log2({0})",
    "sin.approx": "sin({0})",
    "cos.approx": "cos({0})",
    "tanh.approx": "tanh({0})",
    "min": "fmin({0}, {1})",
    "max": "fmax({0}, {1})",
    "neg": "-{0}",
    "abs": "absolute({0})",
    "copysign": "copysign({1}, {0})",
}
# rounding towards zero, down and up, of single precision only
DIRECTIONS = {"rz": "zero", "rm": "down", "rp": "up"}
SINGLE = {
    f"{name}.{mode}": template.replace("towards", f"{{{towards}}}")
    for mode, towards in DIRECTIONS.items()
    for name, template in {
        "add": "fma_directed({0}, {one}, {1}, towards)",
        "sub": "fma_directed({0}, {one}, -{1}, towards)",
        "mul": "fma_directed({0}, {1}, -{zero}, towards)",
        "fma": "fma_directed({0}, {1}, {2}, towards)",
    }.items()
}
CONSTANTS = {"one": 1.0, "zero": 0.0, "down": -np.inf, "up": np.inf}
PREDICATE = {name: INTEGER[name] for name in ("and", "or", "xor", "not")}
FAMILIES = {"i": INTEGER, "u": INTEGER, "f": FLOAT, "b": PREDICATE}


@handles(*{name.split(".")[0] for family in FAMILIES.values() for name in family} - {"mul", "mad"})
def arithmetic(t: Translator, instruction: Instruction) -> None:
    """Everything whose operands and result have one type: look the expression up, fill the operands in."""
    dtype = type_of(t, instruction)
    family = FAMILIES[dtype.kind] | (SINGLE if dtype == np.float32 else {})
    if dtype == np.float16 and instruction.parts[0] == "fma":
        raise t.unsupported("of half precision")
    template = family.get(".".join(part for part in instruction.parts[:-1] if part not in CLAMPS))
    if template is None:
        raise t.unsupported()
    operands = [flushed(instruction, t.read(operand, dtype)) for operand in instruction.operands[1:]]
    named = {name: t.constant(value, dtype) for name, value in CONSTANTS.items() if f"{{{name}}}" in template}
    result = template.format(*operands, **named)
    t.write(instruction.operands[0], clamped(t, instruction, result, dtype), dtype)


CLAMPS = ("ftz", "sat")  # modifiers of float instructions: flush denormals to zero, saturate to 0 … 1


def flushed(instruction: Instruction, operand: str) -> str:
    """An operand as an instruction with ``.ftz`` sees it."""
    return f"flush({operand})" if "ftz" in instruction.parts else operand


def clamped(t: Translator, instruction: Instruction, result: str, dtype: np.dtype[Any]) -> str:
    """A result after ``.ftz`` and ``.sat``, which only floats have here."""
    if dtype.kind != "f" and "sat" in instruction.parts:
        raise t.unsupported()
    if dtype.kind != "f":
        return result
    result = flushed(instruction, f"({result})")
    return f"saturate({result})" if "sat" in instruction.parts else result


@handles("mul", "mad")
def multiply(t: Translator, instruction: Instruction) -> None:
    """``mul.wide`` and ``mad.wide`` double the type of the result; the other forms are plain arithmetic."""
    if instruction.parts[1] != "wide":
        arithmetic(t, instruction)
        return
    dtype = type_of(t, instruction)
    wide = np.dtype(f"{dtype.kind}{2 * dtype.itemsize}")
    name = t.name_type(wide)
    a, b = (f"{t.read(operand, dtype)}.astype({name})" for operand in instruction.operands[1:3])
    added = f" + {t.read(instruction.operands[3], wide)}" if instruction.parts[0] == "mad" else ""
    t.write(instruction.operands[0], f"{a} * {b}{added}", wide)
