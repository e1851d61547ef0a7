"""Slips as learners make them: one edit in the source of the answer, and the check names the misconception."""

import re

import numpy as np
import pytest

from convlab.checker import check, exercise

LOOPS = [
    ("stride and padding swapped", [("stride", "STRIDE"), ("padding", "stride"), ("STRIDE", "padding")]),
    (
        "stride and padding swapped",
        [
            ("p * stride[0] + r - padding[0]", "p * padding[0] + r - stride[0]"),
            ("q * stride[1] + s - padding[1]", "q * padding[1] + s - stride[1]"),
        ],
    ),
    ("vertical and horizontal stride swapped", [("stride[0]", "A"), ("stride[1]", "stride[0]"), ("A", "stride[1]")]),
    (
        "vertical and horizontal padding swapped",
        [("- padding[0]", "- A"), ("- padding[1]", "- padding[0]"), ("- A", "- padding[1]")],
    ),
    ("first number of a pair used for the columns", [("[1]", "[0]")]),
    ("first number of a pair used for the columns", [("q * stride[1]", "q * stride[0]")]),
    ("stride ignored", [("p * stride[0]", "p"), ("q * stride[1]", "q")]),
    (
        "stride applied to the tap",
        [("p * stride[0] + r", "(p + r) * stride[0]"), ("q * stride[1] + s", "(q + s) * stride[1]")],
    ),
    ("padding left out of the index", [(" - padding[0]", ""), (" - padding[1]", "")]),
    ("padding added, not subtracted", [("- padding[", "+ padding[")]),
    (
        "padding left out altogether",
        [(" - padding[0]", ""), (" - padding[1]", ""), (" + 2 * padding[0]", ""), (" + 2 * padding[1]", "")],
    ),
    ("padding counted on one side", [("2 * padding", "padding")]),
    ("window starts one pixel late", [("- padding[0]", "- padding[0] + 1"), ("- padding[1]", "- padding[1] + 1")]),
    ("last output missing", [("// stride[0] + 1", "// stride[0]"), ("// stride[1] + 1", "// stride[1]")]),
    ("negative indices wrap around", [("0 <= i", "i"), ("0 <= j", "j")]),
    ("kernel flipped", [("w[k, c, r, s]", "w[k, c, -1 - r, -1 - s]")]),
    ("last row and column of the window missing", [("range(window_rows)", "range(window_rows - 1)")]),
    ("last row and column of the window missing", [("range(window_columns)", "range(window_columns - 1)")]),
    ("first row and column of the window missing", [("range(window_rows)", "range(1, window_rows)")]),
    ("only the first channel", [("range(channels)", "range(1)")]),
    ("only the last channel", [("for r in", "total = bias[k]\n                        for r in")]),
    ("sum overwritten", [("total +=", "total = bias[k] +")]),
    (
        "sum not set to zero",
        [("total = bias[k]", "pass"), ("y = np", "total = 0\n    y = np"), ("= total\n", "= total + bias[k]\n")],
    ),
    ("bias missing", [("total = bias[k]", "total = 0.0")]),
    ("bias added too often", [("x[n, c, i, j]", "x[n, c, i, j] + bias[k]"), ("total = bias[k]", "total = 0.0")]),
    ("batch index ignored", [("x[n, c", "x[0, c")]),
    ("one filter for all outputs", [("w[k, c", "w[0, c")]),
]
ONE_OUTPUT = [
    ("stride and padding swapped", [("2 * p + r - 1", "p + r - 2"), ("2 * q + s - 1", "q + s - 2")]),
    ("stride ignored", [("2 * ", "")]),
    ("stride applied to the tap", [("2 * p + r", "2 * (p + r)"), ("2 * q + s", "2 * (q + s)")]),
    ("padding left out of the index", [("r - 1", "r"), ("s - 1", "s")]),
    ("padding added, not subtracted", [("r - 1", "r + 1"), ("s - 1", "s + 1")]),
    ("negative indices wrap around", [("0 <= row", "row"), ("0 <= column", "column")]),
    ("kernel flipped", [("w[k, c, r, s]", "w[k, c, 2 - r, 2 - s]")]),
    ("rows and columns of the kernel swapped", [("w[k, c, r, s]", "w[k, c, s, r]")]),
    ("output row and column swapped", [("2 * p", "2 * A"), ("2 * q", "2 * p"), ("2 * A", "2 * q")]),
    ("last row and column of the window missing", [("range(3)", "range(2)")]),
    ("first row and column of the window missing", [("range(3)", "range(1, 3)")]),
    ("only the first channel", [("range(channels)", "range(1)")]),
    ("only the last channel", [("for r in", "total = bias[k]\n        for r in")]),
    ("channels averaged", [("total = bias[k]", "total = 0.0"), ("return total", "return total / 3 + bias[k]")]),
    ("sum overwritten", [("total +=", "total = bias[k] +")]),
    ("bias missing", [("total = bias[k]", "total = 0.0")]),
    (
        "bias added too often",
        [("x[c, row, column]", "x[c, row, column] + bias[k]"), ("total = bias[k]", "total = 0.0")],
    ),
    ("one filter for all outputs", [("w[k, c", "w[0, c")]),
]
SLIPS = [("01-loops", *slip) for slip in LOOPS] + [("01-one-output", *slip) for slip in ONE_OUTPUT]


@pytest.mark.parametrize(("exercise_id", "name", "edits"), SLIPS)
def test_a_slip_is_named(exercise_id, name, edits, sources):
    signature, body = sources[exercise_id].split("\n", 1)
    for old, new in edits:
        assert re.search(re.escape(old), body)
        body = body.replace(old, new)
    namespace = {"np": np}
    exec(f"{signature}\n{body}", namespace)
    verdict = check(exercise_id, namespace[exercise(exercise_id).function])
    assert verdict.diagnosis == name, verdict
