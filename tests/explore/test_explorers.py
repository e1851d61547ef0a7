"""What all explorers have in common: each is right, fast and bounded wherever its controls stand."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable
from xml.etree import ElementTree

import ipywidgets as widgets
import numpy as np
import pytest
from ipywidgets.widgets.widget import _instances

from convlab import explore
from convlab.explore.controls import Range
from convlab.explore.explorer import Explorer

from .walk import change

EXPLORERS = {name: getattr(explore, name) for name in explore.__all__ if name != "predict"}
each_explorer = pytest.mark.parametrize("make", EXPLORERS.values(), ids=EXPLORERS)
Maker = Callable[[], Explorer]


@each_explorer
def test_two_hundred_random_changes_draw_a_picture_each_and_leave_nothing(
    make: Maker, caplog: pytest.LogCaptureFixture
) -> None:
    explorer, rng = make(), np.random.default_rng(8)
    states, pictures = [], []
    opened = len(_instances)
    with caplog.at_level(logging.WARNING):
        for _ in range(200):
            name, value = change(explorer, rng)
            assert explorer.values[name] == value
            assert explorer._grid.state == explorer.state
            assert ElementTree.fromstring(explorer._grid.picture).get("aria-label"), explorer.values
            states.append(explorer.state)
            pictures.append(hash(explorer._grid.picture))
    assert caplog.records == []
    before = objects()
    for state, picture in zip(states[-60:], pictures[-60:], strict=True):
        explorer.restore(state)
        assert hash(explorer._grid.picture) == picture, state
    assert objects() < before + 2000
    assert len(_instances) == opened


def objects() -> int:
    gc.collect()
    return len(gc.get_objects())


@each_explorer
def test_extremes_are_drawn(make: Maker) -> None:
    explorer = make()
    for end in ("least", "most"):
        wanted = {name: getattr(each, end) for name, each in explorer.table.items() if isinstance(each, Range)}
        explorer.set(wanted)
        ElementTree.fromstring(explorer._grid.picture)
        assert explorer.view.still["text/plain"]


@each_explorer
def test_reset_and_the_link_bring_a_state_back(make: Maker) -> None:
    explorer, other = make(), make()
    first, rng = explorer.state, np.random.default_rng(9)
    for _ in range(12):
        change(explorer, rng)
    other._grid.wish = explorer.state  # as the page does that was opened by the link
    assert other.state == explorer.state
    assert other._grid.picture == explorer._grid.picture
    (reset,) = [child for child in explorer.children[0].children if isinstance(child, widgets.Button)]
    reset.click()
    assert explorer.state == first


@each_explorer
def test_a_change_draws_once(make: Maker) -> None:
    explorer, rng = make(), np.random.default_rng(10)
    drawn: list[object] = []
    look = explorer._draw

    def count(**values: object) -> object:
        drawn.append(values)
        return look(**values)

    explorer._draw = count
    before = explorer.state
    while explorer.state == before:
        change(explorer, rng)
    assert len(drawn) == 1


@each_explorer
def test_every_number_has_a_labelled_field_and_a_slider(make: Maker) -> None:
    explorer = make()
    rows = [child for child in explorer.children[0].children if isinstance(child, widgets.HBox)]
    numbers = [explorer.controls[name] for name, each in explorer.table.items() if isinstance(each, Range)]
    assert [row.children[0] for row in rows] == numbers
    for field, slider in (row.children for row in rows):
        assert isinstance(field, widgets.BoundedIntText)
        assert field.description
        assert field.description == slider.tooltip
        assert (field.min, field.max, field.value) == (slider.min, slider.max, slider.value)


@each_explorer
def test_labels_are_short_enough_for_their_place(make: Maker) -> None:
    assert [each.label for each in make().table.values() if len(each.label) > 18] == []


@each_explorer
def test_a_page_without_widgets_shows_the_picture(make: Maker) -> None:
    explorer = make()
    data = explorer._repr_mimebundle_()
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == explorer.model_id
    assert data.items() >= explorer.view.still.items()
    assert data["text/plain"] == explorer.view.alt


@each_explorer
def test_a_link_may_hold_anything(make: Maker) -> None:
    explorer = make()
    before, name = explorer.state, next(iter(explorer.table))
    for wish in ("", ",,:", "nothing:1", f"{name}:", f"{name}:much", f"{name}:99999999999", f"{name}:-1e9", "é:☃"):
        explorer.restore(wish)
        assert explorer.state == before
