"""Exercise 05, question 2: a tiled kernel without barriers gets the two that it needs, where it needs them."""

from __future__ import annotations

from math import prod

import numpy as np

from convlab.checker.exercises.cuda import conv_case, conv_oracle, conv_tolerance, mutants_of
from convlab.checker.exercises.taps import Array
from convlab.checker.record import Budget, Case, Exercise, Kernel, Shape
from convlab.spec import ConvSpec

__all__ = ["ANSWER", "EXERCISE"]

_GIVEN = """\
float sum = 0.0f;
for (int c = 0; c < C; ++c) {
    for (int i = threadIdx.y; i < rows; i += BP)
        for (int j = threadIdx.x; j < cols; j += BQ) {
            int h = blockIdx.y * BP + i, col = blockIdx.x * BQ + j;
            bool inside = h < H && col < W;
            tile[i * cols + j] = inside ? x[((n * C + c) * H + h) * W + col] : 0.0f;
        }
    for (int r = 0; r < R; ++r)
        for (int s = 0; s < S; ++s)
            sum += tile[(threadIdx.y + r) * cols + threadIdx.x + s] * w[((k * C + c) * R + r) * S + s];
}
if (p < P && q < Q) y[((n * K + k) * P + p) * Q + q] = sum;
"""
_FIRST = ("        }\n", "    __syncthreads();  // or a window is read before its pixels are there\n")
_SECOND = ("* S + s];\n", "    __syncthreads();  // or pixels are overwritten that somebody still reads\n")
_HEAD = """
constexpr int BP = 4, BQ = 16;  // outputs of a block, and its threads

extern "C" __global__ void conv(const float* x, const float* w, float* y,
                                int C, int H, int W, int K, int R, int S, int P, int Q) {
    extern __shared__ float tile[];              // [rows][cols]
    int rows = BP + R - 1, cols = BQ + S - 1;
    int p = blockIdx.y * BP + threadIdx.y, q = blockIdx.x * BQ + threadIdx.x;
    int k = blockIdx.z % K, n = blockIdx.z / K;
"""


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


ANSWER = f"{_HEAD}{_indented(_GIVEN.replace(_FIRST[0], ''.join(_FIRST)).replace(_SECOND[0], ''.join(_SECOND)))}}}\n"

BP, BQ = 4, 16


def _cases(rng: np.random.Generator) -> list[Case]:
    """One channel in one tile, where one barrier is enough; then several channels and tiles."""
    height, width = int(rng.choice([8, 9])), int(rng.choice([21, 23]))
    specs = [
        ConvSpec(n=1, c=1, h=5, w=18, k=2, r=2, s=3),
        ConvSpec(n=1, c=3, h=6, w=17, k=2, r=3, s=2),
        ConvSpec(n=2, c=2, h=height, w=width, k=1, r=3, s=4),
    ]
    sizes = ("C", "H", "W", "K", "R", "S", "P", "Q")
    return [conv_case(rng, each, {name: getattr(each, name.lower()) for name in sizes}) for each in specs]


def _grid(spec: ConvSpec) -> tuple[int, int, int]:
    return -(-spec.q // BQ), -(-spec.p // BP), spec.k * spec.n


def _launch(x: Array, w: Array, spec: ConvSpec) -> tuple[Shape, Shape, int]:
    return _grid(spec), (BQ, BP), 4 * (BP + spec.r - 1) * (BQ + spec.s - 1)


def _most_waits(x: Array, w: Array, spec: ConvSpec) -> float:
    """Of the two warps of each block."""
    return 2 * prod(_grid(spec)) * (2 * spec.c + 1)


_A, _B = (f"    {text}" for _, text in (_FIRST, _SECOND))  # as they stand in the answer
_BODY = ANSWER[ANSWER.index("        for (int i") : ANSWER.index("    if (p < P")]


def _with(first: str, second: str, *changes: tuple[str, str]) -> tuple[str, str]:
    """The answer's loop with other lines in place of its barriers, and changed in other places."""
    loop = _BODY.replace(_A, first).replace(_B, second)
    for old, new in changes:
        loop = loop.replace(old, new)
    return _BODY, loop


def _if(condition: str) -> str:
    return f"        if ({condition}) __syncthreads();\n"


_ALL = "        __syncthreads();\n"
_WARP = "        __syncwarp();\n"
_BEFORE_TAP, _AFTER_TAP = ("sum += tile", "__syncthreads(), sum += tile"), ("* S + s];", "* S + s], __syncthreads();")
_BEFORE_ROW, _AFTER_ROW = ("int s = 0;", "int s = (__syncthreads(), 0);"), ("++r)", "__syncthreads(), ++r)")
_OTHERS = (("", _ALL), (_ALL, _ALL), (_ALL, ""), ("", ""))  # the barriers beside one in the loading loop
_STORED = "bool inside = h < H && col < W;\n"

_MUTANTS = mutants_of(
    ANSWER,
    {
        "no barrier at all": (_with("", ""), _with(_WARP, _WARP)),
        "barrier missing after the loads": (_with("", _ALL), _with(_WARP, _ALL)),
        "barrier missing before the next loads": (_with(_ALL, ""), _with(_ALL, _WARP)),
        "barrier inside an if": (
            _with(_if("p < P && q < Q"), _if("p < P && q < Q")),
            _with(_if("p < P && q < Q"), _ALL),
            _with(_ALL, _if("p < P && q < Q")),
            _with("", _ALL, (_STORED, f"{_STORED}if (inside) __syncthreads();\n")),
            _with("", _ALL, (": 0.0f;\n", ": 0.0f;\nif (inside) __syncthreads();\n")),
            _with(_if("threadIdx.x == 0"), _if("threadIdx.x == 0")),
            _with(_if("threadIdx.x + threadIdx.y == 0"), _if("threadIdx.x + threadIdx.y == 0")),
        ),
        "barrier inside the loading loop": (
            *(_with(*others, (": 0.0f;\n", ": 0.0f;\n__syncthreads();\n")) for others in _OTHERS),
            _with("", _ALL, ("int j = threadIdx.x", "int j = (__syncthreads(), threadIdx.x)")),
            *(_with(*others, ("i += BP)", "__syncthreads(), i += BP)")) for others in _OTHERS),
        ),
        "barrier in the loop over the taps": (
            _with("", "", _BEFORE_TAP),
            _with("", "", _BEFORE_ROW),
            _with("", "", _AFTER_ROW),
        ),
        "more barriers than needed": (_with(_ALL, "", _AFTER_TAP), _with(_ALL, "", _AFTER_ROW)),
        "threads leave before the barrier": (
            ("    float sum = 0.0f;\n", "    if (p >= P || q >= Q) return;\n    float sum = 0.0f;\n"),
        ),
        "barriers for the first channel alone": (
            _with(_if("c == 0"), _if("c == 0")),
            _with(_if("c == 0"), ""),
        ),
    },
)

EXERCISE = Exercise(
    id="05-barriers",
    notebook="05_tiles",
    title="Place the barriers",
    points=3,
    kind="kernel",
    function="ordered",
    stub=f"return;  // take this line out, and place the barriers below\n{_GIVEN}",
    cases=_cases,
    oracle=conv_oracle,
    tolerance=conv_tolerance,
    mutants=_MUTANTS,
    kernel=Kernel("conv", _launch, letters={"x": "nchw", "w": "kcrs", "y": "nkpq"}),
    budgets=(
        Budget(
            "barriers",
            "waits of a warp at a barrier",
            _most_waits,
            "two barriers for each channel and one more, for the two warps of each block",
        ),
    ),
    hints=(
        "Which pairs of an access and another one to the same word, by different threads, have to keep their order?",
        "There are two: storing before reading, and reading before the next channel is stored. Each needs a barrier "
        "that all threads of the block come by.",
    ),
    seconds=20.0,
)
