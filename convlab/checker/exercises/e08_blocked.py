"""Exercise 08, question 1: a matrix product whose blocks bring tiles of both factors to shared memory."""

from __future__ import annotations

import numpy as np

from convlab.checker.compare import rounding_bound
from convlab.checker.exercises.cuda import mutants_of
from convlab.checker.exercises.taps import Array, random_values
from convlab.checker.record import Budget, Case, Exercise, Floats, Kernel, Shape
from convlab.kernels.tiling import ceil_div

__all__ = ["ANSWER", "EXERCISE", "LETTERS", "gemm_cases", "gemm_oracle", "gemm_tolerance"]

TILE = 16  # elements of y that a block computes, in either direction, and its threads
LETTERS = {"a": "mk", "b": "kn", "y": "mn"}

ANSWER = """
constexpr int T = 16;  // a block has T × T threads, and computes T × T elements of y

extern "C" __global__ void gemm(const float* a, const float* b, float* y, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];         // [m][k], [k][n]
    int tx = threadIdx.x, ty = threadIdx.y;
    int m = blockIdx.y * T + ty, n = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = m < M && k0 + tx < K ? a[m * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = n < N && k0 + ty < K ? b[(k0 + ty) * N + n] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (m < M && n < N) y[m * N + n] = sum;
}
"""


def _cases(rng: np.random.Generator) -> list[Case]:
    """A single tile, then several that hang over every edge, then few columns and long sums."""
    return gemm_cases(rng, [(16, 16, 16), (21, int(rng.choice([37, 41])), 19), (35, 18, int(rng.choice([37, 39])))])


def gemm_cases(rng: np.random.Generator, sizes: list[tuple[int, int, int]]) -> list[Case]:
    """Products of M × K and K × N as a kernel's arguments; ``sizes`` are M, N, K."""
    return [_case(rng, *each) for each in sizes]


def _case(rng: np.random.Generator, m: int, n: int, k: int) -> Case:
    a, b = random_values(rng, m, k), random_values(rng, k, n)
    ints = {name: np.int32(value) for name, value in {"M": m, "N": n, "K": k}.items()}
    return Case(
        {"a": a, "b": b, "y": np.zeros((m, n), np.float32), **ints},
        axes=("m", "n"),
        given={"a": a, "b": b},
        words=f"M={m}, N={n}, K={k}",
    )


def gemm_oracle(a: Array, b: Array) -> Floats:
    """The product in float64."""
    return np.asarray(a.astype(np.float64) @ b.astype(np.float64))


def gemm_tolerance(a: Array, b: Array) -> Floats:
    """The error that rounding in float32 may make of it."""
    return rounding_bound(terms=a.shape[1], magnitude=gemm_oracle(np.abs(a), np.abs(b)), dtype=a.dtype)


def _launch(a: Array, b: Array) -> tuple[Shape, Shape, int]:
    return (ceil_div(b.shape[1], TILE), ceil_div(a.shape[0], TILE)), (TILE, TILE), 0


def _most_sectors(a: Array, b: Array) -> float:
    """Half of four for each k and each warp that has outputs, which is two rows of 16."""
    rows, depth = a.shape
    return float(2 * depth * ceil_div(rows, 2) * ceil_div(b.shape[1], TILE))


_LOOP = ANSWER[ANSWER.index("    for (int k0") : ANSWER.index("    if (m < M && n < N) y")]
_NO_TILES = """    if (m < M && n < N)
        for (int k = 0; k < K; ++k) sum += a[m * K + k] * b[k * N + n];
"""
_A, _B = "a[m * K + k0 + tx]", "b[(k0 + ty) * N + n]"
_A_TILE = f"As[ty][tx] = m < M && k0 + tx < K ? {_A} : 0.0f"
_B_TILE = f"Bs[ty][tx] = n < N && k0 + ty < K ? {_B} : 0.0f"
_SUM = "As[ty][k] * Bs[k][tx]"
_LOADED = "        __syncthreads();\n        for"
_READ = "Bs[k][tx];\n        __syncthreads();\n"

_MUTANTS = mutants_of(
    ANSWER,
    {
        "factors read from global memory all the same": ((_LOOP, _NO_TILES),),
        "tile read before it is stored": (
            (_LOADED, "        for"),
            (_LOOP, _LOOP.replace("        __syncthreads();\n", "")),
        ),
        "tile stored while it is read": ((_READ, "Bs[k][tx];\n"),),
        "last step of k left out": (("k0 < K; k0 += T", "k0 + T <= K; k0 += T"),),
        "edges not tested at the loads": (
            (ANSWER, ANSWER.replace(" && k0 + tx < K", "").replace(" && k0 + ty < K", "")),
            (" && k0 + ty < K", ""),
            (" && k0 + tx < K", ""),
            ("m < M && k0", "k0"),
            (ANSWER, ANSWER.replace("m < M && k0", "k0").replace("n < N && k0", "k0")),
        ),
        "threads without an output leave": (
            ("    float sum = 0.0f;\n", "    if (m >= M || n >= N) return;\n    float sum = 0.0f;\n"),
        ),
        "row and column of the tile swapped": (
            ("Bs[k][tx]", "Bs[tx][k]"),
            (_SUM, "As[k][ty] * Bs[k][tx]"),
            (_SUM, "As[k][ty] * Bs[tx][k]"),
        ),
        "places in the two tiles exchanged": ((_SUM, "As[tx][k] * Bs[k][ty]"),),
        "row of another matrix": (
            (_A, "a[m * N + k0 + tx]"),
            (_B, "b[(k0 + ty) * K + n]"),
            ("y[m * N + n]", "y[m * K + n]"),
        ),
        "b read as if it were transposed": ((_B, "b[n * K + k0 + ty]"),),
        "element of another thread loaded": (
            (_A_TILE, _A_TILE.replace("k0 + tx", "k0 + ty")),
            (_B_TILE, _B_TILE.replace("k0 + ty", "k0 + tx")),
        ),
        "places behind the edge left as they were": (
            (
                _LOOP,
                _LOOP.replace(_A_TILE, f"if (m < M && k0 + tx < K) As[ty][tx] = {_A}").replace(
                    _B_TILE, f"if (n < N && k0 + ty < K) Bs[ty][tx] = {_B}"
                ),
            ),
        ),
        "every step loads the first tiles": ((_LOOP, _LOOP.replace(_A, "a[m * K + tx]").replace(_B, "b[ty * N + n]")),),
        "products of a tile counted by K": (("k < T; ++k", "k < K; ++k"),),
        "sum begins anew with each step": (("k0 += T) {\n", "k0 += T) {\n        sum = 0.0f;\n"),),
        "outputs behind the edge stored": (("    if (m < M && n < N) y[", "    y["),),
    },
)

EXERCISE = Exercise(
    id="08-blocked",
    notebook="08_gemm",
    title="A blocked GEMM",
    points=5,
    kind="kernel",
    function="blocked",
    stub="// walk along k in steps of T: load both tiles, wait, multiply, wait; then store",
    cases=_cases,
    oracle=gemm_oracle,
    tolerance=gemm_tolerance,
    mutants=_MUTANTS,
    kernel=Kernel("gemm", _launch, letters=LETTERS),
    budgets=(
        Budget("sectors_global_load", "sectors loaded", _most_sectors, "half of what a kernel without tiles loads"),
    ),
    hints=(
        "In the step that begins with k0, thread (ty, tx) brings one element of each tile. Which row and column of a "
        "is As[ty][tx], and which of b is Bs[ty][tx]?",
        "It is a[m][k0 + tx] and b[k0 + ty][n], or zero where that lies outside. Every thread of the block has to "
        "load and to wait, whether it has an output or not.",
    ),
    seconds=20.0,
)
