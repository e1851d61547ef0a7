"""Exercise 10, question 3: which sums may stay in FP16, by hand."""

from __future__ import annotations

from convlab.checker.exercises.misconceptions import mutant
from convlab.checker.exercises.values import values_exercise
from convlab.spec import ConvSpec
from convlab.views.formats import FORMATS

__all__ = ["EXERCISE", "LAYERS"]

# As the task gives them: a layer, and what each of its products is.
LAYERS = {
    "a": (ConvSpec(n=1, c=2048, h=7, w=7, k=512, r=1, s=1), 1),
    "b": (ConvSpec(n=1, c=256, h=14, w=14, k=256, r=3, s=3), 1),
    "c": (ConvSpec(n=1, c=256, h=14, w=14, k=256, r=5, s=5, groups=256), 1),
    "d": (ConvSpec(n=1, c=128, h=28, w=28, k=128, r=3, s=3), 64),
}
_HALF, _BRAIN = FORMATS["float16"], FORMATS["bfloat16"]


def _stop(fraction: int) -> int:
    """Where a sum of ones stops growing, with so many bits behind the point: the numbers lie two apart from there."""
    return int(2 ** (fraction + 1))


def _chosen(name: str) -> str:
    """FP16 where all sums on the way are numbers of FP16."""
    spec, product = LAYERS[name]
    terms = spec.c // spec.groups * spec.r * spec.s
    return "FP16" if terms <= _stop(_HALF.fraction) and terms * product <= _HALF.largest else "FP32"


_WANTED = {
    "fp16_stops": _stop(_HALF.fraction),
    "bf16_stops": _stop(_BRAIN.fraction),
    "product_bits": 2 * (_HALF.fraction + 1),
    "fp16_most": int(_HALF.largest // 64),
    **{name: _chosen(name) for name in LAYERS},
}


_MUTANTS = (
    mutant(
        "leading bit forgotten",
        {"fp16_stops": _stop(_HALF.fraction - 1)},
        {"bf16_stops": _stop(_BRAIN.fraction - 1)},
        {"product_bits": 2 * _HALF.fraction},
    ),
    mutant(
        "a significant bit too many",
        {"fp16_stops": _stop(_HALF.fraction + 1)},
        {"bf16_stops": _stop(_BRAIN.fraction + 1)},
        {"product_bits": 2 * (_HALF.fraction + 2)},
    ),
    mutant(
        "stop one too early",
        {"fp16_stops": _stop(_HALF.fraction) - 1},
        {"bf16_stops": _stop(_BRAIN.fraction) - 1},
    ),
    mutant(
        "stop one too late",
        {"fp16_stops": _stop(_HALF.fraction) + 1},
        {"bf16_stops": _stop(_BRAIN.fraction) + 1},
    ),
    mutant("part of a product counted", {"fp16_most": _HALF.largest / 64}),
    mutant(
        "types under other names",
        *({name: word} for name in LAYERS for word in ("float16", "float32", "half", "single")),
    ),
    mutant("largest number taken for the stop", {"fp16_stops": int(_HALF.largest)}),
    mutant("BF16 as precise as FP16", {"bf16_stops": _stop(_HALF.fraction)}),
    mutant("BF16 as precise as FP32", {"bf16_stops": _stop(FORMATS["float32"].fraction)}),
    mutant(
        "product as narrow as its factors",
        {"product_bits": _HALF.fraction + 1},
        {"product_bits": 2 * (_HALF.fraction + 1) - 1},
    ),
    mutant("bits of the format taken for its digits", {"product_bits": 2 * _HALF.bits}),
    mutant("infinity counted as a sum", {"fp16_most": int(_HALF.largest // 64) + 1}),
    mutant("the stop taken for a size", {"fp16_most": _stop(_HALF.fraction) // 64}),
    mutant("overflow forgotten", {"d": "FP16"}, {"fp16_most": _stop(_HALF.fraction)}),
    mutant("taps left out of the sum", {"b": "FP16"}),
    mutant("depthwise sum as long as a dense one", {"c": "FP32"}),
    mutant("last exact sum refused", {"a": "FP32"}),
)

EXERCISE = values_exercise(
    _WANTED,
    id="10-accumulator",
    notebook="10_tensor_cores",
    title="Choose an accumulator",
    points=4,
    function="accumulator",
    mutants=_MUTANTS,
    hints=(
        "FP16 has 11 significant bits, BF16 has 8. From which number on are the whole numbers no longer all there?",
        "One output sums up (C/G)·R·S products. Two things can go wrong: the sum stops growing, or it passes 65504.",
    ),
)
