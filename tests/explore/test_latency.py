from __future__ import annotations

import pytest

from convlab import explore
from convlab.views.latency import latency as draw


def test_the_explorer_follows_its_fields() -> None:
    explorer = explore.latency(warps=2, busy=3, wait=9)
    assert explorer.view.utilisation == 0.5
    for name, value in {"warps": 3, "busy": 2, "wait": 10}.items():
        explorer.numbers[name].value = value
    assert explorer.view.utilisation == 0.5
    assert explorer.view.title == draw(3, 2, 10).title
    assert explorer._grid.picture["title"] == explorer.view.title


def test_each_field_is_linked_with_its_slider_in_the_browser() -> None:
    explorer = explore.latency()
    for box, (name, number) in zip(explorer.children[0].children, explorer.numbers.items(), strict=True):
        field, slider = box.children
        assert field is number
        assert (slider.min, slider.max, slider.value) == (number.min, number.max, number.value), name
        assert slider.tooltip == number.description


def test_the_explorer_shows_a_picture_where_no_widgets_are() -> None:
    explorer = explore.latency(warps=4)
    bundle = explorer._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg")
    assert bundle["text/plain"] == explorer.view.alt
    assert "application/vnd.jupyter.widget-view+json" in bundle


@pytest.mark.parametrize("wrong", [{"warps": 17}, {"busy": 0}, {"wait": 41}, {"warps": True}])
def test_the_explorer_names_values_out_of_its_reach(wrong: dict[str, int]) -> None:
    name, value = next(iter(wrong.items()))
    with pytest.raises(ValueError, match=f"^{name}={value} is not a whole number from ") as error:
        explore.latency(**wrong)
    assert "In: explore.latency(warps=" in str(error.value)
    assert "Fix: stay within the controls; views.latency(…) draws every other size." in str(error.value)
