"""Arrows run between the cells that they name, and stop short of them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from convlab.views.arrows import Paths
from convlab.views.grid import Panel, cell_ids
from convlab.views.layout import arrange

PANELS = [
    Panel(name="a", title="a", rows=2, cols=3, labels="abcdef", cell_width=2),
    Panel(name="b", title="b", rows=3, cols=1, labels="ghi", line=1),
]


def test_middles_are_those_of_the_cells_as_drawn() -> None:
    layout = arrange(PANELS, top=20)
    paths, ids = Paths(layout.places), cell_ids(PANELS)
    for place in layout.places:
        for row, col in np.ndindex(place.panel.rows, place.panel.cols):
            x, y = paths.middles[ids[place.panel.name][row, col]]
            assert x == place.x + (col + 0.5) * place.pitch * place.panel.cell_width
            assert y == place.y + (row + 0.5) * place.pitch


@pytest.mark.parametrize(("start", "end"), [(0, 5), (5, 0), (1, 8), (6, 7)])
def test_an_arrow_points_from_one_cell_to_the_other(start: int, end: int) -> None:
    paths = Paths(arrange(PANELS, top=20).places)
    numbers = [*map(int, re.findall(r"-?\d+", paths.drawn([(start, end)])))]
    tail, tip, left, again, right = np.array(numbers).reshape(5, 2)
    a, b = np.array(paths.middles[start]), np.array(paths.middles[end])
    along = (b - a) / np.hypot(*(b - a))
    assert np.hypot(*(tail - a)) == pytest.approx(np.hypot(*(b - tip)), abs=1.5)
    assert abs(np.linalg.det([along, tip - a])) < 1.5
    assert 0 < along @ (tail - a) < along @ (tip - a)
    assert (tip == again).all()
    for wing in (left, right):
        assert along @ (tip - wing) == pytest.approx(6, abs=1.5)
    assert np.hypot(*(left - right)) == pytest.approx(6, abs=2)


def test_nothing_points_at_itself() -> None:
    assert Paths(arrange(PANELS, top=20).places).drawn([(2, 2)]) == ""
