"""The family's picture against counts of what a convolution written out with loops touches."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from convlab.spec import ConvSpec
from convlab.views.family import FamilyView, family

SPECS = [
    ConvSpec(n=2, c=6, h=9, w=7, k=4, r=3, s=2, stride=(2, 1), padding=(1, 0, 2, 3), dilation=(2, 1), groups=2),
    ConvSpec(n=1, c=8, h=5, w=6, k=8, r=3, s=3, padding=1, groups=4),
    ConvSpec(n=1, c=3, h=4, w=5, k=6, r=1, s=2, groups=3),
    ConvSpec(n=3, c=1, h=4, w=4, k=5, r=2, s=2),
]


def readers(k: int, c: int, groups: int) -> set[tuple[int, int]]:
    """Which output channel reads which input channel, group by group."""
    each_k, each_c = k // groups, c // groups
    return {
        (g * each_k + i, g * each_c + j)
        for g in range(groups)
        for i, j in itertools.product(range(each_k), range(each_c))
    }


def expected(spec: ConvSpec) -> dict[str, tuple[int, int, int, int]]:
    """K, C, groups and taps of each matrix."""
    taps = spec.r * spec.s
    return {
        "standard": (spec.k, spec.c, 1, taps),
        "grouped": (spec.k, spec.c, spec.groups, taps),
        "depthwise": (spec.c, spec.c, spec.c, taps),
        "pointwise": (spec.k, spec.c, 1, 1),
        "separable: first": (spec.c, spec.c, spec.c, taps),
        "separable: second": (spec.k, spec.c, 1, 1),
    }


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_a_cell_is_filled_where_a_filter_connects_the_channels(spec: ConvSpec) -> None:
    view = family(spec)
    for panel in view.panels[:-1]:
        k, c, groups, taps = expected(spec)[panel.name]
        assert (panel.rows, panel.cols) == (k + 1, c + 1)
        kinds, values = (np.array(cells).reshape(k + 1, c + 1)[1:, 1:] for cells in (panel.cell_kinds, panel.values))
        found = {(int(i), int(j)) for i, j in np.argwhere(kinds == "filter")}
        assert found == readers(k, c, groups)
        assert {values[place] for place in found} == {str(taps)}
        assert {*values[kinds == "idle"]} <= {""}


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_an_input_channel_lights_in_every_matrix_the_outputs_that_use_it(spec: ConvSpec) -> None:
    view = family(spec)
    for name, (_, c, *_) in expected(spec).items():
        for channel in range(c):
            lit = {*view.linked(int(view.ids[name][0, channel + 1]))}
            for other, (k, c_other, groups, _) in expected(spec).items():
                users = {i for i, j in readers(k, c_other, groups) if j == channel}
                outputs = view.ids[other][1:, 0].tolist()
                assert {i for i in range(k) if outputs[i] in lit} == users
                matrix = view.ids[other][1:, 1:]
                assert {(i, j) for i, j in np.ndindex(*matrix.shape) if matrix[i, j] in lit} == {
                    (i, channel) for i in users
                }


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_an_output_channel_lights_the_inputs_that_it_reads(spec: ConvSpec) -> None:
    view = family(spec)
    for name, (k, c, groups, _) in expected(spec).items():
        for output in range(k):
            lit = {*view.linked(int(view.ids[name][output + 1, 0]))}
            inputs = view.ids[name][0, 1:].tolist()
            assert {j for j in range(c) if inputs[j] in lit} == {j for i, j in readers(k, c, groups) if i == output}


def counted(x: tuple[int, ...], k: int, groups: int, window: tuple[int, int], places: int) -> tuple[int, int, int]:
    """Parameters, products and bytes, by going through every connection."""
    n, c, h, w = x
    weights = {(i, j, r, s) for i, j in readers(k, c, groups) for r in range(window[0]) for s in range(window[1])}
    return len(weights), n * places * len(weights), 4 * (n * c * h * w + len(weights) + n * k * places)


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_costs_are_those_of_counting(spec: ConvSpec) -> None:
    costs, window = family(spec).costs, (spec.r, spec.s)
    rows, columns = (
        len(range(-before, size + after - (taps - 1) * dilation, stride))
        for size, (before, after), taps, dilation, stride in zip(
            (spec.h, spec.w), (spec.padding[:2], spec.padding[2:]), window, spec.dilation, spec.stride, strict=True
        )
    )
    thin = math.prod(len(range(0, size, stride)) for size, stride in zip((spec.h, spec.w), spec.stride, strict=True))
    between = (spec.n, spec.c, rows, columns)
    first = counted(spec.input_shape, spec.c, spec.c, window, rows * columns)
    second = counted(between, spec.k, 1, (1, 1), rows * columns)
    assert tuple(costs["standard"]) == counted(spec.input_shape, spec.k, 1, window, rows * columns)
    assert tuple(costs["grouped"]) == counted(spec.input_shape, spec.k, spec.groups, window, rows * columns)
    assert tuple(costs["depthwise"]) == first
    assert tuple(costs["pointwise"]) == counted(spec.input_shape, spec.k, 1, (1, 1), thin)
    assert tuple(costs["separable"]) == tuple(a + b for a, b in zip(first, second, strict=True))


def test_the_table_has_the_exact_numbers_and_bars_in_proportion() -> None:
    view = family(SPECS[1])
    table = view.panels[-1]
    assert list(table.row_index) == ["standard", "grouped", "depthwise", "pointwise", "separable"]
    assert table.values[:4] == ["576", "17,280", "4,224", "8.18"]
    assert table.labels[4] == "grouped: parameters = 144"
    assert table.bars[:5] == [1.0, 1.0, 4224 / max(c.bytes for c in view.costs.values()), 1.0, 144 / 576]
    assert view.linked(int(view.ids["costs"][2, 1])) == [int(view.ids["costs"][2, i]) for i in (0, 2, 3)]


def shares(view: FamilyView, name: str) -> list[list[float]]:
    panel = next(panel for panel in view.panels if panel.name == name)
    return [list(panel.bars[row * panel.cols + 1 : (row + 1) * panel.cols]) for row in range(1, panel.rows)]


def test_of_many_channels_a_cell_stands_for_several_and_shows_the_share_that_is_connected() -> None:
    view = family(ConvSpec(n=1, c=20, h=4, w=5, k=12, r=3, s=3, padding=1, groups=4))
    matrix = np.zeros((12, 20))
    for place in readers(12, 20, 4):
        matrix[place] = 1
    expected_shares = [[matrix[i : i + 2, j : j + 3].mean() for j in range(0, 20, 3)] for i in range(0, 12, 2)]
    assert shares(view, "grouped") == pytest.approx(np.array(expected_shares))
    assert view.captions[-1].startswith("A cell stands for 2 × 3 channels,")
    labels = view.panels[1].labels
    assert labels[7] == "input channels 18 to 19"
    assert labels[8] == "output channels 0 to 1"
    assert labels[8 + 2] == "67 % of the pairs connected, by 3×3 taps each"


def test_captions_compare_the_kinds_with_the_present_numbers() -> None:
    first, second = family(SPECS[1]).captions
    assert first == "Separable does 23.6 % of the standard convolution's MACs, and moves 104 % of its bytes."
    assert second.startswith("Each byte moved gives 8.2 FLOP in the standard convolution and 2.0 in the depthwise one")
    assert "depthwise: 72 parameters" in family(SPECS[1]).alt
