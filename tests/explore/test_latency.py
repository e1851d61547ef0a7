from __future__ import annotations

import pytest

from convlab import explore
from convlab.views.latency import latency as draw


def test_the_explorer_follows_its_fields() -> None:
    explorer = explore.latency(warps=2, busy=3, wait=9)
    assert explorer.view.utilisation == 0.5
    explorer.set({"warps": 3, "busy": 2, "wait": 10})
    assert explorer.view.utilisation == 0.5
    assert explorer.view.title == draw(3, 2, 10).title
    assert explorer._grid.picture == explorer.view.live


@pytest.mark.parametrize("wrong", [{"warps": 17}, {"busy": 0}, {"wait": 41}, {"warps": True}])
def test_the_explorer_names_values_out_of_its_reach(wrong: dict[str, int]) -> None:
    name, value = next(iter(wrong.items()))
    with pytest.raises(ValueError, match=f"^{name}={value} is not a whole number from ") as error:
        explore.latency(**wrong)
    assert "In: explore.latency(warps=" in str(error.value)
    assert "Fix: stay within the controls; views.latency(…) draws every other size." in str(error.value)
