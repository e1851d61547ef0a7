from __future__ import annotations

import itertools
import re

import pytest

from convlab.spec.axis import Axis, same_padding


def positions(axis: Axis) -> list[int]:
    """Find by trying where the window's first pixel may stand in the padded input."""
    pixels = range(axis.padded)
    starts = range(0, axis.padded, axis.stride)
    return [start for start in starts if all(start + tap * axis.dilation in pixels for tap in range(axis.window))]


AXES = [
    Axis("H", size, before, after, window, stride, dilation)
    for size, before, after, window, stride, dilation in itertools.product(
        (1, 2, 5, 8), (0, 1, 3), (0, 2), (1, 2, 3, 5), (1, 2, 3), (1, 2, 4)
    )
]


def test_outputs_equal_the_positions_found_by_trying():
    assert [axis.outputs for axis in AXES] == [len(positions(axis)) for axis in AXES]


def test_an_axis_has_a_problem_exactly_when_no_position_exists():
    assert [axis.problem is not None for axis in AXES] == [not positions(axis) for axis in AXES]
    assert {axis.problem is None for axis in AXES} == {True, False}


def test_the_effective_window_spans_its_first_to_its_last_pixel():
    for axis in AXES:
        taps = [tap * axis.dilation for tap in range(axis.window)]
        assert axis.effective == taps[-1] - taps[0] + 1


def test_the_numbers_in_the_formula_work_out_to_the_result_it_gives():
    for axis in AXES:
        formula, value = re.fullmatch(r"P = .*⌋ \+ 1 = (.*) = (−?\d+)(?:: no output.*)?", axis.explain()).groups()
        python = formula.replace("⌊", "").replace("⌋", "").replace(" / ", " // ").replace("·", "*")
        assert eval(python.replace("−", "-")) == int(value.replace("−", "-"))
        assert max(0, int(value.replace("−", "-"))) == axis.outputs


def test_the_formula_of_each_axis_uses_its_own_letters():
    rows = Axis("H", size=5, before=2, after=1, window=3, stride=2, dilation=2)
    columns = Axis("W", size=9, before=0, after=4, window=2, stride=3, dilation=1)
    assert rows.explain() == (
        "P = ⌊(H + top + bottom − dilation·(R − 1) − 1) / stride⌋ + 1 = ⌊(5 + 2 + 1 − 2·(3 − 1) − 1) / 2⌋ + 1 = 2"
    )
    assert columns.explain() == (
        "Q = ⌊(W + left + right − dilation·(S − 1) − 1) / stride⌋ + 1 = ⌊(9 + 0 + 4 − 1·(2 − 1) − 1) / 3⌋ + 1 = 4"
    )


@pytest.mark.parametrize(
    ("name", "stride", "ending"),
    [
        ("H", 1, "+ 1 = −1: no output, because the window spans 7 rows but the padded input has 5"),
        ("W", 2, "+ 1 = 0: no output, because the window spans 7 columns but the padded input has 5"),
    ],
)
def test_an_axis_without_an_output_says_why(name, stride, ending):
    axis = Axis(name, size=3, before=1, after=1, window=4, stride=stride, dilation=2)
    assert axis.outputs == 0
    assert axis.explain().endswith(ending)


def test_same_padding_gives_the_size_divided_by_the_stride_rounded_up():
    for size, window, stride, dilation in itertools.product((1, 4, 7, 10), (1, 2, 3, 6), (1, 2, 3, 5), (1, 2, 3)):
        before, after = same_padding(size, window, stride, dilation)
        axis = Axis("W", size, before, after, window, stride, dilation)
        assert axis.outputs == len(range(0, size, stride))
        assert 0 <= after - before <= 1
        fewer = Axis("W", size, before, after - 1, window, stride, dilation)
        assert after == 0 or fewer.outputs < axis.outputs, "no pixel of padding is idle"
