"""The picture of layouts against addresses written out with loops, and against the trace of a kernel."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

import numpy as np
import pytest

from convlab.spec import LayoutSpec
from convlab.views.coalescing import coalescing
from convlab.views.memory_layout import LayoutView, layout, loads_of
from convlab.views.traced import trace_method

SIZES = [(8, 4, 8, 4), (3, 5, 7, 2), (7, 3, 4, 4), (1, 5, 6, 8), (5, 1, 6, 3), (6, 2, 3, 1), (2, 1, 1, 2), (9, 4, 6, 2)]
CASES = [(*sizes, load) for sizes in SIZES for load in ("pixels", "channels")]
each_case = pytest.mark.parametrize(("c", "h", "w", "pack", "load"), CASES)
Element = tuple[int, int, int]


def elements(c: int, h: int, w: int) -> list[Element]:
    return [*itertools.product(range(c), range(h), range(w))]


def places(c: int, h: int, w: int, pack: int) -> Mapping[str, Mapping[Element, int]]:
    """Where each element lies, by the formula of each layout."""
    every = elements(c, h, w)
    return {
        "NCHW": {(i, j, k): (i * h + j) * w + k for i, j, k in every},
        "NHWC": {(i, j, k): (j * w + k) * c + i for i, j, k in every},
        f"NC/{pack}HW{pack}": {(i, j, k): ((i // pack * h + j) * w + k) * pack + i % pack for i, j, k in every},
    }


def takes(c: int, h: int, w: int, load: str, number: int) -> list[Element]:
    """The elements of a load, lane by lane."""
    if load == "channels":
        every = [(i, j, k) for j in range(h) for k in range(w) for i in range(c)]
        return every[(number - 1) * 32 : number * 32]
    chunks = -(-h * w // 32)
    channel, part = divmod(number - 1, chunks)
    pixels = [(channel, j, k) for j in range(h) for k in range(w)]
    return pixels[part * 32 : part * 32 + 32]


def held(view: LayoutView, name: str) -> dict[Element, int]:
    """The cell of each element in a panel, from the words that a reader gets."""
    found = {}
    (panel,) = [panel for panel in view.panels if panel.name == name]
    for cell, label in zip(view.ids[name].ravel().tolist(), panel.labels, strict=True):
        if match := re.search(r"x\[c=(\d+), h=(\d+), w=(\d+)\]", label):
            found[tuple(map(int, match.groups()))] = cell
    return found  # type: ignore[return-value]


@each_case
def test_every_element_lies_where_its_layout_says(c: int, h: int, w: int, pack: int, load: str) -> None:
    view = layout(c, h, w, pack, load)
    for name, expected in places(c, h, w, pack).items():
        first = int(view.ids[name][0, 0])
        assert {element: cell - first for element, cell in held(view, name).items()} == expected
    tensor = view.ids["tensor"]
    assert held(view, "tensor") == {(i, j, k): int(tensor[j, i * w + k]) for i, j, k in elements(c, h, w)}


@each_case
def test_an_element_is_linked_with_itself_and_its_neighbours_everywhere(
    c: int, h: int, w: int, pack: int, load: str
) -> None:
    view = layout(c, h, w, pack, load)
    everywhere = [held(view, panel.name) for panel in view.panels]
    rng = np.random.default_rng(c)
    every = elements(c, h, w)
    for element in [every[0], every[-1], *(every[i] for i in rng.integers(0, len(every), 6))]:
        near = [each for each in every if sum(abs(a - b) for a, b in zip(each, element, strict=True)) <= 1]
        for cells in everywhere:
            wanted = {other[each] for other in everywhere for each in near} - {cells[element]}
            assert {*view.linked(cells[element])} == wanted


@each_case
def test_what_a_load_takes_and_what_moves_along(c: int, h: int, w: int, pack: int, load: str) -> None:
    count = loads_of(c, h, w, load)
    taken: list[Element] = []
    for number in range(1, count + 1):
        view = layout(c, h, w, pack, load, number)
        asked = takes(c, h, w, load, number)
        taken += asked
        for panel in view.panels[1:]:
            place = places(c, h, w, pack)[panel.name]
            moved = {place[each] // 8 for each in asked}
            assert view.sectors[panel.name] == len(moved)
            assert view.wasted[panel.name] == 32 * len(moved) - 4 * len(asked)
            assert panel.subtitle.startswith(f"{len(moved)} sector")
            kinds = [*panel.cell_kinds]
            blue = {at for at, kind in enumerate(kinds) if kind == "input"}
            assert blue == {place[each] for each in asked}
            inside = {at for at in range(len(kinds)) if at // 8 in moved}
            assert {at for at, kind in enumerate(kinds) if kind == "waste"} == inside - blue
            assert [f"lane {lane} takes it" in panel.labels[place[each]] for lane, each in enumerate(asked)] == [
                True
            ] * len(asked)
    assert sorted(taken) == elements(c, h, w)


def test_a_label_tells_how_far_the_neighbours_lie() -> None:
    view = layout(c=8, h=4, w=8, pack=4, load="pixels", number=3)
    nchw, nhwc, packed = view.panels[1:]
    assert nchw.labels[(2 * 4 + 1) * 8 + 5] == (
        "byte 308 of NCHW: x[c=2, h=1, w=5], lane 13 takes it; elements from here to the next along W 1 (4 bytes), "
        "H 8 (32 bytes), C 32 (128 bytes) (its sector moves)"
    )
    assert nhwc.labels[(3 * 8 + 7) * 8 + 1] == (
        "byte 996 of NHWC: x[c=1, h=3, w=7]; elements from here to the next along C 1 (4 bytes) (its sector moves)"
    )
    end_of_pack = packed.labels[(0 * 8 + 2) * 4 + 3]
    assert end_of_pack.startswith("byte 44 of NC/4HW4: x[c=3, h=0, w=2]; elements from here to the next along W 4 ")
    assert "C 125 (500 bytes)" in end_of_pack


def test_the_last_pack_is_filled_up_and_rows_end_beyond_the_tensor() -> None:
    view = layout(c=3, h=2, w=5, pack=4)
    nchw, _, packed = view.panels[1:]
    assert [at for at, label in enumerate(packed.labels) if "a zero that fills up" in label] == [*range(3, 40, 4)]
    assert {packed.cell_kinds[at] for at in range(3, 40, 4)} <= {"padding", "waste"}
    assert nchw.labels[30] == "byte 120 of NCHW: beyond the tensor"
    assert nchw.cell_kinds[-1] == packed.cell_kinds[-1] == "gap"
    assert view.panels[0].values[:5] == ["0", "1", "2", "3", "4"]
    assert view.panels[2].values[:4] == ["0", "10", "20", "1"]


@pytest.mark.parametrize("c", [3, 5, 8])
def test_the_sectors_are_those_of_a_kernel_that_changes_the_layout(c: int) -> None:
    """It loads 32 pixels of one channel from NCHW, and stores them to NHWC; each of its warps is one load here."""
    run = trace_method("layout_naive", LayoutSpec(n=1, c=c, h=4, w=8), (None, None))
    for number in range(1, c + 1):
        view = layout(c=c, h=4, w=8, load="pixels", number=number)
        found = coalescing(run, trace=number - 1)
        assert (view.sectors["NCHW"], view.sectors["NHWC"]) == found.sectors
        assert view.wasted["NCHW"] + view.wasted["NHWC"] == found.wasted


def test_the_words_tell_the_cost_of_each_layout() -> None:
    view = layout(number=3)
    assert view.captions[0].startswith(
        "Solid blue: load 3 of 8, by 32 lanes of a warp: neighbouring pixels of one channel."
    )
    expected = (
        "NHWC in memory: 32 sectors to move, 896 bytes for nothing; from an element to the next along W, H, C: "
        "32, 256, 4 bytes."
    )
    assert expected in view.alt
    assert view.panels[1].subtitle.endswith("along W, H, C: 4, 32, 128 bytes")
    assert layout(1, 1, 5).panels[1].subtitle.endswith("along W, H, C: 4, –, – bytes")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"c": 0}, r"Such a tensor has no picture.\n  In: views.layout\(c=0, h=4, w=8, pack=4, .*\n  Fix: take sizes"),
        ({"c": 9}, r"Such a tensor has no picture.\n  .*\n  Fix: .* at most 256 elements with those that fill up"),
        ({"pack": 16}, "Such a tensor has no picture."),
        ({"load": "rows"}, "load='rows' is none of 'pixels', 'channels'."),
        ({"number": 0}, r"number=0 is not there: there are 8 loads.\n.*\n  Fix: choose one from 1 to 8."),
        ({"number": 9}, "number=9 is not there"),
    ],
)
def test_what_has_no_picture_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        layout(**wrong)  # type: ignore[arg-type]
