"""Exercise 08, question 2: 2 × 2 outputs a thread, so that each number from shared memory serves two multiply-adds."""

from __future__ import annotations

import numpy as np

from convlab.checker.exercises.cuda import mutants_of
from convlab.checker.exercises.e08_blocked import LETTERS, gemm_cases, gemm_oracle, gemm_tolerance
from convlab.checker.exercises.taps import Array
from convlab.checker.record import Budget, Case, Exercise, Kernel, Shape
from convlab.kernels.tiling import ceil_div

__all__ = ["ANSWER", "EXERCISE"]

TILE, STEP = 16, 8  # of y in either direction; of k
SIDE = 8  # threads of a block in either direction, with 2 × 2 outputs each

ANSWER = """
constexpr int B = 16, BK = 8;  // 8 × 8 threads compute B × B elements of y, in steps of BK along k
__shared__ float As[BK][B + 4], Bs[BK][B];       // [k][m], [k][n]

__device__ void load(const float* a, const float* b, int m0, int n0, int k0, int M, int N, int K) {
    for (int i = threadIdx.y * 8 + threadIdx.x; i < B * BK; i += 64) {
        int m = m0 + i / BK, k = k0 + i % BK, row = k0 + i / B, n = n0 + i % B;
        As[i % BK][i / BK] = m < M && k < K ? a[m * K + k] : 0.0f;
        Bs[i / B][i % B] = row < K && n < N ? b[row * N + n] : 0.0f;
    }
}

extern "C" __global__ void gemm(const float* a, const float* b, float* y, int M, int N, int K) {
    int m0 = blockIdx.y * B, n0 = blockIdx.x * B;  // where the block's tile begins
    int m = threadIdx.y * 2, n = threadIdx.x * 2;  // and the thread's, within it
    float sum[2][2] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        load(a, b, m0, n0, k0, M, N, K);
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j) sum[i][j] += As[k][m + i] * Bs[k][n + j];
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            if (m0 + m + i < M && n0 + n + j < N) y[(m0 + m + i) * N + n0 + n + j] = sum[i][j];
}
"""


def _cases(rng: np.random.Generator) -> list[Case]:
    """A single tile and two steps; then tiles that hang over every edge, by an odd number of rows and columns."""
    return gemm_cases(rng, [(16, 16, 16), (int(rng.choice([19, 21])), 37, 13), (33, 18, int(rng.choice([25, 27])))])


def _launch(a: Array, b: Array) -> tuple[Shape, Shape, int]:
    return _grid(a, b), (SIDE, SIDE), 0


def _grid(a: Array, b: Array) -> tuple[int, int]:
    return ceil_div(b.shape[1], TILE), ceil_div(a.shape[0], TILE)


def _most_read(a: Array, b: Array) -> float:
    """Four bytes for each multiply-add, those with zeros behind the edges among them."""
    across, down = _grid(a, b)
    return 4 * across * down * TILE * TILE * STEP * ceil_div(a.shape[1], STEP)


_LOADED = "        __syncthreads();\n        for"
_READ = "Bs[k][n + j];\n        __syncthreads();\n"
_SUM = "sum[i][j] += As[k][m + i] * Bs[k][n + j]"
_LOAD = "        load(a"
_PLACE = "y[(m0 + m + i) * N + n0 + n + j]"
_OUTPUT = "if (m0 + m + i < M && n0 + n + j < N)"
_BODY = ANSWER[ANSWER.index("    float sum[2][2]") : ANSWER.rindex("}")]
_ONE_BY_ONE = """    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            float sum = 0.0f;
            for (int k0 = 0; k0 < K; k0 += BK) {
                load(a, b, m0, n0, k0, M, N, K);
                __syncthreads();
                for (int k = 0; k < BK; ++k) sum += As[k][m + i] * Bs[k][n + j];
                __syncthreads();
            }
            if (m0 + m + i < M && n0 + n + j < N) y[(m0 + m + i) * N + n0 + n + j] = sum;
        }
"""

_MUTANTS = mutants_of(
    ANSWER,
    {
        "outputs computed one after the other": ((_BODY, _ONE_BY_ONE),),
        "one sum for all four outputs": ((_SUM, _SUM.replace("[i][j]", "[0][0]")),),
        "tiles of neighbouring threads overlap": (
            ("m = threadIdx.y * 2, n = threadIdx.x * 2", "m = threadIdx.y, n = threadIdx.x"),
        ),
        "second row multiplied as the first": ((_SUM, _SUM.replace("m + i", "m")),),
        "second column multiplied as the first": ((_SUM, _SUM.replace("n + j", "n")),),
        "row and column of the tile swapped": (
            (_SUM, _SUM.replace("As[k][m + i]", "As[m + i][k]")),
            (_SUM, _SUM.replace("Bs[k][n + j]", "Bs[n + j][k]")),
        ),
        "place in the matrix taken for one in the tile": (
            (_SUM, _SUM.replace("[k]", "[k0 + k]")),
            (_SUM, _SUM.replace("m + i", "m0 + m + i").replace("n + j", "n0 + n + j")),
        ),
        "place in the tile taken for one in the matrix": (
            (_PLACE, "y[(m + i) * N + n + j]"),
            (_PLACE, "y[(m0 + m + i) * N + n + j]"),
        ),
        "row of another matrix": ((_PLACE, _PLACE.replace("* N", "* M")), (_PLACE, _PLACE.replace("* N", "* K"))),
        "the two outputs off the diagonal exchanged": (("= sum[i][j];", "= sum[j][i];"),),
        "one output a thread": ((_BODY, _BODY.replace("i < 2", "i < 1").replace("j < 2", "j < 1")),),
        "sum begins anew with each step": (
            (_LOAD, f"        sum[0][0] = sum[0][1] = sum[1][0] = sum[1][1] = 0.0f;\n{_LOAD}"),
        ),
        "last step of k left out": (("k0 < K; k0 += BK", "k0 + BK <= K; k0 += BK"),),
        "steps as long as the tile is wide": (("k0 += BK", "k0 += B"),),
        "threads without an output leave": (
            (_BODY, f"    if (m0 + m >= M || n0 + n >= N) return;\n{_BODY}"),
            (_LOAD, f"if (m0 + m < M && n0 + n < N) {_LOAD}"),
        ),
        "outputs behind the edge stored": ((f"{_OUTPUT} y[", "y["),),
        "places in the two tiles exchanged": ((_SUM, "sum[i][j] += As[k][n + j] * Bs[k][m + i]"),),
        "edge tested for the first output alone": ((_OUTPUT, "if (m0 + m < M && n0 + n < N)"),),
        "tiles that hang over the edge dropped": ((_OUTPUT, "if (m0 + m + 1 < M && n0 + n + 1 < N)"),),
        "tile read before it is stored": (
            (_LOADED, "        for"),
            (_BODY, _BODY.replace("        __syncthreads();\n", "")),
        ),
        "tile stored while it is read": ((_READ, "Bs[k][n + j];\n"),),
        "k runs over more rows than the tile has": (("k < BK; ++k)", "k < B; ++k)"),),
    },
)

EXERCISE = Exercise(
    id="08-register",
    notebook="08_gemm",
    title="A register tile",
    points=6,
    kind="kernel",
    function="register_tile",
    stub="// four sums; walk along k in steps of BK: load, wait, multiply, wait; then store up to four outputs",
    cases=_cases,
    oracle=gemm_oracle,
    tolerance=gemm_tolerance,
    mutants=_MUTANTS,
    kernel=Kernel("gemm", _launch, letters=LETTERS),
    budgets=(
        Budget(
            "thread_bytes_shared_load",
            "bytes read from shared memory",
            _most_read,
            "four for each multiply-add, which is one number",
        ),
    ),
    hints=(
        "For each k a thread needs two numbers of As and two of Bs. Which four products do they give, and into which "
        "sums do these go?",
        "Let m = 2 · threadIdx.y and n = 2 · threadIdx.x. Then sum[i][j] gets As[k][m + i] · Bs[k][n + j]. Test each "
        "of the four outputs by itself before you store it.",
    ),
    seconds=20.0,
)
