"""The pictures of docs/views: what each view draws today, and a page that shows every one."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from convlab import views
from convlab.views.figure import Picture

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "views"
sys.path.insert(0, str(ROOT / "tools"))
TOOL = runpy.run_path(str(ROOT / "tools" / "draw_views.py"))
sys.path.remove(str(ROOT / "tools"))
NO_VIEWS = {"Frame", "Panel", "View", "cell_ids", "figure", "join", "number_text", "pairs"}


@pytest.mark.parametrize("name", TOOL["EXAMPLES"])
def test_each_picture_is_what_its_view_draws(name: str) -> None:
    kept = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert TOOL["EXAMPLES"][name]().svg() + "\n" == kept, "look at it, then: uv run tools/draw_views.py"
    assert ElementTree.fromstring(kept).get("aria-label")


def test_the_page_shows_each_picture_once_with_its_words() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [page.count(f"]({name}.svg)") for name in TOOL["EXAMPLES"]] == [1] * len(TOOL["EXAMPLES"])
    assert {path.stem for path in FOLDER.glob("*.svg")} == {*TOOL["EXAMPLES"]}
    assert TOOL["pages"]()[FOLDER / "README.md"] == page


def test_every_view_of_linked_grids_has_a_picture() -> None:
    """Plots are drawn with the fonts of Matplotlib's version, so that no picture of them would stay the same."""
    plots = {"occupancy": views.occupancy, "roofline": views.roofline}
    assert isinstance(plots["occupancy"](), Picture)
    assert {*views.__all__} - NO_VIEWS - {*plots} <= {*TOOL["EXAMPLES"]}
