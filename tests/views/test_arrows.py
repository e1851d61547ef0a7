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


def corners(start: int, end: int) -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """The points of an arrow: tail, tip, left wing, tip, right wing."""
    paths = Paths(arrange(PANELS, top=20).places)
    ((data,),) = ([each for each in paths.drawn([(start, end)]) if each],)
    return [*np.array([*map(float, re.findall(r"-?\d+", data))]).reshape(5, 2)]


def test_boxes_are_those_of_the_cells_as_drawn() -> None:
    layout = arrange(PANELS, top=20)
    paths, ids = Paths(layout.places), cell_ids(PANELS)
    for place in layout.places:
        for row, col in np.ndindex(place.panel.rows, place.panel.cols):
            name, x, y, width, height = paths.boxes[ids[place.panel.name][row, col]]
            assert (name, width, height) == (place.panel.name, place.pitch * place.panel.cell_width, place.pitch)
            assert (x, y) == (place.x + col * width, place.y + row * height)


@pytest.mark.parametrize(("start", "end"), [(0, 5), (5, 0), (1, 8), (7, 2), (6, 7)])
def test_an_arrow_points_from_one_cell_to_the_other(start: int, end: int) -> None:
    boxes = Paths(arrange(PANELS, top=20).places).boxes
    same = boxes[start].panel == boxes[end].panel
    shift = 0 if same else 0.5
    a, b = (np.array([box.x + shift * box.width, box.y + shift * box.height]) for box in (boxes[start], boxes[end]))
    tail, tip, left, again, right = corners(start, end)
    along = (b - a) / np.hypot(*(b - a))
    assert abs(np.linalg.det([along, tip - a])) < 1.5
    assert abs(np.linalg.det([along, tail - a])) < 1.5
    assert 0 < along @ (tail - a) < along @ (tip - a) < along @ (b - a)
    assert (tip == again).all()
    for wing in (left, right):
        assert along @ (tip - wing) == pytest.approx(6, abs=1.5)
    assert np.hypot(*(left - right)) == pytest.approx(6, abs=2)


@pytest.mark.parametrize(("start", "end"), [(1, 8), (7, 2), (5, 6)])
def test_between_panels_no_arrow_runs_into_its_cells(start: int, end: int) -> None:
    boxes = Paths(arrange(PANELS, top=20).places).boxes
    for (x, y), box in zip(corners(start, end)[:2], (boxes[start], boxes[end]), strict=True):
        assert not (box.x < x < box.x + box.width and box.y < y < box.y + box.height)


def test_the_two_paths_are_for_arrows_between_panels_and_inside_of_one() -> None:
    far, near = Paths(arrange(PANELS, top=20).places).drawn([(0, 1), (0, 6), (1, 2)])
    assert (far.count("M"), near.count("M")) == (2, 4)


def test_nothing_points_at_itself() -> None:
    assert Paths(arrange(PANELS, top=20).places).drawn([(2, 2)]) == ("", "")
