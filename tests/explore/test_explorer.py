"""The frame of explorers, on an explorer that is as small as one can be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from convlab.errors import CompileError
from convlab.explore.controls import Choice, Range
from convlab.explore.controls import make as field
from convlab.explore.explorer import Explorer
from convlab.views import Panel, View

TABLE = {
    "c": Range("Channels", 1, 12),
    "g": Range("Groups", 1, 12),
    "kind": Choice("Kind", {"a": "first", "b": "other"}),
}


def draw(c: int, g: int, kind: str) -> View:
    if c == 11:
        raise ValueError("11 channels have no picture.\n  Fix: take another number.")
    if c == 9:
        raise CompileError("There is no compiler here.\n  Fix: take another machine.")
    panel = Panel(name="p", title="p", rows=1, cols=1, labels=("p",))
    return View(title=f"{c} {g} {kind}", alt="a", panels=[panel])


def limits(values: Mapping[str, Any]) -> Mapping[str, tuple[int, int] | None]:
    return {"g": (1, values["c"]) if values["kind"] == "a" else None}


def make(**values: Any) -> Explorer:
    return Explorer("explore.thing", TABLE, {"c": 4, "g": 2, "kind": "a"} | values, draw, limits, "views.thing does.")


def test_dependent_limits_follow_and_take_their_control_along() -> None:
    explorer = make()
    assert explorer.controls["g"].max == 4
    explorer.controls["g"].value = 3
    explorer.controls["c"].value = 2
    assert explorer.values == {"c": 2, "g": 2, "kind": "a"}
    assert explorer.view.title == "2 2 a"
    explorer.controls["kind"].value = "b"
    assert explorer.controls["g"].disabled
    explorer.controls["kind"].value = "a"
    assert not explorer.controls["g"].disabled


def test_a_state_comes_back_in_whichever_order_limits_ask_for() -> None:
    explorer = make()
    explorer.restore("g:9,c:10,kind:b")
    assert explorer.values == {"c": 10, "g": 9, "kind": "b"}
    explorer.set({"g": 1, "c": 1, "kind": "a"})
    assert explorer.state == "c:1,g:1,kind:a"


def test_a_link_is_for_explorers_that_start_alike() -> None:
    explorer, same, other = make(), make(), make(c=5)
    explorer.controls["c"].value = 5
    assert explorer._grid.call == same._grid.call
    assert explorer._grid.call.startswith("explore.thing-")
    assert explorer.state == other.state
    assert explorer._grid.call != other._grid.call


def test_a_choice_with_long_words_has_a_row_of_its_own() -> None:
    short, long = (field(Choice("Kind", {"a": letters * "w"}), "a").layout.grid_area for letters in (27, 28))
    assert (short, long) == (None, "auto / 1 / auto / -1")


def test_what_cannot_be_drawn_is_said_in_its_place() -> None:
    explorer = make()
    explorer.controls["c"].value = 11
    assert explorer.view.alt == "11 channels have no picture. Take another number."
    assert "11 channels have no picture." in explorer._grid.picture
    explorer.controls["c"].value = 9
    assert explorer.view.alt == "There is no compiler here. Take another machine."
    explorer.controls["c"].value = 12
    assert explorer.view.title == "12 2 a"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"c": 13}, "c=13 is not a whole number from 1 to 12.\n  In: explore.thing(c=13, g=2, kind='a')\n  Fix: stay"),
        ({"c": True}, "c=True is not a whole number from 1 to 12."),
        ({"g": 1.5}, "g=1.5 is not a whole number from 1 to 12."),
        ({"kind": "z"}, "kind='z' is none of 'a', 'b'.\n"),
        ({"c": 0}, "  Fix: stay within the controls; views.thing does."),
    ],
)
def test_a_start_out_of_reach_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="Fix") as error:
        make(**values)
    assert message in str(error.value)


def test_a_bad_state_does_not_stop_the_drawing() -> None:
    explorer = make()
    with pytest.raises(KeyError):
        explorer.set({"nothing": 1})
    explorer.controls["c"].value = 5
    assert explorer.view.title == "5 2 a"
