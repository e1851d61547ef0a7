"""Arithmetic on floats of every size, alone and in pairs: one row a form."""

from __future__ import annotations

from convlab.emulator.instructions.rows import KINDS, Kind, filled, kind_of
from convlab.emulator.instructions.table import handles
from convlab.emulator.program import Instruction
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES

__all__ = ["CLAMPS", "DIRECTIONS", "FLOATS", "clamped", "floating", "flushed", "property_of"]

# rounding → where it leads: zero, down or up
DIRECTIONS = {"rz": "zero", "rm": "down", "rp": "up"}
DIRECTED = {
    "add": "add_directed({0}, {1}, towards)",
    "sub": "add_directed({0}, -{1}, towards)",
    "mul": "multiply_directed({0}, {1}, towards)",
    "fma": "fma_directed({0}, {1}, {2}, towards)",
    "div": "divide_directed({0}, {1}, towards)",
    "rcp": "divide_directed({one}, {0}, towards)",
    "sqrt": "sqrt_directed({0}, towards)",
}
EXTREMES = {"min": "minimum_number", "max": "maximum_number", "min.NaN": "minimum_nan", "max.NaN": "maximum_nan"}
SHORT = {
    "add": "{0} + {1}",
    "add.rn": "{0} + {1}",
    "sub": "{0} - {1}",
    "sub.rn": "{0} - {1}",
    "neg": "-{0}",
    "abs": "absolute({0})",
}
for name, extreme in EXTREMES.items():
    magnitudes = f"{extreme}(absolute({{0}}), absolute({{1}}))"
    SHORT |= {
        name: f"{extreme}({{0}}, {{1}})",
        f"{name}.xorsign.abs": f"signed_by_both({magnitudes}, {{0}}, {{1}})",
        f"{name}/3": f"{extreme}({extreme}({{0}}, {{1}}), {{2}})",
        f"{name}.abs/3": f"{extreme}({magnitudes}, absolute({{2}}))",
    }
PRECISE = SHORT | {
    "mul": "{0} * {1}",
    "mul.rn": "{0} * {1}",
    "fma.rn": "fma({0}, {1}, {2})",
    "mad.rn": "fma({0}, {1}, {2})",
    "div.rn": "{0} / {1}",
    "rcp.rn": "{one} / {0}",
    "sqrt.rn": "sqrt({0})",
    "rsqrt.approx": "{one} / sqrt({0})",
    "copysign": "copysign({1}, {0})",
    **{
        f"{name}.{mode}": text.replace("towards", f"{{{goal}}}")
        for mode, goal in DIRECTIONS.items()
        for name, text in (DIRECTED | {"mad": DIRECTED["fma"]}).items()
    },
}
SINGLE = PRECISE | {
    "mad": "fma({0}, {1}, {2})",
    "div.full": "{0} / {1}",
    "div.approx": "{0} / {1}",
    "rcp.approx": "{one} / {0}",
    "sqrt.approx": "sqrt({0})",
    "ex2.approx": "exp2({0})",
    "lg2.approx": "log2({0})",
    "sin.approx": "sin({0})",
    "cos.approx": "cos({0})",
    "tanh.approx": "tanh({0})",
}
DOUBLE = PRECISE | {
    "rcp.approx.ftz": "coarse({one} / coarse({0}))",
    "rsqrt.approx.ftz": "coarse({one} / sqrt(coarse({0})))",
}
# Halves are computed as singles: their products are exact, and sums have digits enough to be rounded a second time.
HALF = SHORT | {
    "mul": "{0} * {1}",
    "mul.rn": "{0} * {1}",
    "fma.rn": "fma_odd({0}, {1}, {2})",
    "ex2.approx": "exp2({0})",
    "tanh.approx": "tanh({0})",
}
FAMILIES = {"f32": SINGLE, "f64": DOUBLE} | dict.fromkeys(("f16", "bf16", "f16x2", "bf16x2"), HALF)
FLOATS = SINGLE | DOUBLE | HALF

CLAMPS = ("ftz", "sat", "relu")  # flush denormals to zero, saturate to 0 … 1, no negative numbers


def floating(t: Translator, instruction: Instruction) -> None:
    """A form's row, between what ``.ftz`` does to the operands and what the clamps do to the result."""
    kind, narrow = _kinds(t, instruction)
    modes = [part for part in instruction.parts if part not in KINDS]
    name = ".".join(mode for mode in modes if mode not in CLAMPS)
    family = FAMILIES.get(instruction.parts[-1] if narrow is kind else "f32", {})
    if instruction.parts[0] in ("min", "max") and len(instruction.operands) == 4:
        name += "/3"
    template = family.get(f"{name}.ftz" if "ftz" in modes else name, family.get(name))
    if template is None or ("sat" in modes and "relu" in modes):
        raise t.unsupported()
    target, *operands = instruction.operands
    last = len(operands) - 1
    texts = [(kind if at == last else narrow).read(t, operand) for at, operand in enumerate(operands)]
    texts = [flushed(t, instruction, text, kind) for text in texts]
    if len(texts) != 1 + max(n for n in range(3) if f"{{{n}}}" in template):
        raise ValueError("the number of operands")
    result = clamped(instruction, filled(t, template, texts, kind))
    if "ftz" in modes:
        result = flushed(t, instruction, kind.load.format(kind.store.format(result)), kind)
    kind.write(t, target, result)


def _kinds(t: Translator, instruction: Instruction) -> tuple[Kind, Kind]:
    """The type of the result, and that of all operands but the last: ``fma.rn.f32.f16`` mixes them."""
    narrow = kind_of(t, instruction.parts[-1])
    if instruction.parts[-2] not in KINDS:
        return narrow, narrow
    if instruction.parts[0] not in ("add", "sub", "fma") or instruction.parts[-2] != "f32":
        raise t.unsupported()
    return KINDS["f32"], narrow


def flushed(t: Translator, instruction: Instruction, text: str, kind: Kind) -> str:
    """A float as an instruction with ``.ftz`` sees it."""
    return f"flush({text}, {t.constant(kind.tiny, kind.computed)})" if "ftz" in instruction.parts else text


def clamped(instruction: Instruction, text: str) -> str:
    """A result after ``.relu`` and ``.sat``."""
    for name, function in {"relu": "relu", "sat": "saturate"}.items():
        text = f"{function}({text})" if name in instruction.parts else text
    return text


TESTS = {
    "finite": "isfinite({})",
    "infinite": "isinf({})",
    "number": "~isnan({})",
    "notanumber": "isnan({})",
    "normal": "is_normal({})",
    "subnormal": "is_subnormal({})",
}


@handles("testp")
def property_of(t: Translator, instruction: Instruction) -> None:
    """``testp.finite.f32 p, a`` and its like."""
    _, name, kind = instruction.parts
    if name not in TESTS or kind not in ("f32", "f64"):
        raise t.unsupported()
    target, value = instruction.operands
    t.write(target, TESTS[name].format(KINDS[kind].read(t, value)), DTYPES["pred"])
