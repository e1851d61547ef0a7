"""Exercise 09, question 2: an implicit GEMM whose loop divides, made to count instead, within a budget."""

from __future__ import annotations

import numpy as np

from convlab.checker.exercises.cuda import conv_case, conv_oracle, conv_tolerance, mutants_of
from convlab.checker.exercises.e09_element import THREADS
from convlab.checker.exercises.taps import Array
from convlab.checker.record import Budget, Case, Exercise, Kernel, Shape
from convlab.kernels.tiling import ceil_div
from convlab.spec import ConvSpec

__all__ = ["ANSWER", "EXERCISE", "GIVEN", "LOOP", "PER_PRODUCT"]

_HEAD = """
extern "C" __global__ void conv(const float* x, const float* w, float* y, int C, int H, int W,
                                int K, int R, int S, int P, int Q) {
    int n = blockIdx.x * blockDim.x + threadIdx.x, f = blockIdx.y, image = blockIdx.z;
    if (n >= P * Q) return;
    int gemm_k = C * R * S;
    float sum = 0.0f;
"""
_DIVIDING = """\
for (int k = 0; k < gemm_k; ++k) {
    int c = k / (R * S), r = k / S % R, s = k % S;
    int p = n / Q, q = n % Q;
    sum += w[f * gemm_k + k] * x[((image * C + c) * H + p + r) * W + q + s];
}
"""
_COUNTING = """\
int p = n / Q, q = n % Q, r = 0, s = 0;
const float *pixel = x + (image * C * H + p) * W + q, *weight = w + f * gemm_k;
for (int k = 0; k < gemm_k; ++k) {
    sum += weight[k] * *pixel++;
    if (++s == S) {              // the end of a row of the window
        s = 0;
        pixel += W - S;          // on to its next row
        if (++r == R) {          // the end of a channel
            r = 0;
            pixel += (H - R) * W;
        }
    }
}
"""
_END = """\
    y[(image * K + f) * P * Q + n] = sum;
}
"""


def _kernel(loop: str) -> str:
    return _HEAD + "".join(f"    {line}\n" for line in loop.splitlines()) + _END


ANSWER, GIVEN = _kernel(_COUNTING), _kernel(_DIVIDING)

_SIZES = ("C", "H", "W", "K", "R", "S", "P", "Q")
# Integer instructions: loops that count stay below; those that divide take 12.6 to 14.7.
PER_PRODUCT = 10.6
_ADDRESS = "x[((image * C + c) * H + p + r) * W + q + s]"


def _cases(rng: np.random.Generator) -> list[Case]:
    """Windows of 36 elements, so that what is done once, before the loop, weighs little."""
    height, width = int(rng.choice([6, 7])), int(rng.choice([9, 10]))
    specs = [
        ConvSpec(n=1, c=3, h=height, w=width, k=2, r=3, s=4),
        ConvSpec(n=2, c=3, h=height - 1, w=width + 2, k=4, r=2, s=6),
        ConvSpec(n=3, c=2, h=height + 1, w=width + 1, k=3, r=3, s=6),
    ]
    return [conv_case(rng, each, {name: getattr(each, name.lower()) for name in _SIZES}) for each in specs]


def _launch(x: Array, w: Array, spec: ConvSpec) -> tuple[Shape, Shape, int]:
    return (ceil_div(spec.p * spec.q, THREADS), spec.k, spec.n), THREADS, 0


def _most(x: Array, w: Array, spec: ConvSpec) -> float:
    return PER_PRODUCT * spec.macs


_COLUMN = "int p = n / Q, q = n % Q;\n"
_OUTSIDE = _COLUMN + _DIVIDING.replace(f"    {_COLUMN}", "")
_START = "const float* start = x + (image * C * H + p) * W + q;\n"
_WAYS = (
    _DIVIDING,
    _OUTSIDE,
    _OUTSIDE.replace("for (int k", f"{_START}for (int k").replace(_ADDRESS, "start[(c * H + r) * W + s]"),
)
_INDEXED = """\
int p = n / Q, q = n % Q, c = 0, r = 0, s = 0;
for (int k = 0; k < gemm_k; ++k) {
    sum += w[f * gemm_k + k] * x[((image * C + c) * H + p + r) * W + q + s];
    if (++s == S) {
        s = 0;
        if (++r == R) {
            r = 0;
            ++c;
        }
    }
}
"""
_NESTED = """\
int p = n / Q, q = n % Q, k = f * gemm_k;
for (int c = 0; c < C; ++c)
    for (int r = 0; r < R; ++r)
        for (int s = 0; s < S; ++s) sum += w[k] * x[((image * C + c) * H + p + r) * W + q + s];
"""
_COUNT = _INDEXED[_INDEXED.index("    if (++s") : _INDEXED.rindex("}")]
_PRODUCT = _INDEXED[_INDEXED.index("    sum") : _INDEXED.index("    if (++s")]
LOOP = "".join(f"    {line}\n" for line in _COUNTING.splitlines())


def _instead(loop: str) -> tuple[str, str]:
    return LOOP, "".join(f"    {line}\n" for line in loop.splitlines())


_MUTANTS = mutants_of(
    ANSWER,
    {
        "divisions left in the loop": tuple(_instead(loop) for loop in _WAYS),
        "height and width of the window exchanged": (
            _instead(_COUNTING.replace("++s == S", "++s == R").replace("++r == R", "++r == S")),
            _instead(_INDEXED.replace("++s == S", "++s == R").replace("++r == R", "++r == S")),
        ),
        "columns of the window never start again": (
            ("            s = 0;\n", ""),
            _instead(_INDEXED.replace("        s = 0;\n", "")),
        ),
        "rows of the window never start again": (
            ("                r = 0;\n", ""),
            _instead(_INDEXED.replace("            r = 0;\n", "")),
        ),
        "channels counted fastest": (
            _instead(_INDEXED.replace(_COUNT, "    if (++c == C) { c = 0; if (++s == S) { s = 0; ++r; } }\n")),
        ),
        "counted on before the product": (_instead(_INDEXED.replace(_PRODUCT + _COUNT, _COUNT + _PRODUCT)),),
        "a tap too many": (
            ("++s == S", "++s > S"),
            _instead(_INDEXED.replace("++s == S", "++s > S")),
            _instead(_INDEXED.replace("++r == R", "++r > R")),
        ),
        "one weight for all taps": (_instead(_NESTED),),
        "pixel not taken back to the window's left edge": (("pixel += W - S;", "pixel += W;"),),
        "pixel not taken back to the window's top": (("pixel += (H - R) * W;", "pixel += H * W;"),),
        "row of the window as long as the image": (("        pixel += W - S;          // on to its next row\n", ""),),
        "only the first channel": (
            ("pixel += (H - R) * W;", "pixel -= R * W;"),
            _instead(_COUNTING.replace("k < gemm_k", "k < R * S")),
            _instead(_INDEXED.replace("            ++c;\n", "")),
        ),
        "batch index ignored": (("x + (image * C * H + p) * W + q", "x + p * W + q"),),
        "row and column of the pixel swapped": (
            ("p = n / Q, q = n % Q", "q = n / P, p = n % P"),
            ("p = n / Q, q = n % Q", "q = n / Q, p = n % Q"),
        ),
    },
)

EXERCISE = Exercise(
    id="09-hoist",
    notebook="09_implicit_gemm",
    title="Hoist the divisions",
    points=4,
    kind="kernel",
    function="hoisted",
    stub=f"return;  // take this line out, and make the loop cheaper\n{_DIVIDING}",
    cases=_cases,
    oracle=conv_oracle,
    tolerance=conv_tolerance,
    mutants=_MUTANTS,
    kernel=Kernel("conv", _launch, letters={"x": "nchw", "w": "kcrs", "y": "nkpq"}),
    budgets=(
        Budget(
            "thread_instructions_integer",
            "integer instructions",
            _most,
            "enough for a loop that counts",
        ),
    ),
    hints=(
        "The compiler sees what depends on n alone. What does it not see: which of c, r and s change from one k to the "
        "next, and how?",
        "Let a pointer walk through the window. After S elements it goes on to the next row, after R rows to the next "
        "channel: how many pixels lie in between?",
    ),
    seconds=20.0,
)
