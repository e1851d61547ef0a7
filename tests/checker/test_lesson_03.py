"""Exercise 03: right kernels that are written differently pass, and the one that question 2 gives does not."""

import json
import re
from pathlib import Path

import pytest

from convlab.checker import check
from convlab.executors.compile import compile

ROOT = Path(__file__).parents[2]
SIGNATURE = """
extern "C" __global__ void conv(const float* x, const float* w, float* y,
                                int C, int H, int W, int K, int R, int S, int P, int Q) {
"""
LOOPS = """
    float sum = 0.0f;
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s)
                sum += x[((n * C + c) * H + p + r) * W + q + s] * w[((k * C + c) * R + r) * S + s];
    y[((n * K + k) * P + p) * Q + q] = sum;
"""
POINTERS = """
    const float* window = x + (size_t)n * C * H * W + p * W + q;
    const float* weight = w + k * C * R * S;
    double sum = 0;
    for (int c = 0; c < C; ++c, window += H * W)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s) sum += (double)window[r * W + s] * *weight++;
    y[n * K * P * Q + k * P * Q + p * Q + q] = sum;
"""
BACKWARDS = """
    float sum = 0.0f;
    for (int s = S; s-- > 0;)
        for (int r = R; r-- > 0;)
            for (int c = C; c-- > 0;)
                sum = fmaf(x[((n * C + c) * H + r + p) * W + s + q], w[k * C * R * S + c * R * S + r * S + s], sum);
    y[((n * K + k) * P + p) * Q + q] = sum;
"""
NAMED = "int k = blockIdx.y, n = blockIdx.z, i = blockIdx.x * blockDim.x + threadIdx.x;"
INDEX = {
    "pointers and double": f"{NAMED} if (i >= P * Q) return; int p = i / Q, q = i - p * Q; {POINTERS}",
    "no early return": f"{NAMED} if (i < P * Q) {{ int p = i / Q, q = i % Q; {LOOPS} }}",
    "backwards": f"{NAMED} int p = i / Q, q = i % Q; if (p >= P) return; {BACKWARDS}",
    "a stride of the grid": f"""
    int k = blockIdx.y, n = blockIdx.z;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < P * Q; i += gridDim.x * blockDim.x) {{
        int p = i / Q, q = i % Q; {LOOPS} }}""",
}
PLANE = "int n = blockIdx.z / K, k = blockIdx.z - n * K;"
THREAD = "int thread = threadIdx.y * blockDim.x + threadIdx.x;"
MAPPING = {
    "pointers and double": f"""{PLANE}
    int p = blockIdx.y * 8 + threadIdx.y, q = blockIdx.x * 32 + threadIdx.x; if (p < P && q < Q) {{ {POINTERS} }}""",
    "by the thread's number": f"""{PLANE} {THREAD}
    int p = blockIdx.y * 8 + thread / 32, q = blockIdx.x * 32 + thread % 32; if (p >= P || q >= Q) return; {LOOPS}""",
    "lanes from right to left": f"""{PLANE}
    int p = blockIdx.y * 8 + threadIdx.y, q = blockIdx.x * 32 + 31 - threadIdx.x;
    if (p >= P || q >= Q) return; {LOOPS}""",
    "rows from below": f"""{PLANE}
    int p = blockIdx.y * 8 + 7 - threadIdx.y, q = blockIdx.x * 32 + threadIdx.x;
    if (p >= P || q >= Q) return; {BACKWARDS}""",
}
ANSWERS = [("03-index", name, body) for name, body in INDEX.items()]
ANSWERS += [("03-mapping", name, body) for name, body in MAPPING.items()]


@pytest.mark.parametrize(("exercise_id", "name", "body"), ANSWERS)
@pytest.mark.parametrize("seed", range(3))
def test_right_kernels_pass(exercise_id, name, body, seed):
    verdict = check(exercise_id, compile(f"{SIGNATURE}{body}}}", name=f"{name}.cu"), seed=seed)
    assert verdict.passed, verdict


def test_the_given_kernel_is_right_and_over_its_budget():
    cells = json.loads((ROOT / "exercises" / "03_one_thread.ipynb").read_text("utf-8"))["cells"]
    source = next("".join(cell["source"]) for cell in cells if cell["id"] == "03-given")
    verdict = check("03-mapping", compile(source.partition("\n")[2], name="given.cu"))
    assert not verdict.passed
    assert verdict.diagnosis == "lanes of a warp in several rows"
    assert re.search(r"needs [\d,]+ sectors loaded; [\d,]+ are enough for warps", verdict.message), verdict.message
