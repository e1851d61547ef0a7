"""Exercise 03, question 1: from a thread's numbers to its output, and from there to each input and weight."""

from __future__ import annotations

import numpy as np

from convlab.checker.exercises.cuda import conv_case, conv_oracle, conv_tolerance, mutants_of
from convlab.checker.exercises.taps import Array
from convlab.checker.record import Budget, Case, Exercise, Kernel, Shape
from convlab.spec import ConvSpec

__all__ = ["ANSWER", "EXERCISE"]

ANSWER = """
extern "C" __global__ void conv(const float* x, const float* w, float* y,
                                int C, int H, int W, int K, int R, int S, int P, int Q) {
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    int k = blockIdx.y, n = blockIdx.z;
    if (pixel >= P * Q) return;
    int p = pixel / Q, q = pixel % Q;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s)
                sum += x[((n * C + c) * H + p + r) * W + q + s] * w[((k * C + c) * R + r) * S + s];
    y[((n * K + k) * P + p) * Q + q] = sum;
}
"""

THREADS = 32


def _cases(rng: np.random.Generator) -> list[Case]:
    """Sizes that all differ; the last has more pixels than a block has threads, and no whole number of blocks."""
    height, width = int(rng.choice([7, 8])), int(rng.choice([9, 11]))
    specs = [
        ConvSpec(n=1, c=1, h=4, w=5, k=2, r=1, s=1),
        ConvSpec(n=1, c=2, h=5, w=7, k=3, r=2, s=3),
        ConvSpec(n=2, c=3, h=height, w=width, k=4, r=3, s=2),
    ]
    return [
        conv_case(rng, each, {name: getattr(each, name.lower()) for name in ("C", "H", "W", "K", "R", "S", "P", "Q")})
        for each in specs
    ]


def _launch(x: Array, w: Array, spec: ConvSpec) -> tuple[Shape, Shape, int]:
    return (-(-spec.p * spec.q // THREADS), spec.k, spec.n), THREADS, 0


def _fewest_stores(x: Array, w: Array, spec: ConvSpec) -> float:
    """The sectors of 32 bytes that lie under each warp's pixels, where these follow each other in memory."""
    plane = spec.p * spec.q
    first = np.add.outer(plane * np.arange(spec.k * spec.n), np.arange(0, plane, THREADS))
    last = np.minimum(first + THREADS, plane * np.arange(1, spec.k * spec.n + 1)[:, np.newaxis]) - 1
    return float(np.sum(4 * last // 32 - 4 * first // 32 + 1))


_MAP = "p = pixel / Q, q = pixel % Q"
_NUMBER = "blockIdx.x * blockDim.x + threadIdx.x"
_X = "x[((n * C + c) * H + p + r) * W + q + s]"
_W = "w[((k * C + c) * R + r) * S + s]"
_Y = "y[((n * K + k) * P + p) * Q + q]"

_MUTANTS = mutants_of(
    ANSWER,
    {
        "rows of P pixels": ((_MAP, "q = pixel / Q, p = pixel % Q"), (_MAP, "p = pixel / P, q = pixel % P")),
        "pixels numbered down the columns": ((_MAP, "q = pixel / P, p = pixel % P"),),
        "pixel divided by the wrong size": (
            (_MAP, "p = pixel / W, q = pixel % W"),
            (_MAP, "p = pixel / H, q = pixel % H"),
        ),
        "block left out of the pixel's number": (
            (_NUMBER, "threadIdx.x"),
            (_NUMBER, "blockIdx.x + threadIdx.x"),
            (_NUMBER, "threadIdx.x * blockDim.x + blockIdx.x"),
        ),
        "filter and image exchanged": (("k = blockIdx.y, n = blockIdx.z", "n = blockIdx.y, k = blockIdx.z"),),
        "bounds of the last block missing": (
            ("    if (pixel >= P * Q) return;\n", ""),
            ("pixel >= P * Q", "pixel > P * Q"),
            ("pixel >= P * Q", "pixel >= H * W"),
        ),
        "one thread too few": (("pixel >= P * Q", "pixel >= P * Q - 1"),),
        "height and width of the image exchanged": (
            (_X, "x[((n * C + c) * W + p + r) * H + q + s]"),
            (_X, "x[((n * C + c) * H + p + r) * H + q + s]"),
            (_X, "x[((n * C + c) * W + p + r) * W + q + s]"),
        ),
        "row and column of the image swapped": ((_X, "x[((n * C + c) * W + q + s) * H + p + r]"),),
        "image read with its channels last": ((_X, "x[((n * H + p + r) * W + q + s) * C + c]"),),
        "only the first channel": ((_X, "x[(n * C * H + p + r) * W + q + s]"), ("c < C", "c < 1")),
        "input row as long as an output row": ((_X, "x[((n * C + c) * H + p + r) * Q + q + s]"),),
        "input plane as high as an output plane": ((_X, "x[((n * C + c) * P + p + r) * W + q + s]"),),
        "batch index ignored": ((_X, "x[(c * H + p + r) * W + q + s]"),),
        "one filter for all outputs": ((_W, "w[(c * R + r) * S + s]"),),
        "row and column of the filter swapped": (
            (_W, "w[((k * C + c) * R + s) * S + r]"),
            (_W, "w[((k * C + c) * S + s) * R + r]"),
        ),
        "channels of the filter left out": ((_W, "w[(k * R + r) * S + s]"),),
        "channels and filters exchanged": (
            (_X, "x[((n * K + c) * H + p + r) * W + q + s]"),
            (_W, "w[((k * K + c) * R + r) * S + s]"),
            (_Y, "y[((n * C + k) * P + p) * Q + q]"),
        ),
        "output written in another order": ((_Y, "y[((n * P + p) * Q + q) * K + k]"),),
        "planes of the output left out": ((_Y, "y[(k * P + p) * Q + q]"), (_Y, "y[pixel]")),
        "output row as long as an input row": ((_Y, "y[((n * K + k) * H + p) * W + q]"),),
        "window stands still": (
            (_X, "x[((n * C + c) * H + p) * W + q + s]"),
            (_X, "x[((n * C + c) * H + p + r) * W + q]"),
        ),
        "a tap too many": (("r < R", "r <= R"), ("s < S", "s <= S")),
        "height and width of the window exchanged": (
            (ANSWER, ANSWER.replace("r < R", "r < S", 1).replace("s < S", "s < R")),
        ),
        "kernel flipped": ((_W, "w[((k * C + c) * R + R - 1 - r) * S + S - 1 - s]"),),
        "sum overwritten": (("sum += x", "sum = x"),),
        "sum kept in an int": (("float sum = 0.0f", "int sum = 0"),),
    },
)

EXERCISE = Exercise(
    id="03-index",
    notebook="03_one_thread",
    title="From thread to output to input",
    points=5,
    kind="kernel",
    function="mine",
    stub="// your index arithmetic, loops and store go here",
    cases=_cases,
    oracle=conv_oracle,
    tolerance=conv_tolerance,
    mutants=_MUTANTS,
    kernel=Kernel("conv", _launch, letters={"x": "nchw", "w": "kcrs", "y": "nkpq"}),
    budgets=(Budget("sectors_global_store", "sectors stored", _fewest_stores, "what pixels numbered row by row need"),),
    hints=(
        "A tensor of shape (A, B, C, D) has element [a, b, c, d] at ((a * B + b) * C + c) * D + d.",
        "Pixels are numbered row by row. How many are there before row p begins?",
    ),
    seconds=20.0,
)
