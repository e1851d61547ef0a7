"""Exercise 04, question 1: who is bound by what, four layers by hand."""

from __future__ import annotations

from convlab.checker.exercises.misconceptions import mutant
from convlab.checker.exercises.values import values_exercise
from convlab.spec import ConvSpec

__all__ = ["EXERCISE", "LAYERS"]

# As the task gives them, for an A100: TFLOP/s, TB/s.
PEAK, BANDWIDTH = 19.5, 1.555
RIDGE = PEAK / BANDWIDTH

LAYERS = {
    "a": ConvSpec(n=16, c=128, h=28, w=28, k=128, r=3, s=3, padding=1),
    "b": ConvSpec(n=32, c=32, h=112, w=112, k=32, r=3, s=3, padding=1, groups=32),
    "c": ConvSpec(n=16, c=512, h=28, w=28, k=128, r=1, s=1),
    "d": ConvSpec(n=1, c=512, h=1, w=1, k=1000, r=1, s=1),
}
_A, _B, _D = LAYERS["a"], LAYERS["b"], LAYERS["d"]
_A_BYTES, _B_BYTES = _A.traffic("float32"), _B.traffic("float32")
_PADDED = 4 * _A.n * _A.c * (_A.h + 2) * (_A.w + 2)  # bytes of the input, if its padding were stored


def _about(value: float) -> tuple[float, float]:
    """A hundredth to both sides: nobody needs to keep more than three digits."""
    return 0.99 * value, 1.01 * value


def _intensity(spec: ConvSpec, bytes_: float, flop_per_mac: int = 2) -> float:
    return flop_per_mac * spec.macs / bytes_


def _batch(spec: ConvSpec, flop_per_mac: int = 2, size: int = 4) -> int:
    """The smallest batch of a layer of one pixel whose intensity reaches the ridge."""
    batch = 1
    while flop_per_mac * batch * spec.k * spec.c < RIDGE * size * (batch * (spec.c + spec.k) + spec.k * spec.c):
        batch += 1
    return batch


_WANTED = {
    "a_intensity": _about(_intensity(_A, _A_BYTES.total)),
    "a_bound": "arithmetic",
    "b_intensity": _about(_intensity(_B, _B_BYTES.total)),
    "b_bound": "memory",
    "b_milliseconds": _about(_B_BYTES.total / BANDWIDTH / 1e9),
    "c_bound": "memory",
    "d_batch": _batch(_D),
}


_MUTANTS = (
    mutant(
        "multiply-add counted as one FLOP",
        {"a_intensity": _intensity(_A, _A_BYTES.total, 1)},
        {"b_intensity": _intensity(_B, _B_BYTES.total, 1)},
        {"d_batch": _batch(_D, flop_per_mac=1)},
    ),
    mutant("weights not counted as bytes", {"a_intensity": _intensity(_A, _A_BYTES.input + _A_BYTES.output)}),
    mutant("output not counted as bytes", {"a_intensity": _intensity(_A, _A_BYTES.input + _A_BYTES.weights)}),
    mutant("padding counted as bytes", {"a_intensity": _intensity(_A, _A_BYTES.total - _A_BYTES.input + _PADDED)}),
    mutant(
        "numbers counted, not bytes",
        {"a_intensity": _intensity(_A, _A_BYTES.total / 4)},
        {"b_intensity": _intensity(_B, _B_BYTES.total / 4)},
        {"d_batch": _batch(_D, size=1)},
    ),
    mutant("wrong number of bytes for the type", {"a_intensity": _intensity(_A, _A_BYTES.total / 2)}),
    mutant(
        "every load counted as a byte of DRAM",
        {"a_intensity": _intensity(_A, 8 * _A.macs)},
        {"b_intensity": _intensity(_B, 8 * _B.macs)},
    ),
    mutant("depthwise counted as dense", {"b_intensity": _intensity(_B, _B_BYTES.total, 2 * _B.c)}),
    mutant("ridge taken the wrong way round", {"a_bound": "memory"}, {"b_bound": "arithmetic"}),
    mutant("ridge of another type", {"c_bound": "arithmetic"}),
    mutant("time taken from the wrong roof", {"b_milliseconds": _B.flops / PEAK / 1e9}),
    mutant("the two times added", {"b_milliseconds": (_B_BYTES.total / BANDWIDTH + _B.flops / PEAK) / 1e9}),
    mutant(
        "another unit than milliseconds",
        {"b_milliseconds": _B_BYTES.total / BANDWIDTH / 1e12},
        {"b_milliseconds": _B_BYTES.total / BANDWIDTH / 1e6},
        {"b_milliseconds": _B_BYTES.total / BANDWIDTH / 1e3},
    ),
    mutant("only the weights counted as bytes", {"d_batch": int(2 * RIDGE) + 1}),
    mutant("batch rounded down", {"d_batch": _batch(_D) - 1}),
    mutant(
        "other words",
        *(
            {name: word}
            for name in ("a_bound", "b_bound", "c_bound")
            for word in ("compute", "compute-bound", "memory-bound", "bandwidth")
        ),
    ),
)

EXERCISE = values_exercise(
    _WANTED,
    id="04-bounds",
    notebook="04_bounds",
    title="Who is bound by what?",
    points=4,
    function="bounds",
    mutants=_MUTANTS,
    hints=(
        "Three steps for each layer: its FLOP, its compulsory bytes, and the ridge of the type that it computes in.",
        "The input has N·C·H·W numbers, the weights K·(C/G)·R·S, the output N·K·P·Q; a float32 has 4 bytes.",
    ),
)
