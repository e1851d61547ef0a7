"""Exercise 06, question 2: four neighbouring pixels a thread, so that each weight is loaded once for all of them."""

from __future__ import annotations

import numpy as np

from convlab.checker.exercises.cuda import conv_case, conv_oracle, conv_tolerance, mutants_of
from convlab.checker.exercises.e06_filters import NUMBERS, THREADS
from convlab.checker.exercises.taps import Array
from convlab.checker.record import Budget, Case, Exercise, Kernel, Shape
from convlab.kernels.tiling import ceil_div
from convlab.spec import ConvSpec

__all__ = ["ANSWER", "EXERCISE"]

PIXELS = 4  # of a thread

ANSWER = """
extern "C" __global__ void conv(const float* x, const float* w, float* y,
                                int C, int H, int W, int K, int R, int S, int P, int Q) {
    int group = blockIdx.x * blockDim.x + threadIdx.x;
    int across = (Q + 3) / 4;
    int k = blockIdx.y, n = blockIdx.z;
    if (group >= P * across) return;
    int p = group / across, q = group % across * 4;
    float sum[4] = {};
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s) {
                float weight = w[((k * C + c) * R + r) * S + s];
                for (int t = 0; t < 4; ++t)
                    if (q + t < Q)
                        sum[t] += weight * x[((n * C + c) * H + p + r) * W + q + t + s];
            }
    for (int t = 0; t < 4; ++t)
        if (t + q < Q)
            y[((n * K + k) * P + p) * Q + q + t] = sum[t];
}
"""


def _cases(rng: np.random.Generator) -> list[Case]:
    """Sizes that all differ; rows that end in a whole group, and with one, two or three pixels left."""
    left = int(rng.choice([2, 3]))
    specs = [
        ConvSpec(n=1, c=1, h=3, w=8, k=2, r=1, s=1),
        ConvSpec(n=1, c=2, h=5, w=7, k=3, r=2, s=3),
        ConvSpec(n=2, c=3, h=13, w=8 + left + 1, k=2, r=3, s=2),
    ]
    return [conv_case(rng, each, {name: getattr(each, name.lower()) for name in NUMBERS}) for each in specs]


def _blocks(spec: ConvSpec) -> int:
    """Blocks of a plane: a block is one warp."""
    return ceil_div(spec.p * ceil_div(spec.q, PIXELS), THREADS)


def _launch(x: Array, w: Array, spec: ConvSpec) -> tuple[Shape, Shape, int]:
    return (_blocks(spec), spec.k, spec.n), THREADS, 0


def _most_requests(x: Array, w: Array, spec: ConvSpec) -> float:
    """A weight and four pixels for each tap."""
    return (1 + PIXELS) * _blocks(spec) * spec.k * spec.n * spec.gemm_shape.gemm_k


_WEIGHT = "                float weight = w[((k * C + c) * R + r) * S + s];\n"
_USE = "sum[t] += weight * x"
_READ = "                    if (q + t < Q)\n"
_STORE = "        if (t + q < Q)\n"
_PLACE = "p = group / across, q = group % across * 4"
_RETURN = "    if (group >= P * across) return;\n"
_X = "x[((n * C + c) * H + p + r) * W + q + t + s]"
_FLAT = ANSWER.replace("group >= P * across", "4 * group >= P * Q").replace(
    _PLACE, "p = 4 * group / Q, q = 4 * group % Q"
)
_ONE = """
extern "C" __global__ void conv(const float* x, const float* w, float* y,
                                int C, int H, int W, int K, int R, int S, int P, int Q) {
    int pixel = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y, n = blockIdx.z;
    if (pixel >= P * Q) return;
    int p = pixel / Q, q = pixel % Q;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s)
                sum += w[((k * C + c) * R + r) * S + s] * x[((n * C + c) * H + p + r) * W + q + s];
    y[((n * K + k) * P + p) * Q + q] = sum;
}
"""

_AGAIN = ANSWER.replace(_WEIGHT, "").replace("sum[t] += weight *", "sum[t] += w[((k * C + c) * R + r) * S + s] *")
_UNBOUND = ANSWER.replace(_READ, "").replace(_STORE, "")

_MUTANTS = mutants_of(
    ANSWER,
    {
        "weight loaded for each pixel": ((ANSWER, _AGAIN),),
        "one pixel a thread": ((ANSWER, _ONE),),
        "pixels behind the row's end computed": (
            (ANSWER, _UNBOUND),
            (ANSWER, ANSWER.replace("q + t < Q", "q + t <= Q").replace("t + q < Q", "t + q <= Q")),
        ),
        "pixels behind the row's end read": ((_READ, ""),),
        "pixels behind the row's end stored": ((_STORE, ""),),
        "groups run across the ends of rows": (
            (_PLACE, "p = group * 4 / Q, q = group * 4 % Q"),
            (ANSWER, _FLAT),
            (ANSWER, _FLAT.replace("q + t < Q", "4 * group + t < P * Q").replace("t + q < Q", "4 * group + t < P * Q")),
            (_PLACE, "p = group * 4 / W, q = group * 4 % W"),
        ),
        "groups of a row counted by P": (
            ("across = (Q + 3) / 4", "across = (P + 3) / 4"),
            (_PLACE, "p = group / P, q = group % P * 4"),
        ),
        "groups taken for pixels": ((_PLACE, "p = group / Q, q = group % Q * 4"),),
        "groups overlap": ((_PLACE, "p = group / across, q = group % across"),),
        "last group of a row left out": (("across = (Q + 3) / 4", "across = Q / 4"),),
        "groups of the plane rounded down": (("group >= P * across", "group >= P * Q / 4"),),
        "all four pixels from one window": (("W + q + t + s", "W + q + s"),),
        "one sum for all pixels": ((_USE, "sum[0] += weight * x"),),
        "four outputs stored at one place": (("Q + q + t] = sum", "Q + q] = sum"),),
        "height and width of the image exchanged": (
            (_X, "x[((n * C + c) * W + p + r) * H + q + t + s]"),
            (_X, "x[((n * C + c) * H + p + r) * H + q + t + s]"),
        ),
        "batch index ignored": ((_X, "x[(c * H + p + r) * W + q + t + s]"),),
        "sum overwritten": ((_USE, "sum[t] = weight * x"),),
        "bounds of the last block missing": ((_RETURN, ""),),
    },
)

EXERCISE = Exercise(
    id="06-pixels",
    notebook="06_registers",
    title="Four pixels a thread",
    points=6,
    kind="kernel",
    function="four_pixels",
    stub="// find the thread's four pixels; four sums, one loop over the taps, up to four stores",
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
            "enough: a weight and four pixels for each tap",
        ),
    ),
    hints=(
        "Load the weight into a variable before the loop over the four pixels.",
        "A row of Q pixels has (Q + 3) / 4 groups, and its last one may be shorter. Test q + t < Q at each pixel.",
    ),
    seconds=20.0,
)
