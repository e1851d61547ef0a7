"""The drawing: well-formed, escaped, complete, and within its page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np
import pytest

from convlab.spec import ConvSpec
from convlab.views import Frame, Panel, View, pairs, window
from convlab.views.palette import KINDS, STYLE

SVG = "{http://www.w3.org/2000/svg}"
SPECS = {
    "small": ConvSpec(n=1, c=1, h=6, w=7, k=1, r=3, s=2, padding=1),
    "dilated": ConvSpec(n=1, c=2, h=9, w=12, k=4, r=3, s=2, stride=(2, 1), padding=(1, 2, 0, 3), dilation=(1, 3)),
    "one cell": ConvSpec(n=1, c=1, h=1, w=1, k=1, r=1, s=1),
    "large": ConvSpec(n=1, c=3, h=224, w=200, k=8, r=7, s=5, stride=2, padding=3),
    "wide": ConvSpec(n=1, c=1, h=1, w=4000, k=1, r=1, s=1),
}


def by_class(root: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    return (each for each in root.iter() if name in each.get("class", "").split())


def row(name: str, cells: int, **options: object) -> Panel:
    labels = [f"{name}[{i}]" for i in range(cells)]
    return Panel(name=name, title=name, rows=1, cols=cells, labels=labels, **options)  # type: ignore[arg-type]


def view_of(*panels: Panel, **options: object) -> View:
    return View(title="t", alt="a", panels=panels, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_every_cell_is_drawn_once_in_the_order_of_its_number(spec: ConvSpec) -> None:
    view = window(spec)
    root = ElementTree.fromstring(view.svg())
    labels = [cell.get("aria-label") for cell in by_class(root, "cl-cell")]
    assert labels == [label for panel in view.panels for label in panel.labels]
    for group, panel in zip(by_class(root, "cl-panel"), view.panels, strict=True):
        rows = [each for each in group.iter() if each.get("role") == "row"]
        assert [len(list(by_class(each, "cl-cell"))) for each in rows] == [panel.cols] * panel.rows
        assert (group.get("data-name"), group.get("data-cols")) == (panel.name, str(panel.cols))


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_the_picture_holds_its_panels_side_by_side(spec: ConvSpec) -> None:
    root = ElementTree.fromstring(window(spec).svg())
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    right = 0.0
    for group in by_class(root, "cl-panel"):
        x, y = map(float, re.findall(r"[\d.]+", group.get("transform", "")))
        board = next(by_class(group, "cl-board"))
        assert x >= right + 20  # room for the index of the rows
        right = x + float(board.get("width", 0))
        assert y + float(board.get("height", 0)) < height
    assert right < width
    assert 720 <= width <= 1000


def test_an_image_has_its_alternative_text() -> None:
    view = window(SPECS["dilated"])
    root = ElementTree.fromstring(view.svg())
    assert (root.get("role"), root.get("aria-label")) == ("img", view.alt)
    for part in ("9 × 12, padded to 12 × 15", "3 × 2, dilated to 3 × 4", "5 × 12", "One of 2 channels"):
        assert part in view.alt


def test_hostile_text_stays_text_and_well_formed() -> None:
    hostile = "</text><script>alert('x')</script> & \" \x00\x1b\ud800 ]]>"
    one = Panel(
        name=hostile,
        title=hostile,
        subtitle=hostile,
        rows=1,
        cols=1,
        labels=(hostile,),
        values=(hostile[:3],),
        row_axis=hostile,
        row_index=(hostile,),
        operator=hostile,
    )
    none = Panel(name="m", title="m", rows=0, cols=0, labels=(), message=hostile)
    view = View(title=hostile, alt=hostile, panels=(one, none), captions=(hostile,))
    root = ElementTree.fromstring(view.svg())
    assert not [each for each in root.iter() if each.tag == f"{SVG}script"]
    expected = hostile.replace("\x00", "�").replace("\x1b", "�").replace("\ud800", "�")
    assert root.get("aria-label") == expected
    assert next(by_class(root, "cl-cell")).get("aria-label") == expected
    assert "<script" not in view.svg()


def test_numbers_are_dropped_where_cells_are_too_small_for_them() -> None:
    def texts(view: View) -> int:
        return sum(
            len(list(cell.iter(f"{SVG}text"))) for cell in by_class(ElementTree.fromstring(view.svg()), "cl-cell")
        )

    assert texts(view_of(row("a", 20, values=["7"] * 20))) == 20
    assert texts(view_of(row("a", 60, values=["7"] * 60))) == 0
    assert texts(view_of(row("a", 20, values=["1234567"] * 20))) == 0


def test_only_kinds_in_the_picture_are_explained() -> None:
    assert "padding: counts as 0" in window(SPECS["small"]).svg()
    assert "gap of the dilation" not in window(SPECS["small"]).svg()
    assert "gap of the dilation" in window(SPECS["dilated"]).svg()
    assert "padding: counts" not in window(SPECS["one cell"]).svg()


def test_wide_cells_are_hatched_over_their_whole_width() -> None:
    root = ElementTree.fromstring(view_of(row("a", 4, kinds=["input", "waste"] * 2, cell_width=3)).svg())
    hatch = next(by_class(root, "cl-hatch"))
    starts = {int(start.split()[0]) // 34 for start in hatch.get("d", "").split("M")[1:]}
    assert starts == {3, 4, 5, 9, 10, 11}


def test_padding_is_hatched_and_marked_for_sentences() -> None:
    root = ElementTree.fromstring(window(SPECS["small"]).svg())
    padding = [cell for cell in by_class(root, "cl-cell") if cell.get("data-aside") == "padding"]
    assert len(padding) == 8 * 9 - 6 * 7
    assert all("cl-padding" in cell.get("class", "").split() for cell in padding)
    hatch = next(by_class(root, "cl-hatch")).get("d", "")
    assert hatch.count("M") == len(padding)


def test_a_frame_marks_cells_and_writes_into_them() -> None:
    frames = [Frame("first", here=3, lit=(0, 1)), Frame("second", here=4, lit=(1, 2), values={4: "9"})]
    view = view_of(row("a", 3), row("b", 2, values=("?", "?")), frames=frames)

    def marked(number: int) -> tuple[list[str | None], list[str | None], list[str | None]]:
        root = ElementTree.fromstring(view.svg(number))
        lit, here = ([cell.get("aria-label") for cell in by_class(root, name)] for name in ("cl-lit", "cl-here"))
        return here, lit, [each.text for cell in by_class(root, "cl-cell") for each in cell.iter(f"{SVG}text")]

    assert marked(0) == (["b[0]"], ["a[0]", "a[1]"], ["?", "?"])
    assert marked(1) == (["b[1]"], ["a[1]", "a[2]"], ["?", "9"])


def test_the_still_picture_shows_the_example_and_the_live_one_nothing() -> None:
    view = view_of(row("a", 3), row("b", 2), links=pairs([0, 1], 3), example=3)
    assert [each.get("aria-label") for each in by_class(ElementTree.fromstring(view.svg()), "cl-lit")] == [
        "a[0]",
        "a[1]",
    ]
    live = ElementTree.fromstring(view.widget.picture)
    assert not list(by_class(live, "cl-lit"))
    assert not list(by_class(live, "cl-here"))


def test_panels_of_another_line_stand_below() -> None:
    root = ElementTree.fromstring(view_of(row("a", 3), row("b", 3, line=1)).svg())
    places = [re.findall(r"\d+", group.get("transform", "")) for group in by_class(root, "cl-panel")]
    assert places[0][0] == places[1][0]
    assert int(places[1][1]) > int(places[0][1]) + 34


def test_shades_replace_the_colours_of_kinds() -> None:
    root = ElementTree.fromstring(view_of(row("a", 3, shades=(0, 0.5, 1), kinds="input")).svg())
    assert [cell.get("class") for cell in by_class(root, "cl-cell")] == [f"cl-cell cl-s{step}" for step in (0, 5, 9)]


def test_small_cells_are_indexed_at_round_numbers() -> None:
    view = window(ConvSpec(n=1, c=1, h=200, w=200, k=1, r=1, s=1, padding=3))
    index = [each.text for each in by_class(ElementTree.fromstring(view.svg()), "cl-index")]
    assert index[:4] == ["−2", "0", "2", "4"]


def luminance(colour: str) -> float:
    channels = [value / 255 for value in bytes.fromhex(colour[1:])]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def contrast(a: str, b: str) -> float:
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def fill(selector: str) -> str:
    found = re.search(re.escape(selector) + r"\{fill:(#[0-9a-f]{6})", STYLE)
    assert found, f"the style has no fill for {selector}"
    return found[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scope", ["}", '[data-jp-theme-light="false"] '], ids=["light", "dark"])
def test_numbers_are_legible_in_each_state_and_theme(scope: str, kind: str) -> None:
    ink, paper = fill(f"{scope}.cl-view" if scope != "}" else "\n.cl-view"), fill(f"{scope}.cl-{kind}.cl-here text")
    assert contrast(ink, fill(f"{scope}.cl-{kind} rect")) >= 7
    assert contrast(ink, fill(f"{scope}.cl-{kind}.cl-lit rect")) >= 4.5
    assert contrast(paper, fill(f"{scope}.cl-{kind}.cl-here rect")) >= 4.5


def test_heavy_lines_run_where_regions_meet_and_around_them() -> None:
    panel = Panel(name="y", title="y", rows=2, cols=3, labels="abcdef", regions=(0, 0, 1, 0, 2, 2))
    drawing = View(title="", alt="", panels=[panel]).svg()
    pitch = 34
    (path,) = re.findall(r'class="cl-line" d="([^"]*)"', drawing)
    below = {(0, 2), (1, 1), (1, 2), (2, 1), (2, 2)}  # (row, column) of the cell above which a line runs
    beside = {(0, 2), (0, 3), (1, 1), (1, 3)}  # and of the cell left of which one runs; region 0 is not framed
    steps = [f"M{col * pitch} {row * pitch}h{pitch}" for row, col in sorted(below)]
    steps += [f"M{col * pitch} {row * pitch}v{pitch}" for row, col in sorted(beside)]
    assert path == "".join(steps)


def test_texts_of_steps_have_room_in_their_cells() -> None:
    panel = row("a", 2, values=("1", "2"))
    sizes = [
        float(re.findall(r'<g font-size="([\d.]+)">', view_of(panel, frames=[Frame("x", values={1: text})]).live)[0])
        for text in ("3", "12345")
    ]
    assert sizes[1] < sizes[0]
