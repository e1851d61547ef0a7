"""Exercise 03, question 2: a kernel that is right, and whose warps read down the columns, gets another mapping."""

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
    int k = blockIdx.z % K, n = blockIdx.z / K;
    int p = blockIdx.y * blockDim.y + threadIdx.y;
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= P || q >= Q) return;

    const float* window = x + (n * C * H + p) * W + q;  // its first pixel
    const float* weights = w + k * C * R * S;
    float total = 0;
    for (int i = 0; i < C * R * S; ++i) {
        int c = i / (R * S), r = i / S % R, s = i % S;
        total += window[(c * H + r) * W + s] * weights[i];
    }
    y[((n * K + k) * P + p) * Q + q] = total;
}
"""
_P, _Q = "blockIdx.y * blockDim.y + threadIdx.y", "blockIdx.x * blockDim.x + threadIdx.x"
_MAP = f"    int p = {_P};\n    int q = {_Q};\n"
_DOWN = """    int thread = threadIdx.y * blockDim.x + threadIdx.x;
    int p = blockIdx.y * blockDim.y + thread % blockDim.y;
    int q = blockIdx.x * blockDim.x + thread / blockDim.y;
"""

ACROSS, DOWN = 32, 8  # threads of a block


def _cases(rng: np.random.Generator) -> list[Case]:
    """Planes that fill no block; the last ones have several blocks in each direction."""
    height, width = int(rng.choice([19, 21])), int(rng.choice([31, 33]))
    specs = [
        ConvSpec(n=1, c=2, h=10, w=29, k=3, r=2, s=3),
        ConvSpec(n=2, c=1, h=height, w=width, k=2, r=3, s=2),
        ConvSpec(n=1, c=2, h=12, w=height + 24, k=3, r=2, s=3),
    ]
    return [
        conv_case(rng, each, {name: getattr(each, name.lower()) for name in ("C", "H", "W", "K", "R", "S", "P", "Q")})
        for each in specs
    ]


def _launch(x: Array, w: Array, spec: ConvSpec) -> tuple[Shape, Shape, int]:
    return (-(-spec.q // ACROSS), -(-spec.p // DOWN), spec.k * spec.n), (ACROSS, DOWN), 0


def _warps(spec: ConvSpec) -> int:
    """The warps that have outputs, where each takes a piece of one row."""
    return spec.n * spec.k * spec.p * -(-spec.q // ACROSS)


def _stores(x: Array, w: Array, spec: ConvSpec) -> float:
    return 5 * _warps(spec)


def _loads(x: Array, w: Array, spec: ConvSpec) -> float:
    return (5 + 1) * spec.gemm_shape.gemm_k * _warps(spec)


_WHY = "enough for warps whose lanes take 32 neighbouring pixels of a row"
_STORE = "y[((n * K + k) * P + p) * Q + q] = total"

_MUTANTS = mutants_of(
    ANSWER,
    {
        "lanes of a warp in several rows": (
            (_MAP, _DOWN),
            (
                _MAP,
                "    int thread = threadIdx.y * blockDim.x + threadIdx.x, lane = thread % 32, warp = thread / 32;\n"
                "    int p = blockIdx.y * blockDim.y + warp / 4 * 4 + lane / 8;\n"
                "    int q = blockIdx.x * blockDim.x + warp % 4 * 8 + lane % 8;\n",
            ),
        ),
        "x counts the rows": ((_MAP, f"    int p = {_Q};\n    int q = {_P};\n"),),
        "only the threads exchanged": (
            (_MAP, _MAP.replace("threadIdx.y", "threadIdx.!").replace("threadIdx.x", "threadIdx.y").replace("!", "x")),
        ),
        "height and width of the block exchanged": (
            (_MAP, _MAP.replace("blockDim.y", "blockDim.!").replace("blockDim.x", "blockDim.y").replace("!", "x")),
        ),
        "block's size left out of the map": (
            (_MAP, "    int p = blockIdx.y + threadIdx.y;\n    int q = blockIdx.x + threadIdx.x;\n"),
            (_Q, "blockIdx.x + threadIdx.x"),
            (_P, "blockIdx.y + threadIdx.y"),
        ),
        "row of threads as long as the block is high": (
            (_MAP, _DOWN.replace("%", "!").replace("/", "%").replace("!", "/")),
        ),
        "block left out of the map": (
            (_MAP, "    int p = threadIdx.y;\n    int q = threadIdx.x;\n"),
            (_P, "threadIdx.y"),
            (_Q, "threadIdx.x"),
        ),
        "bounds of rows and columns exchanged": (("p >= P || q >= Q", "p >= Q || q >= P"),),
        "bounds of the edge blocks lost": (("    if (p >= P || q >= Q) return;\n", ""),),
        "bounds kept for one direction only": (("p >= P || q >= Q", "p >= P"), ("p >= P || q >= Q", "q >= Q")),
        "only the loads mended": (
            (
                _STORE,
                "int thread = threadIdx.y * blockDim.x + threadIdx.x;\n"
                "    p = blockIdx.y * blockDim.y + thread % blockDim.y;\n"
                "    q = blockIdx.x * blockDim.x + thread / blockDim.y;\n"
                f"    if (p < P && q < Q) {_STORE}",
            ),
        ),
        "output row and column swapped": ((_STORE, "y[((n * K + k) * Q + q) * P + p] = total"),),
    },
)

EXERCISE = Exercise(
    id="03-mapping",
    notebook="03_one_thread",
    title="Right, but read down the columns",
    points=4,
    kind="kernel",
    function="mended",
    stub="int p = P, q = Q;  // your mapping: which output is this thread's?",
    cases=_cases,
    oracle=conv_oracle,
    tolerance=conv_tolerance,
    mutants=_MUTANTS,
    kernel=Kernel("conv", _launch, letters={"x": "nchw", "w": "kcrs", "y": "nkpq"}),
    budgets=(
        Budget("sectors_global_load", "sectors loaded", _loads, _WHY),
        Budget("sectors_global_store", "sectors stored", _stores, _WHY),
    ),
    hints=(
        "Which lanes share a warp? Those with consecutive numbers, x first. Write down p and q of lanes 0 and 1.",
        "Lanes 0 and 1 should have the same p, and neighbouring q. Nothing else in the kernel needs to change.",
    ),
    seconds=20.0,
)
