"""Slips as learners make them, edited into the answers: none passes, and the check names the misconception."""

import re

import numpy as np
import pytest

from convlab.checker import check, exercise
from convlab.executors.compile import compile

BARE = [("        __syncthreads();  // or a window is read before its pixels are there\n", "")]
BARE += [("        __syncthreads();  // or pixels are overwritten that somebody still reads\n", "")]
PITCH = "cols + (24 - cols % 16) % 16"
KERNELS = [
    ("03-index", "height and width of the image exchanged", [("* H + p + r) * W", "* W + p + r) * H")]),
    ("03-index", "block left out of the pixel's number", [("blockIdx.x * blockDim.x", "0 * blockDim.x")]),
    ("03-index", "planes of the output left out", [("y[((n * K + k) * P + p) * Q + q]", "y[p * Q + q]")]),
    ("03-mapping", "block's size left out of the map", [("blockIdx.x * blockDim.x", "blockIdx.x")]),
    ("05-halo", "threads leave before the barrier", [("    float sum = 0.0f;", "    "
      "if (top + pad_top + (int)threadIdx.y >= P || left + pad_left + (int)threadIdx.x >= Q) return;\n"
      "    float sum = 0.0f;")]),
    ("05-halo", "edges of the image not tested", [("inside ? plane[h * W + col] : 0.0f", "plane[h * W + col]")]),
    ("05-halo", "barrier inside the loading loop", [("0.0f;\n            }", "0.0f;\n\n\n__syncthreads();\n}")]),
    ("05-barriers", "barrier inside an if", [*BARE,
      ("* S + s];\n", "* S + s];\nif (p < P && q < Q) __syncthreads();\n"),
      ("        for (int r = 0", "        if (p < P && q < Q) { __syncthreads(); }\n        for (int r = 0")]),
    ("05-barriers", "more barriers than needed", [("sum += tile", "__syncthreads(), sum += tile")]),
    ("05-conflicts", "pitch: right for one size alone", [(PITCH, "48")]),
    ("05-conflicts", "pitch: shorter than a row", [(PITCH, "cols - cols % 16 + 8")]),
    ("06-filters", "rows of P pixels", [("p = pixel / Q, q = pixel % Q", "p = pixel / P, q = pixel - p * P")]),
    ("06-pixels", "groups run across the ends of rows", [("group >= P * across", "group * 4 >= P * Q"),
      ("p = group / across, q = group % across * 4", "p = group * 4 / Q, q = group * 4 - p * Q")]),
    ("08-blocked", "row of another matrix", [("y[m * N + n]", "y[n + m * K]")]),
    ("08-register", "outputs behind the edge stored", [("if (m0 + m + i < M && n0 + n + j < N) y", "y")]),
    ("09-element", "vertical and horizontal padding swapped", [("stride - pad_top", "stride - A"),
      ("stride - pad_left", "stride - pad_top"), ("stride - A", "stride - pad_left")]),
    ("09-hoist", "a tap too many", [("++s == S", "++s == S + 1")]),
]  # fmt: skip
FUNCTIONS = [
    ("01-one-output", "border pixels taken for padding", [("0 <= row", "0 < row"), ("0 <= column", "0 < column")]),
    ("01-loops", "sum not set to zero", [("                    total = bias[k]\n", ""),
      ("            for p in", "            total = bias[k]\n            for p in")]),
    ("01-loops", "returned too early", [("np.empty", "np.zeros"), ("    return y", "        return y")]),
    ("02-output-size", "same taken for the size of the input", [("return -(-size // stride)", "return size"),
      ("if left >= 0 else 0", "if True else 0")]),
    ("02-output-size", "a window that just fits not counted", [("left >= 0", "left > 0")]),
    ("02-output-size", "same rounded down", [("-(-size // stride)", "int(size / stride + 0.5)")]),
    ("02-no-copy", "negative indices wrap around", [("0 if place < 0", "place if place < 0")]),
    ("02-no-copy", "image copied as float64", [("(height, width), (", "image = image.astype(float)\n    "
      "(height, width), (")]),
    ("04-attainable", "output as large as the input", [("    flop =", "    p, q = h, width\n    flop =")]),
    ("04-attainable", "output size not rounded", [("//", "/")]),
    ("07-im2col", "axes reshaped without being put in order", [("(c, r, s, n, p, q)", "(n, c, r, s, p, q)"),
      ("columns[:, i, j]", "columns[:, :, i, j]"), (".swapaxes(0, 1)", "")]),
    ("10-fragment-map", "rows and columns of B exchanged", [("matrix[2 * t + i % 2 + 8 * (i // 2), g]",
      "matrix[g, 2 * t + i % 2 + 8 * (i // 2)]")]),
    ("10-pad-channels", "one step for each tap", [("r * s * filled(c, elements)", "r * s * elements")]),
]  # fmt: skip
VALUES = [
    ("04-bounds", "another unit than milliseconds", {"b_milliseconds": 66.1e-6}),
    ("04-bounds", "other words", {"a_bound": "compute-bound"}),
    ("07-memory", "part of an image counted", {"images": 12.33}),
    ("07-memory", "columns of both groups", {"columns": 1890}),
    ("07-memory", "matrix of one group only", {"times_the_input": 1.875}),
    ("10-accumulator", "stop one too early", {"fp16_stops": 2047}),
]


def edited(source, edits):
    for old, new in edits:
        assert re.search(re.escape(old), source), old
        source = source.replace(old, new)
    return source


@pytest.mark.parametrize(("exercise_id", "name", "edits"), KERNELS)
def test_a_slip_in_a_kernel_is_named(exercise_id, name, edits, sources):
    source = edited(sources[exercise_id].partition("\n")[2], edits)
    verdict = check(exercise_id, compile(source, name="mine.cu"))
    assert verdict.diagnosis == name, verdict


@pytest.mark.parametrize(("exercise_id", "name", "edits"), FUNCTIONS)
def test_a_slip_in_a_function_is_named(exercise_id, name, edits, sources):
    signature, _, body = sources[exercise_id].partition("\n")
    namespace = {"np": np}
    exec(f"{signature}\n{edited(body, edits)}", namespace)
    verdict = check(exercise_id, namespace[exercise(exercise_id).function])
    assert verdict.diagnosis == name, verdict


@pytest.mark.parametrize(("exercise_id", "name", "values"), VALUES)
def test_a_slip_in_a_value_is_named(exercise_id, name, values, answers):
    verdict = check(exercise_id, answers[exercise_id] | values)
    assert verdict.diagnosis == name, verdict
