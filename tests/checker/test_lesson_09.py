"""Exercise 09: right kernels that are written differently pass, and what the task says of its budget is true."""

import numpy as np
import pytest

from convlab.checker import check, exercise
from convlab.checker.exercises import e09_element, e09_hoist
from convlab.executors.compile import compile
from convlab.executors.launch import launch

BODY = e09_element.ANSWER[e09_element.ANSWER.index("    int r = k") : e09_element.ANSWER.index("}\n\nextern")]
ELEMENT = {
    "from the last index up": """
    int c = k % C, s = (k /= C) % S, r = k / S;
    int q = n % Q, p = (n /= Q) % P, number = n / P;
    image += (number * C + c) * H * W;
    unsigned h = p * stride + r * dilation - pad_top, col = q * stride + s * dilation - pad_left;
    return h < H && col < W ? image[h * W + col] : 0.0f;
""",
    "by subtracting": """
    int r = 0, s = 0, number = 0, p = 0;
    while (k >= S * C) { k -= S * C; ++r; }
    while (k >= C) { k -= C; ++s; }
    while (n >= P * Q) { n -= P * Q; ++number; }
    while (n >= Q) { n -= Q; ++p; }
    int h = p * stride + r * dilation, col = n * stride + s * dilation;
    bool inside = pad_top <= h && h < pad_top + H && pad_left <= col && col < pad_left + W;
    return inside ? image[number * C * H * W + k * H * W + (h - pad_top) * W + col - pad_left] : 0.0f;
""",
    "with few divisions": """
    int plane = n % (P * Q), tap = k / C;
    int h = plane / Q * stride - pad_top + tap / S * dilation;
    int col = plane % Q * stride - pad_left + tap % S * dilation;
    int channel = (n - plane) / (P * Q) * C + k - tap * C;
    if (h != min(max(h, 0), H - 1) || col != min(max(col, 0), W - 1)) return 0;
    return image[(channel * H + h) * W + col];
""",
}
INSIDE = "        int p = n / Q, q = n % Q;\n"
START = "int p = n / Q, q = n % Q;\n"
HOIST = {
    "three loops": f"""{START}
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s)
                sum += w[((f * C + c) * R + r) * S + s] * x[((image * C + c) * H + p + r) * W + q + s];
""",
    "three loops and a counter": f"""{START}
    const float* weight = w + f * gemm_k;
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s) sum += *weight++ * x[((image * C + c) * H + p + r) * W + q + s];
""",
    "counting, and whole addresses": f"""{START}
    int c = 0, r = 0, s = 0;
    for (int k = 0; k < gemm_k; ++k) {{
        sum += w[f * gemm_k + k] * x[((image * C + c) * H + p + r) * W + q + s];
        if (++s < S) continue;
        s = 0;
        if (++r < R) continue;
        r = 0;
        ++c;
    }}
""",
    "backwards": f"""{START}
    const float *pixel = x + ((image * C + C - 1) * H + p + R - 1) * W + q + S - 1, *weight = w + f * gemm_k + gemm_k;
    for (int c = C; c > 0; --c, pixel -= (H - R) * W)
        for (int r = R; r > 0; --r, pixel -= W - S)
            for (int s = S; s > 0; --s) sum += *--weight * *pixel--;
""",
}


def changed(source, old, new):
    assert source.count(old) == 1
    return source.replace(old, new)


ANSWERS = [("09-element", name, changed(e09_element.ANSWER, BODY, text)) for name, text in ELEMENT.items()]
ANSWERS += [("09-hoist", name, changed(e09_hoist.ANSWER, e09_hoist.LOOP, text)) for name, text in HOIST.items()]


@pytest.mark.parametrize(("exercise_id", "name", "source"), ANSWERS, ids=[name for _, name, _ in ANSWERS])
@pytest.mark.parametrize("seed", range(3))
def test_right_kernels_pass(exercise_id, name, source, seed):
    verdict = check(exercise_id, compile(source, name="mine.cu"), seed=seed)
    assert verdict.passed, verdict


def test_right_outputs_by_dividing_are_told_the_budget():
    verdict = check("09-hoist", compile(e09_hoist.GIVEN, name="given.cu"))
    assert not verdict.passed
    assert verdict.diagnosis == "divisions left in the loop"
    assert "integer instructions" in verdict.message
    assert "enough for a loop that counts" in verdict.message


def test_no_hint_asks_for_what_the_task_calls_useless():
    columns_outside = changed(e09_hoist.GIVEN, "    for (int k", "    int p = n / Q, q = n % Q;\n    for (int k")
    verdict = check("09-hoist", compile(changed(columns_outside, INSIDE, ""), name="mine.cu"))
    assert verdict.diagnosis == "divisions left in the loop"
    for hint in (verdict.hint, *e09_hoist.EXERCISE.hints):
        assert "What of the loop's body depends on n alone" not in hint


@pytest.mark.parametrize("seed", range(5))
def test_what_the_task_says_of_its_budget_is_true(seed):
    sources = {"given": e09_hoist.GIVEN} | {
        name: source for exercise, name, source in ANSWERS if exercise == "09-hoist"
    }
    per_product = {name: [] for name in sources}
    for case in exercise("09-hoist").cases(np.random.default_rng(seed)):
        grid, block, _ = e09_hoist.EXERCISE.kernel.launch(*case.known)
        for name, source in sources.items():
            kernel = compile(source, name="mine.cu").kernels["conv"]
            run = launch(kernel, grid, block, [*case.arguments.values()], device="emulator")
            per_product[name].append(run.counters.thread_instructions_integer / case.given["spec"].macs)
    assert 14 < min(per_product["given"]) <= max(per_product["given"]) < 15
    counting = [value for name in HOIST for value in per_product[name]]
    assert 4 <= min(counting) <= max(counting) < 10.5 < e09_hoist.PER_PRODUCT
