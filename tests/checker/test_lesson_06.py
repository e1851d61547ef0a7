"""Exercise 06: right kernels that are written differently pass, and saved loads are what the budgets are about."""

import pytest

from convlab.checker import check
from convlab.checker.exercises import e06_filters, e06_pixels
from convlab.executors.compile import compile

SIGNATURE = """
extern "C" __global__ void conv(const float* x, const float* w, float* y,
                                int C, int H, int W, int K, int R, int S, int P, int Q) {
"""
PIXEL = """
    int pixel = blockIdx.x * blockDim.x + threadIdx.x, n = blockIdx.z;
    if (pixel >= P * Q) return;
    int p = pixel / Q, q = pixel % Q;
"""
FILTERS = {
    "an array of sums, a test at each weight": f"""{PIXEL}
    int k = blockIdx.y * 2;
    float sum[2] = {{}};
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s) {{
                float value = x[((n * C + c) * H + p + r) * W + q + s];
                for (int t = 0; t < 2; ++t)
                    if (k + t < K) sum[t] += value * w[(((k + t) * C + c) * R + r) * S + s];
            }}
    for (int t = 0; t < 2; ++t)
        if (k + t < K) y[((n * K + k + t) * P + p) * Q + q] = sum[t];""",
    "filters half of them apart": f"""{PIXEL}
    int k = blockIdx.y, other = min(k + (int)gridDim.y, K - 1);
    double sum = 0, another = 0;
    for (int i = 0; i < C * R * S; ++i) {{
        float value = x[((n * C + i / (R * S)) * H + p + i / S % R) * W + q + i % S];
        sum += value * w[k * C * R * S + i];
        another += value * w[other * C * R * S + i];
    }}
    y[((n * K + k) * P + p) * Q + q] = sum;
    if (k + gridDim.y < K) y[((n * K + other) * P + p) * Q + q] = another;""",
    "the pixel written twice, loaded once": f"""{PIXEL}
    int k = 2 * blockIdx.y, step = k + 1 < K ? C * R * S : 0;
    float sum0 = 0.0f, sum1 = 0.0f;
    for (int s = 0; s < S; ++s)
        for (int r = 0; r < R; ++r)
            for (int c = 0; c < C; ++c) {{
                sum0 += x[((n * C + c) * H + p + r) * W + q + s] * w[((k * C + c) * R + r) * S + s];
                sum1 += x[((n * C + c) * H + p + r) * W + q + s] * w[((k * C + c) * R + r) * S + s + step];
            }}
    y[((n * K + k) * P + p) * Q + q] = sum0;
    if (step) y[((n * K + k + 1) * P + p) * Q + q] = sum1;""",
}
GROUP = """
    int group = blockIdx.x * blockDim.x + threadIdx.x, across = (Q + 3) / 4, k = blockIdx.y, n = blockIdx.z;
    if (group >= P * across) return;
    int p = group / across;
"""
PIXELS = {
    "pixels apart, so that lanes are neighbours": f"""{GROUP}
    double sum[4] = {{}};
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s) {{
                float weight = w[((k * C + c) * R + r) * S + s];
                for (int t = 0; t < 4; ++t) {{
                    int q = group % across + t * across;
                    if (q < Q) sum[t] += weight * x[((n * C + c) * H + p + r) * W + q + s];
                }}
            }}
    for (int t = 0; t < 4; ++t) {{
        int q = group % across + t * across;
        if (q < Q) y[((n * K + k) * P + p) * Q + q] = sum[t];
    }}""",
    "columns clamped, not tested": f"""{GROUP}
    int q = 4 * (group - p * across);
    float a = 0, b = 0, c = 0, d = 0;
    for (int i = 0; i < C * R * S; ++i) {{
        const float* row = x + ((n * C + i / (R * S)) * H + p + i / S % R) * W + i % S;
        float weight = w[k * C * R * S + i];
        a += weight * row[q];
        b += weight * row[min(q + 1, Q - 1)];
        c += weight * row[min(q + 2, Q - 1)];
        d += weight * row[min(q + 3, Q - 1)];
    }}
    float* out = y + ((n * K + k) * P + p) * Q;
    out[q] = a;
    if (q + 1 < Q) out[q + 1] = b;
    if (q + 2 < Q) out[q + 2] = c;
    if (q + 3 < Q) out[q + 3] = d;""",
    "a window of registers that moves along": f"""{GROUP}
    int q = group % across * 4;
    float sum[4] = {{}};
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r) {{
            const float* row = x + ((n * C + c) * H + p + r) * W + q;
            float value[4];
            for (int t = 0; t < 3; ++t) value[t + 1] = q + t < W ? row[t] : 0.0f;
            for (int s = 0; s < S; ++s) {{
                float weight = w[((k * C + c) * R + r) * S + s];
                for (int t = 0; t < 3; ++t) value[t] = value[t + 1];
                value[3] = q + s + 3 < W ? row[s + 3] : 0.0f;
                for (int t = 0; t < 4; ++t) sum[t] += weight * value[t];
            }}
        }}
    for (int t = 0; t < 4; ++t)
        if (q + t < Q) y[((n * K + k) * P + p) * Q + q + t] = sum[t];""",
}
ANSWERS = [("06-filters", name) for name in FILTERS] + [("06-pixels", name) for name in PIXELS]


@pytest.mark.parametrize(("exercise", "name"), ANSWERS)
@pytest.mark.parametrize("seed", range(3))
def test_right_kernels_pass(exercise, name, seed):
    verdict = check(exercise, compile(f"{SIGNATURE}{(FILTERS | PIXELS)[name]}\n}}\n"), seed=seed)
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    ("exercise", "answer", "way", "most"),
    [
        ("06-filters", e06_filters, "pixels loaded again for the second filter", "a pixel and two weights"),
        ("06-pixels", e06_pixels, "weight loaded for each pixel", "a weight and four pixels"),
    ],
)
def test_right_outputs_with_too_many_loads_are_told_the_budget(exercise, answer, way, most):
    mutant = next(each for each in answer.EXERCISE.mutants if each.name == way)
    verdict = check(exercise, compile(mutant.ways[0]))
    assert not verdict.passed
    assert verdict.diagnosis == way
    assert "load requests" in verdict.message
    assert most in verdict.message
