"""The explorer from Python: its controls, its spec, and what it does where there is no output."""

from __future__ import annotations

import logging
import math
import re
from typing import Any

import ipywidgets as widgets
import numpy as np
import pytest
from ipywidgets.widgets.widget import _instances

from convlab import explore
from convlab.explore.window import WindowExplorer
from convlab.spec import ConvSpec


def set_all(explorer: WindowExplorer, **values: int) -> None:
    for name, value in values.items():
        explorer.numbers[name].value = value


def test_the_controls_make_the_spec_and_the_picture() -> None:
    explorer = explore.window(h=5, w=9, r=2, s=3, stride=2, padding=1, dilation=2)
    assert explorer.spec == ConvSpec(n=1, c=1, h=5, w=9, k=1, r=2, s=3, stride=2, padding=1, dilation=2)
    set_all(explorer, h=6, stride=3)
    assert explorer.spec == ConvSpec(n=1, c=1, h=6, w=9, k=1, r=2, s=3, stride=3, padding=1, dilation=2)
    assert [(panel.rows, panel.cols) for panel in explorer.view.panels] == [(8, 11), (3, 5), (2, 3)]
    assert explorer._grid.picture["title"] == str(explorer.spec)


def test_no_output_is_said_in_place_and_leaves_no_exception(caplog: pytest.LogCaptureFixture) -> None:
    explorer = explore.window(h=6, w=7, r=3, s=3, padding=0)
    with caplog.at_level(logging.WARNING):
        set_all(explorer, r=7)
    assert explorer.spec is None
    assert explorer.view.panels[-1].message == "No output: the window spans 7 rows but the padded input has 6."
    assert "No output: the window spans 7" in explorer._grid.picture["svg"]
    assert caplog.records == []
    set_all(explorer, padding=1)
    assert explorer.spec is not None
    assert explorer.spec.output_shape == (1, 1, 2, 7)


def test_an_explorer_may_begin_without_output() -> None:
    assert explore.window(h=2, w=2, r=7, s=7, padding=0).spec is None


def test_named_paddings_are_those_of_the_spec() -> None:
    explorer = explore.window(h=5, w=8, r=3, s=2, stride=2, padding="same")
    assert explorer.numbers["padding"].disabled
    assert explorer.spec == ConvSpec(n=1, c=1, h=5, w=8, k=1, r=3, s=2, stride=2, padding="same")
    explorer.mode.value = "valid"
    assert explorer.spec == ConvSpec(n=1, c=1, h=5, w=8, k=1, r=3, s=2, stride=2, padding="valid")
    explorer.mode.value = "number"
    assert not explorer.numbers["padding"].disabled
    set_all(explorer, padding=2)
    assert explorer.spec == ConvSpec(n=1, c=1, h=5, w=8, k=1, r=3, s=2, stride=2, padding=2)


def expected_size(size: int, taps: int, mode: str, values: dict[str, int]) -> int:
    """The output's size by the formulas of the textbooks, 0 where there is none."""
    if mode == "same":
        return math.ceil(size / values["stride"])
    padding = values["padding"] if mode == "number" else 0
    return max(0, (size + 2 * padding - values["dilation"] * (taps - 1) - 1) // values["stride"] + 1)


def test_two_hundred_changes_stay_right_and_open_nothing() -> None:
    rng = np.random.default_rng(3)
    explorer = explore.window()
    values = {name: number.value for name, number in explorer.numbers.items()}
    mode, open_widgets, impossible = "number", len(_instances), 0
    for _ in range(200):
        name = str(rng.choice([*values, "mode"]))
        if name == "mode":
            mode = explorer.mode.value = str(rng.choice(["number", "same", "valid"]))
        else:
            number = explorer.numbers[name]
            values[name] = number.value = int(rng.integers(number.min, number.max + 1))
        sizes = [expected_size(values[a], values[b], mode, values) for a, b in (("h", "r"), ("w", "s"))]
        output = explorer.view.panels[-1]
        if 0 in sizes:
            impossible += 1
            assert explorer.spec is None
            assert output.message.startswith("No output: the window spans")
        else:
            assert explorer.spec is not None
            assert explorer.spec.output_shape == (1, 1, *sizes)
            assert [output.rows, output.cols] == sizes  # the whole range of the controls is drawn whole
    assert impossible > 10
    assert len(_instances) == open_widgets


def test_a_change_redraws_once() -> None:
    explorer = explore.window()
    pictures: list[Any] = []
    explorer._grid.observe(pictures.append, names="picture")
    set_all(explorer, w=9)
    explorer.mode.value = "valid"
    assert len(pictures) == 2


def test_every_slider_has_a_labelled_number_field() -> None:
    controls, _ = explore.window().children
    rows = [child for child in controls.children if isinstance(child, widgets.HBox)]
    assert len(rows) == 7
    for number, slider in (row.children for row in rows):
        assert isinstance(number, widgets.BoundedIntText)
        assert isinstance(slider, widgets.IntSlider)
        assert number.description
        assert number.description == slider.tooltip
        assert (number.min, number.max, number.value) == (slider.min, slider.max, slider.value)


@pytest.mark.parametrize("wrong", [{"h": 17}, {"stride": 0}, {"dilation": 1.5}, {"padding": "reflect"}])
def test_a_start_beyond_the_controls_is_refused(wrong: dict[str, Any]) -> None:
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=re.escape(f"{name}={value!r} is not a whole number from")) as error:
        explore.window(**wrong)
    assert "In: explore.window(h=" in str(error.value)
    assert "Fix: stay within the controls; views.window(spec) draws every other size." in str(error.value)


def test_a_page_without_widgets_shows_the_picture() -> None:
    explorer = explore.window()
    data = explorer._repr_mimebundle_()
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == explorer.model_id
    assert data["image/svg+xml"] == explorer.view.svg()
    assert data["text/plain"] == explorer.view.alt
