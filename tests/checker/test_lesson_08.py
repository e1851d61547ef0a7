"""Exercise 08: right kernels that are written differently pass, and reuse is what the budgets are about."""

import pytest

from convlab.checker import check
from convlab.checker.exercises import e08_blocked, e08_register
from convlab.executors.compile import compile

# What the tasks give, up to where the answers begin.
GIVEN = {
    "08-blocked": e08_blocked.ANSWER[: e08_blocked.ANSWER.index("    float sum")],
    "08-register": e08_register.ANSWER[: e08_register.ANSWER.index("    int m = threadIdx")],
}
BLOCKED = {
    "the tile of b turned over, in double precision": """
    double sum = 0;
    for (int first = 0; first < K; first += T) {
        int left = min(T, K - first);
        As[ty][tx] = m < M && tx < left ? a[m * K + first + tx] : 0.0f;
        Bs[tx][ty] = n < N && ty < left ? b[(first + ty) * N + n] : 0.0f;
        __syncthreads();
        for (int k = left; k-- > 0;) sum += As[ty][k] * Bs[tx][k];
        __syncthreads();
    }
    if (m < M && n < N) y[m * N + n] = (float)sum;""",
    "places clamped, and the loop cut short": """
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = a[min(m, M - 1) * K + min(k0 + tx, K - 1)];
        Bs[ty][tx] = b[min(k0 + ty, K - 1) * N + min(n, N - 1)];
        __syncthreads();
        for (int k = 0; k < T && k0 + k < K; ++k) sum = fmaf(As[ty][k], Bs[k][tx], sum);
        __syncthreads();
    }
    if (m < M && n < N) y[m * N + n] = sum;""",
    "the next elements in registers, barriers first and last": """
    float sum = 0.0f, left, right;
    for (int k0 = -T; k0 < K; k0 += T) {
        int row = k0 + T + ty, column = k0 + T + tx;
        left = m < M && column < K ? a[m * K + column] : 0.0f;
        right = n < N && row < K ? b[row * N + n] : 0.0f;
        if (k0 >= 0)
            for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
        As[ty][tx] = left, Bs[ty][tx] = right;
        __syncthreads();
    }
    if (m >= M || n >= N) return;
    y[m * N + n] = sum;""",
}
REGISTER = {
    "outputs half a tile apart": """
    int tx = threadIdx.x, ty = threadIdx.y;
    float sum[2][2] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        __syncthreads();
        load(a, b, m0, n0, k0, M, N, K);
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j) sum[i][j] += As[k][ty + 8 * i] * Bs[k][tx + 8 * j];
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            if (m0 + ty + 8 * i < M && n0 + tx + 8 * j < N) y[(m0 + ty + 8 * i) * N + n0 + tx + 8 * j] = sum[i][j];""",
    "four numbers with names": """
    int m = 2 * threadIdx.y, n = 2 * threadIdx.x;
    double c00 = 0, c01 = 0, c10 = 0, c11 = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        load(a, b, m0, n0, k0, M, N, K);
        __syncthreads();
        for (int k = 0; k < min(BK, K - k0); ++k) {
            float a0 = As[k][m], a1 = As[k][m + 1], b0 = Bs[k][n], b1 = Bs[k][n + 1];
            c00 += a0 * b0, c01 += a0 * b1, c10 += a1 * b0, c11 += a1 * b1;
        }
        __syncthreads();
    }
    m += m0, n += n0;
    if (m < M && n < N) y[m * N + n] = c00;
    if (m < M && n + 1 < N) y[m * N + n + 1] = c01;
    if (m + 1 < M && n < N) y[(m + 1) * N + n] = c10;
    if (m + 1 < M && n + 1 < N) y[(m + 1) * N + n + 1] = c11;""",
    "x and y of the threads exchanged": """
    int m = 2 * threadIdx.x, n = 2 * threadIdx.y;
    float sum[4] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        load(a, b, m0, n0, k0, M, N, K);
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            float2 row = {As[k][m], As[k][m + 1]}, column = {Bs[k][n], Bs[k][n + 1]};
            sum[0] += row.x * column.x, sum[1] += row.x * column.y;
            sum[2] += row.y * column.x, sum[3] += row.y * column.y;
        }
        __syncthreads();
    }
    for (int t = 0; t < 4; ++t)
        if (m0 + m + t / 2 < M && n0 + n + t % 2 < N) y[(m0 + m + t / 2) * N + n0 + n + t % 2] = sum[t];""",
}
ANSWERS = [("08-blocked", name) for name in BLOCKED] + [("08-register", name) for name in REGISTER]


@pytest.mark.parametrize(("exercise", "name"), ANSWERS)
@pytest.mark.parametrize("seed", range(3))
def test_right_kernels_pass(exercise, name, seed):
    verdict = check(exercise, compile(f"{GIVEN[exercise]}{(BLOCKED | REGISTER)[name]}\n}}\n"), seed=seed)
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    ("exercise", "answer", "way", "words"),
    [
        ("08-blocked", e08_blocked, "factors read from global memory all the same", "sectors loaded"),
        ("08-register", e08_register, "outputs computed one after the other", "bytes read from shared memory"),
    ],
)
def test_right_outputs_without_reuse_are_told_the_budget(exercise, answer, way, words):
    mutant = next(each for each in answer.EXERCISE.mutants if each.name == way)
    verdict = check(exercise, compile(mutant.ways[0]))
    assert not verdict.passed
    assert verdict.diagnosis == way
    assert words in verdict.message
