"""Exercise 05, question 3: the pitch at which a block of 8 × 8 threads reads any tile without bank conflicts."""

from __future__ import annotations

import numpy as np

from convlab.checker.exercises.cuda import conv_case, conv_oracle, conv_tolerance, mutants_of
from convlab.checker.exercises.taps import Array
from convlab.checker.record import Budget, Case, Exercise, Kernel, Shape
from convlab.kernels.halo import halo
from convlab.spec import ConvSpec

__all__ = ["ANSWER", "EXERCISE"]

ANSWER = """
constexpr int B = 8;  // a block has B × B threads, and as many outputs

__device__ int pitch_for(int cols) {
    return cols + (24 - cols % 16) % 16;
}

extern "C" __global__ void conv(const float* x, const float* w, float* y,
                                int C, int H, int W, int K, int R, int S, int P, int Q, int dilation) {
    extern __shared__ float tile[];              // [rows][pitch]
    int rows = B + dilation * (R - 1), cols = B + dilation * (S - 1), pitch = pitch_for(cols);
    if (pitch <= 0) return;                      // not written yet
    int p = blockIdx.y * B + threadIdx.y, q = blockIdx.x * B + threadIdx.x, k = blockIdx.z % K, n = blockIdx.z / K;
    float sum = 0.0f;
    for (int c = 0; c < C && pitch >= cols; ++c) {  // without room for a row, all outputs are 0
        for (int i = threadIdx.y; i < rows; i += B)
            for (int j = threadIdx.x; j < cols; j += B) {
                int h = blockIdx.y * B + i, col = blockIdx.x * B + j;
                tile[i * pitch + j] = h < H && col < W ? x[((n * C + c) * H + h) * W + col] : 0.0f;
            }
        __syncthreads();
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s)
                sum += tile[(threadIdx.y + r * dilation) * pitch + threadIdx.x + s * dilation]
                     * w[((k * C + c) * R + r) * S + s];
        __syncthreads();
    }
    if (p < P && q < Q) y[((n * K + k) * P + p) * Q + q] = sum;
}
"""

B = 8
_SIZES = ("C", "H", "W", "K", "R", "S", "P", "Q")


def _cases(rng: np.random.Generator) -> list[Case]:
    """Tiles of 10, 8, 20, 24 and 26 columns."""
    height, width = int(rng.choice([10, 11])), int(rng.choice([19, 21]))
    specs = [
        ConvSpec(n=1, c=2, h=height, w=width, k=1, r=2, s=3),
        ConvSpec(n=1, c=1, h=height + 1, w=9, k=2, r=2, s=1),
        ConvSpec(n=2, c=1, h=height + 6, w=width + 2, k=2, r=2, s=3, dilation=6),
        ConvSpec(n=1, c=2, h=height + 2, w=width + 4, k=3, r=2, s=5, dilation=4),
        ConvSpec(n=1, c=2, h=height + 9, w=width + 9, k=1, r=2, s=3, dilation=9),
    ]
    return [_case(rng, each) for each in specs]


def _case(rng: np.random.Generator, spec: ConvSpec) -> Case:
    sizes = {name: getattr(spec, name.lower()) for name in _SIZES}
    return conv_case(rng, spec, sizes | {"dilation": spec.dilation[0]})


def _launch(x: Array, w: Array, spec: ConvSpec) -> tuple[Shape, Shape, int]:
    tile = halo((B, B), (1, 1), (spec.effective_r, spec.effective_s))
    return (-(-spec.q // B), -(-spec.p // B), spec.k * spec.n), (B, B), tile.bytes


def _none(x: Array, w: Array, spec: ConvSpec) -> float:
    return 0


_FORMULA = "cols + (24 - cols % 16) % 16"

_MUTANTS = mutants_of(
    ANSWER,
    {
        "pitch: shorter than a row": (
            (_FORMULA, "cols / 16 * 16 + 8"),
            (_FORMULA, "cols / 8 * 8"),
            (_FORMULA, "8"),
            (_FORMULA, "16"),
        ),
        "pitch: just the columns": ((_FORMULA, "cols"),),
        "pitch: one word more": ((_FORMULA, "cols + 1"),),
        "pitch: a multiple of 8": ((_FORMULA, "(cols + 7) / 8 * 8"),),
        "pitch: a multiple of 16": ((_FORMULA, "(cols + 15) / 16 * 16"),),
        "pitch: a multiple of 32": ((_FORMULA, "(cols + 31) / 32 * 32"),),
        "pitch: that of rows of 16": ((_FORMULA, "cols + (48 - cols % 32) % 32"),),
        "pitch: larger than it need be": (
            (_FORMULA, "cols + (24 - cols % 16) % 16 + 16"),
            (_FORMULA, "cols + 16 + (8 - cols % 16)"),
            (_FORMULA, "cols + (40 - cols % 32) % 32"),
            (_FORMULA, "cols + (56 - cols % 32) % 32"),
        ),
        "pitch: a number of words more": tuple((_FORMULA, f"cols + {more}") for more in (2, 4, 8, 14, 16)),
        "pitch: never below 24": (
            (_FORMULA, "cols > 24 ? cols : 24"),
            (_FORMULA, "cols > 24 ? 40 : 24"),
        ),
        "pitch: right for one size alone": tuple((_FORMULA, pitch) for pitch in ("24", "40", "48", "56")),
    },
)

EXERCISE = Exercise(
    id="05-conflicts",
    notebook="05_tiles",
    title="Remove the conflicts",
    points=3,
    kind="kernel",
    function="apart",
    stub="return 0;  // your pitch goes here",
    cases=_cases,
    oracle=conv_oracle,
    tolerance=conv_tolerance,
    mutants=_MUTANTS,
    kernel=Kernel("conv", _launch, letters={"x": "nchw", "w": "kcrs", "y": "nkpq"}),
    budgets=(Budget("conflicts_shared_load", "bank conflicts of reads", _none, "what the right pitch leaves"),),
    hints=(
        "A warp has four rows of 8 lanes. In which banks lie the 8 words of each row, if the pitch is 10?",
        "The four rows must begin in banks that lie 8 apart, in any order. Which pitches do that? Of these, take the "
        "first one that is long enough for a row.",
    ),
    seconds=20.0,
)
