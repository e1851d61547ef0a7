"""Panels, frames and links: plain data that refuses what does not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from convlab.views.grid import CELL_LIMIT, Frame, Panel, cell_ids, join, number_text, pairs


def panel(name: str = "a", rows: int = 2, cols: int = 3, **changes: Any) -> Panel:
    labels = changes.pop("labels", [f"{name}[{i}]" for i in range(rows * cols)])
    return Panel(name=name, title=name, rows=rows, cols=cols, labels=labels, **changes)


@pytest.mark.parametrize("field", ["labels", "values", "kinds", "shades", "regions", "row_index", "col_index"])
def test_a_list_that_does_not_fit_is_refused(field: str) -> None:
    with pytest.raises(ValueError, match=f"Panel 'a' has 5 {field} for [236] places") as error:
        panel(**{field: ["input"] * 5})
    assert "a grid of 2 × 3 cells" in str(error.value)
    assert f"Fix: give one of the {field} for each place" in str(error.value)


def test_unknown_kinds_are_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown kinds \['halo!'\].\n  Fix: use plain, input, filter"):
        panel(kinds="halo!")


def test_a_panel_is_bounded() -> None:
    assert panel(rows=1, cols=CELL_LIMIT).cols == CELL_LIMIT
    with pytest.raises(ValueError, match=r"has 4097 cells, more than 4096.\n  Fix: Show a part of it"):
        panel(rows=1, cols=CELL_LIMIT + 1)


def test_cells_are_numbered_panel_by_panel() -> None:
    ids = cell_ids([panel("a", 2, 3), panel("none", 0, 0), panel("b", 1, 2)])
    assert ids["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert ids["none"].shape == (0, 0)
    assert ids["b"].tolist() == [[6, 7]]


def test_shades_are_steps_of_the_ramp() -> None:
    assert panel(shades=(-1, 0.09, 0.5, 0.99, 1, 7)).cell_shades == [0, 0, 5, 9, 9, 9]


def test_pairs_broadcast_and_join() -> None:
    links = join(pairs([[0], [1]], np.array([5, 6, 7])), pairs(2, [8, 9]))
    assert links.tolist() == [[0, 5], [0, 6], [0, 7], [1, 5], [1, 6], [1, 7], [2, 8], [2, 9]]
    assert join().shape == (0, 2)


def test_a_frame_names_all_its_cells() -> None:
    assert Frame("x", here=3, lit=(1, 2), values={7: "0"}).cells == [3, 1, 2, 7]
    assert Frame("x").cells == []


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (-0.0, "−0"), (7.0, "7"), (-12, "−12"), (0.12345, "0.123"), (123456789, "1.23e+08")],
)
def test_numbers_are_short(number: float, text: str) -> None:
    assert number_text(number) == text
