"""Exercise 05, question 1: the threads of a block load a tile with its halo, together."""

from __future__ import annotations

import numpy as np

from convlab.checker.exercises.cuda import conv_case, conv_oracle, conv_tolerance, mutants_of
from convlab.checker.exercises.taps import Array
from convlab.checker.record import Budget, Case, Exercise, Kernel, Shape
from convlab.spec import ConvSpec

__all__ = ["ANSWER", "EXERCISE"]

ANSWER = """
constexpr int BP = 4, BQ = 16;  // outputs of a block, and its threads

extern "C" __global__ void conv(const float* x, const float* w, float* y, int C, int H, int W,
                                int K, int R, int S, int P, int Q, int pad_top, int pad_left) {
    extern __shared__ float tile[];              // [rows][cols]
    int rows = BP + R - 1, cols = BQ + S - 1;
    int top = blockIdx.y * BP - pad_top, left = blockIdx.x * BQ - pad_left;  // where the tile begins
    int k = blockIdx.z % K, n = blockIdx.z / K;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        const float* plane = x + (n * C + c) * H * W;  // [H][W]
        for (int i = threadIdx.y; i < rows; i += BP)
            for (int j = threadIdx.x; j < cols; j += BQ) {
                int h = top + i, col = left + j;
                bool inside = h >= 0 && h < H && col >= 0 && col < W;
                tile[i * cols + j] = inside ? plane[h * W + col] : 0.0f;
            }
        __syncthreads();
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s)
                sum += tile[(threadIdx.y + r) * cols + threadIdx.x + s] * w[((k * C + c) * R + r) * S + s];
        __syncthreads();
    }
    int p = blockIdx.y * BP + threadIdx.y, q = blockIdx.x * BQ + threadIdx.x;
    if (p < P && q < Q) y[((n * K + k) * P + p) * Q + q] = sum;
}
"""

BP, BQ = 4, 16
_SIZES = ("C", "H", "W", "K", "R", "S", "P", "Q")


def _cases(rng: np.random.Generator) -> list[Case]:
    """A single tile, then several with padding, then filters that reach further and tiles that hang over the edge."""
    height, width = int(rng.choice([7, 9])), int(rng.choice([18, 21]))
    specs = [
        ConvSpec(n=1, c=1, h=5, w=17, k=2, r=2, s=3),
        ConvSpec(n=1, c=2, h=height, w=width, k=1, r=3, s=2, padding=(1, 1, 1, 0)),
        ConvSpec(n=2, c=1, h=height, w=width + 3, k=2, r=3, s=5, padding=(0, 2, 2, 2)),
    ]
    return [_case(rng, each) for each in specs]


def _case(rng: np.random.Generator, spec: ConvSpec) -> Case:
    sizes = {name: getattr(spec, name.lower()) for name in _SIZES}
    top, _, left, _ = spec.padding
    return conv_case(rng, spec, sizes | {"pad_top": top, "pad_left": left})


def _blocks(spec: ConvSpec) -> tuple[int, int, int]:
    return -(-spec.q // BQ), -(-spec.p // BP), spec.k * spec.n


def _tile(spec: ConvSpec) -> int:
    """Bytes of the tile."""
    return 4 * (BP + spec.r - 1) * (BQ + spec.s - 1)


def _launch(x: Array, w: Array, spec: ConvSpec) -> tuple[Shape, Shape, int]:
    return _blocks(spec), (BQ, BP), _tile(spec)


def _stored(x: Array, w: Array, spec: ConvSpec) -> float:
    across, down, deep = _blocks(spec)
    return 2 * across * down * deep * spec.c * _tile(spec)


def _requests(x: Array, w: Array, spec: ConvSpec) -> float:
    """Half as many as the tiles have pixels: 32 threads at a time take far fewer, a single one takes them all."""
    across, down, deep = _blocks(spec)
    return 0.5 * across * down * deep * spec.c * _tile(spec) / 4


_OUTER = "for (int i = threadIdx.y; i < rows; i += BP)\n"
_INNER = "for (int j = threadIdx.x; j < cols; j += BQ) {"
_STORE = "tile[i * cols + j] = inside ? plane[h * W + col] : 0.0f"
_INSIDE = "h >= 0 && h < H && col >= 0 && col < W"
_PLACE = "h = top + i, col = left + j"
_LOADS = ANSWER[ANSWER.index("        for (int i") : ANSWER.index("        __syncthreads")]
_OUTSIDE = "if (blockIdx.y * BP + threadIdx.y >= P || blockIdx.x * BQ + threadIdx.x >= Q) return;\n"
_NO_ROWS = "for (int i = threadIdx.y; i < BP; i += BP)\n"
_ONCE = """        int t = threadIdx.y * BQ + threadIdx.x, h = top + t / cols, col = left + t % cols;
        if (t < rows * cols) tile[t] = h >= 0 && h < H && col >= 0 && col < W ? plane[h * W + col] : 0.0f;
"""

_MUTANTS = mutants_of(
    ANSWER,
    {
        "halo: not loaded at all": (
            (f"{_OUTER}            {_INNER}", "{\n                int i = threadIdx.y, j = threadIdx.x;"),
            (_LOADS, _ONCE),
        ),
        "halo: only in one direction": (
            (_OUTER, _NO_ROWS),
            (_INNER, "for (int j = threadIdx.x; j < BQ; j += BQ) {"),
        ),
        "halo: that of a 3×3 filter": (
            (_LOADS, _LOADS.replace("i < rows", "i < BP + 2").replace("j < cols", "j < BQ + 2")),
        ),
        "halo: a row or column too many": (
            (_INNER, "for (int j = threadIdx.x; j <= cols; j += BQ) {"),
            (_OUTER, "for (int i = threadIdx.y; i <= rows; i += BP)\n"),
            (_LOADS, _LOADS.replace("i < rows", "i <= rows").replace("j < cols", "j <= cols")),
        ),
        "halo: right column missing": ((_INNER, "for (int j = threadIdx.x; j < cols - 1; j += BQ) {"),),
        "halo: bottom row missing": ((_OUTER, "for (int i = threadIdx.y; i < rows - 1; i += BP)\n"),),
        "tile begins at its outputs": ((_PLACE, "h = blockIdx.y * BP + i, col = blockIdx.x * BQ + j"),),
        "padding taken off twice": ((_PLACE, "h = top + i - pad_top, col = left + j - pad_left"),),
        "every block loads the first tile": (
            (_PLACE, "h = i - pad_top, col = j - pad_left"),
            (_STORE, _STORE.replace("h * W + col", "i * W + j")),
        ),
        "padding left as it was": ((_STORE, "if (inside) tile[i * cols + j] = plane[h * W + col]"),),
        "pixels of the edge repeated": (
            (_STORE, "tile[i * cols + j] = plane[min(max(h, 0), H - 1) * W + min(max(col, 0), W - 1)]"),
        ),
        "columns of the image not tested": (("h < H && col >= 0 && col < W", "h < H"),),
        "edges of the image not tested": (
            (_INSIDE, "true"),
            (_INSIDE, "h >= 0 && col >= 0"),
            (_INSIDE, "h < H && col < W"),
            (_INSIDE, "col >= 0 && col < W"),
        ),
        "output's size taken for the image's": ((_INSIDE, "h >= 0 && h < P && col >= 0 && col < Q"),),
        "rows of the tile too close": ((_STORE, _STORE.replace("i * cols + j", "i * BQ + j")),),
        "tile stored column by column": ((_STORE, _STORE.replace("i * cols + j", "j * rows + i")),),
        "row and column of the image swapped": ((_STORE, _STORE.replace("h * W + col", "col * H + h")),),
        "height and width of the image exchanged": ((_STORE, _STORE.replace("h * W + col", "h * H + col")),),
        "only the first channel": ((_STORE, _STORE.replace("plane[", "x[")),),
        "steps of the loops exchanged": (
            (_LOADS, _LOADS.replace("i += BP", "i += !").replace("j += BQ", "j += BP").replace("!", "BQ")),
        ),
        "threads leave before the barrier": ((_LOADS, f"        {_OUTSIDE}{_LOADS}"),),
        "barrier inside the loading loop": ((_STORE, f"{_STORE};\n                __syncthreads()"),),
        "every thread loads the whole tile": (
            (f"{_OUTER}            {_INNER}", "for (int i = 0; i < rows; ++i)\n for (int j = 0; j < cols; ++j) {"),
        ),
        "one thread loads the whole tile": (
            (
                f"{_OUTER}            {_INNER}",
                "for (int i = 0; i < rows && threadIdx.x + threadIdx.y == 0; ++i)\n for (int j = 0; j < cols; ++j) {",
            ),
        ),
    },
)

EXERCISE = Exercise(
    id="05-halo",
    notebook="05_tiles",
    title="Load a halo",
    points=4,
    kind="kernel",
    function="loaded",
    stub="return;  // your loads go here, in place of this line",
    cases=_cases,
    oracle=conv_oracle,
    tolerance=conv_tolerance,
    mutants=_MUTANTS,
    kernel=Kernel("conv", _launch, letters={"x": "nchw", "w": "kcrs", "y": "nkpq"}),
    budgets=(
        Budget(
            "thread_bytes_shared_store",
            "bytes stored in shared memory",
            _stored,
            "twice what the tiles hold: each pixel has to be stored once, by one thread",
        ),
        Budget(
            "requests_shared_store",
            "requests to store in shared memory",
            _requests,
            "half as many as the tiles have pixels: 32 threads can store at a time",
        ),
    ),
    hints=(
        "Which pixel of the image belongs to tile[0][0], and which to tile[i][j]?",
        "Let thread (threadIdx.y, threadIdx.x) take that place of the tile, then the one BQ columns on, as long as "
        "there is one; then the same BP rows further down.",
    ),
    seconds=20.0,
)
