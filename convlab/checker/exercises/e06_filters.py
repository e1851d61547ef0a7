"""Exercise 06, question 1: two filters a thread, so that each pixel is loaded once for both."""

from __future__ import annotations

import numpy as np

from convlab.checker.exercises.cuda import conv_case, conv_oracle, conv_tolerance, mutants_of
from convlab.checker.exercises.taps import Array
from convlab.checker.record import Budget, Case, Exercise, Kernel, Shape
from convlab.kernels.tiling import ceil_div
from convlab.spec import ConvSpec

__all__ = ["ANSWER", "EXERCISE", "NUMBERS", "THREADS"]

ANSWER = """
extern "C" __global__ void conv(const float* x, const float* w, float* y,
                                int C, int H, int W, int K, int R, int S, int P, int Q) {
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    int k = 2 * blockIdx.y, n = blockIdx.z;
    if (pixel >= P * Q) return;
    int p = pixel / Q, q = pixel % Q;
    bool two = k + 1 < K;
    const float* first = w + k * C * R * S;
    const float* second = two ? first + C * R * S : first;
    float sum0 = 0.0f, sum1 = 0.0f;
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s) {
                float value = x[((n * C + c) * H + p + r) * W + q + s];
                sum0 += value * first[(c * R + r) * S + s];
                sum1 += value * second[(c * R + r) * S + s];
            }
    y[((n * K + k) * P + p) * Q + q] = sum0;
    if (two) y[((n * K + k + 1) * P + p) * Q + q] = sum1;
}
"""

THREADS = 32
NUMBERS = ("C", "H", "W", "K", "R", "S", "P", "Q")  # the kernel's whole numbers, as its signature lists them


def _cases(rng: np.random.Generator) -> list[Case]:
    """Sizes that all differ; an even and an odd number of filters; more pixels than a block has threads."""
    filters = int(rng.choice([5, 7]))
    specs = [
        ConvSpec(n=1, c=1, h=4, w=5, k=2, r=1, s=1),
        ConvSpec(n=1, c=3, h=5, w=8, k=4, r=2, s=3),
        ConvSpec(n=2, c=2, h=7, w=9, k=filters, r=3, s=2),
    ]
    return [conv_case(rng, each, {name: getattr(each, name.lower()) for name in NUMBERS}) for each in specs]


def _pairs(spec: ConvSpec) -> int:
    return ceil_div(spec.k, 2)


def _launch(x: Array, w: Array, spec: ConvSpec) -> tuple[Shape, Shape, int]:
    return (ceil_div(spec.p * spec.q, THREADS), _pairs(spec), spec.n), THREADS, 0


def _most_requests(x: Array, w: Array, spec: ConvSpec) -> float:
    """A pixel and two weights for each tap of each pair; a block is one warp."""
    blocks = ceil_div(spec.p * spec.q, THREADS) * _pairs(spec) * spec.n
    return 3 * blocks * spec.gemm_shape.gemm_k


_MAP = "p = pixel / Q, q = pixel % Q"
_X = "x[((n * C + c) * H + p + r) * W + q + s]"
_TWO = "    bool two = k + 1 < K;\n"
_SECOND = "second = two ? first + C * R * S : first"
_SUM1 = "                sum1 += value * second[(c * R + r) * S + s];\n            }\n"
_AGAIN = """            }
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s)
                sum1 += x[((n * C + c) * H + p + r) * W + q + s] * second[(c * R + r) * S + s];
"""

_MUTANTS = mutants_of(
    ANSWER,
    {
        "pixels loaded again for the second filter": ((_SUM1, _AGAIN),),
        "second filter's bound missing": (
            (_TWO, "    bool two = true;\n"),
            (_SECOND, "second = first + C * R * S"),
            ("    if (two) y", "    y"),
        ),
        "last filter of an odd number left out": ((_TWO, _TWO + "    if (!two) return;\n"),),
        "both outputs from the first filter": ((_SECOND, "second = first"),),
        "second filter begins one weight further": ((_SECOND, "second = two ? first + 1 : first"),),
        "second filter begins one channel further": (
            (_SECOND, "second = two ? first + R * S : first"),
            (_SECOND, "second = first + R * S"),
        ),
        "pairs of filters overlap": (("k = 2 * blockIdx.y", "k = blockIdx.y"),),
        "one sum for two filters": (("sum1 += value", "sum0 += value"),),
        "second output stored over the first": (("(n * K + k + 1) * P", "(n * K + k) * P"),),
        "second output stored one pixel further": (
            ("((n * K + k + 1) * P + p) * Q + q]", "((n * K + k) * P + p) * Q + q + 1]"),
        ),
        "rows of P pixels": ((_MAP, "p = pixel / P, q = pixel % P"), (_MAP, "q = pixel / Q, p = pixel % Q")),
        "pixel divided by the wrong size": ((_MAP, "p = pixel / W, q = pixel % W"),),
        "height and width of the image exchanged": (
            (_X, "x[((n * C + c) * W + p + r) * H + q + s]"),
            (_X, "x[((n * C + c) * H + p + r) * H + q + s]"),
        ),
        "batch index ignored": ((_X, "x[(c * H + p + r) * W + q + s]"),),
        "sum overwritten": ((ANSWER, ANSWER.replace("+= value", "= value")),),
        "bounds of the last block missing": (("    if (pixel >= P * Q) return;\n", ""),),
    },
)

EXERCISE = Exercise(
    id="06-filters",
    notebook="06_registers",
    title="Two filters a thread",
    points=5,
    kind="kernel",
    function="two_filters",
    stub="// two sums, one loop over the taps, two stores go here",
    cases=_cases,
    oracle=conv_oracle,
    tolerance=conv_tolerance,
    mutants=_MUTANTS,
    kernel=Kernel("conv", _launch, letters={"x": "nchw", "w": "kcrs", "y": "nkpq"}),
    budgets=(
        Budget(
            "requests_global_load",
            "load requests",
            _most_requests,
            "enough: a pixel and two weights for each tap of a pair of filters",
        ),
    ),
    hints=(
        "Load the pixel into a variable, then use the variable twice.",
        "Filters lie C·R·S weights apart. With an odd K the last pair has no second one: neither read nor store it.",
    ),
    seconds=20.0,
)
