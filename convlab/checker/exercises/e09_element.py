"""Exercise 09, question 1: from an element's row and column in X_col to its pixel, or to a zero of padding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from convlab.checker.exercises.cuda import conv_case, conv_oracle, conv_tolerance, mutants_of
from convlab.checker.exercises.taps import Array
from convlab.checker.record import Case, Exercise, Kernel, Shape
from convlab.kernels.tiling import ceil_div
from convlab.spec import ConvSpec

__all__ = ["ANSWER", "EXERCISE", "THREADS"]

ANSWER = """
__device__ float element(const float* image, int k, int n, int C, int H, int W, int R, int S, int P, int Q,
                         int stride, int dilation, int pad_top, int pad_left) {
    int r = k / (S * C), s = k / C % S, c = k % C;
    int number = n / (P * Q), p = n / Q % P, q = n % Q;
    int h = p * stride - pad_top + r * dilation, col = q * stride - pad_left + s * dilation;
    if (h < 0 || h >= H || col < 0 || col >= W) return 0.0f;
    return image[((number * C + c) * H + h) * W + col];
}

extern "C" __global__ void conv(const float* image, const float* filter, float* y, int N, int C, int H, int W, int K,
                                int R, int S, int P, int Q, int stride, int dilation, int pad_top, int pad_left) {
    int n = blockIdx.x * blockDim.x + threadIdx.x, f = blockIdx.y, gemm_k = R * S * C;
    if (n >= N * P * Q) return;
    float sum = 0.0f;
    for (int k = 0; k < gemm_k; ++k)
        sum += filter[f * gemm_k + k]
             * element(image, k, n, C, H, W, R, S, P, Q, stride, dilation, pad_top, pad_left);
    y[(n / (P * Q) * K + f) * P * Q + n % (P * Q)] = sum;
}
"""

THREADS = 32
_SIZES = ("N", "C", "H", "W", "K", "R", "S", "P", "Q")


def _cases(rng: np.random.Generator) -> list[Case]:
    """One image and one channel first; then several, then strides, dilation and uneven padding."""
    height, width = int(rng.choice([8, 9])), int(rng.choice([11, 13]))
    specs = [
        ConvSpec(n=1, c=1, h=4, w=6, k=2, r=2, s=3),
        ConvSpec(n=2, c=3, h=5, w=7, k=2, r=3, s=2),
        ConvSpec(n=2, c=2, h=height, w=width, k=3, r=2, s=4, stride=2, padding=(1, 0, 2, 1)),
        ConvSpec(n=2, c=3, h=height, w=width + 4, k=2, r=3, s=2, stride=2, dilation=3, padding=(2, 1, 1, 2)),
    ]
    return [_case(rng, each) for each in specs]


def _case(rng: np.random.Generator, spec: ConvSpec) -> Case:
    """The kernel gets filters with their channels last; oracle and tolerance get them as always."""
    sizes = {name: getattr(spec, name.lower()) for name in _SIZES}
    steps = {"stride": spec.stride[0], "dilation": spec.dilation[0]}
    case = conv_case(rng, spec, sizes | steps | {"pad_top": spec.padding[0], "pad_left": spec.padding[2]})
    x, w, *others = case.arguments
    tensors = {"image": case.arguments[x], "filter": np.ascontiguousarray(case.arguments[w].transpose(0, 2, 3, 1))}
    return replace(case, arguments=tensors | {name: case.arguments[name] for name in others})


def _launch(x: Array, w: Array, spec: ConvSpec) -> tuple[Shape, Shape, int]:
    return (ceil_div(spec.gemm_shape.gemm_n, THREADS), spec.k), THREADS, 0


_ROW = "r = k / (S * C), s = k / C % S, c = k % C"
_PIXEL = "p * stride - pad_top + r * dilation, col = q * stride - pad_left + s * dilation"
_OUTSIDE = "h < 0 || h >= H || col < 0 || col >= W"
_AT = "((number * C + c) * H + h) * W + col"
_COLUMN = "number = n / (P * Q), p = n / Q % P, q = n % Q"

_MUTANTS = mutants_of(
    ANSWER,
    {
        "channels not counted fastest": ((_ROW, "c = k / (R * S), r = k / S % R, s = k % S"),),
        "height and width of the window exchanged": (
            (_ROW, "r = k / (R * C), s = k / C % R, c = k % C"),
            (_ROW, "r = k / (R * C), s = k / C % S, c = k % C"),
            (_ROW, "s = k / (S * C), r = k / C % S, c = k % C"),
        ),
        "taps numbered down the columns": ((_ROW, "s = k / (R * C), r = k / C % R, c = k % C"),),
        "columns counted on into the next row": ((_ROW, "r = k / (S * C), s = k / C, c = k % C"),),
        "rows counted on into the next image": ((_COLUMN, "number = n / (P * Q), p = n / Q, q = n % Q"),),
        "row and column of the pixel swapped": (
            (_COLUMN, "number = n / (P * Q), q = n / P % Q, p = n % P"),
            (_COLUMN, "number = n / (P * Q), q = n / Q % P, p = n % Q"),
        ),
        "rows of P pixels": ((_COLUMN, "number = n / (P * Q), p = n / P % Q, q = n % P"),),
        "outputs counted by the image's size": ((_COLUMN, "number = n / (H * W), p = n / W % H, q = n % W"),),
        "batch index ignored": (("(number * C + c)", "c"),),
        "only the first channel": ((_AT, "(number * C * H + h) * W + col"),),
        "stride and dilation swapped": (
            (_PIXEL, "p * dilation - pad_top + r * stride, col = q * dilation - pad_left + s * stride"),
        ),
        "stride ignored": ((_PIXEL, _PIXEL.replace(" * stride", "")),),
        "dilation ignored": ((_PIXEL, _PIXEL.replace(" * dilation", "")),),
        "stride applied to the tap": (
            (_PIXEL, "(p + r * dilation) * stride - pad_top, col = (q + s * dilation) * stride - pad_left"),
            (_PIXEL, _PIXEL.replace("dilation", "stride")),
        ),
        "padding left out of the index": ((_PIXEL, _PIXEL.replace(" - pad_top", "").replace(" - pad_left", "")),),
        "padding added, not subtracted": ((_PIXEL, _PIXEL.replace("-", "+")),),
        "padding multiplied by the stride": (
            (_PIXEL, "(p - pad_top) * stride + r * dilation, col = (q - pad_left) * stride + s * dilation"),
        ),
        "vertical and horizontal padding swapped": (
            (_PIXEL, _PIXEL.replace("top", "!").replace("left", "top").replace("!", "left")),
        ),
        "columns of the image not tested": ((_OUTSIDE, "h < 0 || h >= H"),),
        "edges of the image not tested": (
            (_OUTSIDE, "false"),
            (_OUTSIDE, "h < 0 || col < 0"),
            (_OUTSIDE, "h >= H || col >= W"),
            (_OUTSIDE, "col < 0 || col >= W"),
            (_OUTSIDE, "h < 0 || h > H || col < 0 || col > W"),
        ),
        "output's size taken for the image's": ((_OUTSIDE, "h < 0 || h >= P || col < 0 || col >= Q"),),
        "input row as long as an output row": ((_AT, "((number * C + c) * H + h) * Q + col"),),
        "height and width of the image exchanged": (
            (_AT, "((number * C + c) * W + h) * H + col"),
            (_AT, "((number * C + c) * H + h) * H + col"),
        ),
        "row and column of the image swapped": ((_AT, "((number * C + c) * W + col) * H + h"),),
        "image read with its channels last": ((_AT, "((number * H + h) * W + col) * C + c"),),
    },
)

EXERCISE = Exercise(
    id="09-element",
    notebook="09_implicit_gemm",
    title="Take the indices apart",
    points=4,
    kind="kernel",
    function="located",
    stub="return __int_as_float(0x7fffffff);  // not a number: your element goes here",
    cases=_cases,
    oracle=conv_oracle,
    tolerance=conv_tolerance,
    mutants=_MUTANTS,
    kernel=Kernel("conv", _launch, letters={"image": "nchw", "filter": "krsc", "y": "nkpq"}),
    hints=(
        "k counts the elements of a filter in the order of memory: which of r, s and c changes with each step, and "
        "after how many steps does the next one change?",
        "Of a number that counts (a, b) row by row, B to a row, a is the quotient by B and b the remainder. For three "
        "indices do that twice.",
    ),
    seconds=20.0,
)
