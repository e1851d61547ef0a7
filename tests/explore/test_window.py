"""The explorer of windows: its spec, and what it does where there is no output."""

from __future__ import annotations

import logging
import math
import re
from typing import Any

import numpy as np
import pytest

from convlab import explore
from convlab.explore.explorer import Explorer
from convlab.spec import ConvSpec

from .walk import change


def sizes(explorer: Explorer) -> tuple[int, int]:
    output = explorer.view.panels[-1]
    return output.rows, output.cols


def test_the_controls_make_the_spec_and_the_picture() -> None:
    explorer = explore.window(h=5, w=9, r=2, s=3, stride=2, padding=1, dilation=2)
    assert explorer.view.title == str(ConvSpec(n=1, c=1, h=5, w=9, k=1, r=2, s=3, stride=2, padding=1, dilation=2))
    explorer.set({"h": 6, "stride": 3})
    assert [(panel.rows, panel.cols) for panel in explorer.view.panels] == [(8, 11), (3, 5), (2, 3)]
    assert explorer._grid.picture == explorer.view.live


def test_no_output_is_said_in_place_and_leaves_no_exception(caplog: pytest.LogCaptureFixture) -> None:
    explorer = explore.window(h=6, w=7, r=3, s=3, padding=0)
    with caplog.at_level(logging.WARNING):
        explorer.controls["r"].value = 7
    assert explorer.view.panels[-1].message == "No output: the window spans 7 rows but the padded input has 6."
    assert "No output: the window spans 7" in explorer._grid.picture
    assert caplog.records == []
    explorer.controls["padding"].value = 1
    assert sizes(explorer) == (2, 7)


def test_an_explorer_may_begin_without_output() -> None:
    assert explore.window(h=2, w=2, r=7, s=7, padding=0).view.panels[-1].message


def test_padding_may_show_the_image_again() -> None:
    explorer = explore.window(h=4, w=5, padding=2, border="circular")
    assert explorer.view.panels[0].labels[0] == "padding at h=−2, w=−2, repeats x[h=2, w=3] = 3"
    explorer.controls["border"].value = "zero"
    assert explorer.view.panels[0].labels[0] == "padding at h=−2, w=−2, counts as 0"


def test_named_paddings_are_those_of_the_spec() -> None:
    explorer = explore.window(h=5, w=8, r=3, s=2, stride=2, padding="same")
    assert explorer.controls["padding"].disabled
    assert explorer.view.title == str(ConvSpec(n=1, c=1, h=5, w=8, k=1, r=3, s=2, stride=2, padding="same"))
    explorer.controls["mode"].value = "valid"
    assert explorer.view.title == str(ConvSpec(n=1, c=1, h=5, w=8, k=1, r=3, s=2, stride=2, padding="valid"))
    explorer.controls["mode"].value = "number"
    assert not explorer.controls["padding"].disabled
    explorer.controls["padding"].value = 2
    assert explorer.view.title == str(ConvSpec(n=1, c=1, h=5, w=8, k=1, r=3, s=2, stride=2, padding=2))


def expected_size(size: int, taps: int, values: dict[str, Any]) -> int:
    """The output's size by the formulas of the textbooks, 0 where there is none."""
    if values["mode"] == "same":
        return math.ceil(size / values["stride"])
    padding = values["padding"] if values["mode"] == "number" else 0
    return max(0, (size + 2 * padding - values["dilation"] * (taps - 1) - 1) // values["stride"] + 1)


def lacks_pixels(size: int, taps: int, values: dict[str, Any]) -> bool:
    """Whether the padding would repeat more pixels than there are."""
    spanned = (math.ceil(size / values["stride"]) - 1) * values["stride"] + values["dilation"] * (taps - 1) + 1
    widest = {"same": math.ceil(max(0, spanned - size) / 2), "valid": 0, "number": values["padding"]}[values["mode"]]
    return bool(size < {"reflect": widest + 1, "circular": widest}.get(values["border"], 0))


def test_two_hundred_changes_stay_right() -> None:
    rng = np.random.default_rng(3)
    explorer, impossible, refused = explore.window(), 0, 0
    for _ in range(200):
        change(explorer, rng)
        values = explorer.values
        if lacks_pixels(values["h"], values["r"], values) or lacks_pixels(values["w"], values["s"], values):
            refused += 1
            assert f"{values['border']} padding of" in explorer.view.panels[0].message
            continue
        expected = [expected_size(values[a], values[b], values) for a, b in (("h", "r"), ("w", "s"))]
        if 0 in expected:
            impossible += 1
            assert explorer.view.panels[-1].message.startswith("No output: the window spans")
        else:
            assert [*sizes(explorer)] == expected  # the whole range of the controls is drawn whole
    assert impossible > 10
    assert refused > 5


@pytest.mark.parametrize("wrong", [{"h": 17}, {"stride": 0}, {"dilation": 1.5}, {"padding": "reflect"}])
def test_a_start_beyond_the_controls_is_refused(wrong: dict[str, Any]) -> None:
    (value,) = wrong.values()
    with pytest.raises(ValueError, match=re.escape(f"={value!r} is ")) as error:
        explore.window(**wrong)
    assert "In: explore.window(h=" in str(error.value)
    assert "Fix: stay within the controls; views.window(spec) draws every other size." in str(error.value)
