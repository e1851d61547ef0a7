"""The receptive field picture against brute force: which outputs change when one pixel does."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from convlab.views import receptive_field
from convlab.views.receptive_field import Layer, spans

Values = npt.NDArray[np.int64]


def convolved(x: Values, layer: Layer) -> Values:
    """One layer whose weights are all 1, written out, over the rows of ``x``."""
    reach = layer.dilation * (layer.kernel - 1)
    starts = range(0, len(x) - reach, layer.stride)
    return np.array([sum(x[start + layer.dilation * tap] for tap in range(layer.kernel)) for start in starts])


def responses(layers: list[Layer], pixels: int, low: int, high: int) -> Values:
    """How each cell of layer ``high`` answers to a 1 in each cell of layer ``low``, of shape (cells, cells before)."""
    before = np.zeros((pixels, 1), int)
    for layer in layers[:low]:
        before = convolved(before, layer)
    answers = np.eye(len(before), dtype=int)
    for layer in layers[low:high]:
        answers = convolved(answers, layer)
    return answers


def random_stack(seed: int) -> list[Layer]:
    draw = np.random.default_rng(seed).integers
    while True:
        layers = [Layer(int(draw(1, 5)), int(draw(1, 4)), int(draw(1, 5))) for _ in range(draw(1, 5))]
        if spans(layers)[-1].size <= 67:
            return layers


STACKS = [[Layer(3, 1, 2)] * 3, [Layer(3, 1, d) for d in (1, 2, 4)], *map(random_stack, range(40))]


@pytest.mark.parametrize("layers", STACKS, ids=str)
def test_size_and_jump_are_those_of_brute_force(layers: list[Layer]) -> None:
    view = receptive_field(layers)
    answers = responses(layers, 220, 0, len(layers)) > 0
    touched = [np.flatnonzero(row) for row in answers]
    assert view.size == touched[0][-1] - touched[0][0] + 1
    assert view.jump == touched[1][0] - touched[0][0]
    assert view.read == len(touched[0])


@pytest.mark.parametrize("layers", STACKS, ids=str)
def test_links_numbers_and_marks_are_those_of_brute_force(layers: list[Layer]) -> None:
    view = receptive_field(layers)
    width, last = view.panels[-1].cols, len(layers)
    panels = view.panels[::-1]
    cells = [[at for at, kind in enumerate(panel.cell_kinds) if kind != "gap"] for panel in panels]
    links = set()
    for low in range(last):
        for high in range(low + 1, last + 1):
            for above, below in np.argwhere(responses(layers, width, low, high)).tolist():
                ids = view.ids[panels[high].name], view.ids[panels[low].name]
                links.add((ids[0][0, cells[high][above]], ids[1][0, cells[low][below]]))
    assert {tuple(link) for link in view.links.tolist()} == links
    for low in range(last):
        (paths,) = responses(layers, width, low, last)[len(cells[-1]) // 2 : len(cells[-1]) // 2 + 1]
        assert [panels[low].values[at] for at in cells[low]] == [str(count) if count else "" for count in paths]
    marked = np.flatnonzero(responses(layers, width, 0, last)[len(cells[-1]) // 2])
    skipped = {*range(marked[0], marked[-1])} - {*marked}
    assert {at for at, kind in enumerate(panels[0].cell_kinds) if kind == "waste"} == skipped
    assert len(marked) == view.read


def test_cells_stand_above_the_middle_of_what_they_span() -> None:
    layers = [Layer(2, 2, 1), Layer(2, 1, 3), Layer(3, 1, 1)]
    view = receptive_field(layers)
    for at, panel in enumerate(view.panels[:-1]):
        answers = responses(layers, view.panels[-1].cols, 0, len(layers) - at)
        middles = [int(np.flatnonzero(row)[[0, -1]].sum()) // 2 for row in answers]
        assert [place for place, kind in enumerate(panel.cell_kinds) if kind != "gap"] == middles


def test_equal_dilations_leave_gaps_and_growing_ones_none() -> None:
    gridded, whole = receptive_field([(3, 1, 2)] * 3), receptive_field([(3, 1, 1), (3, 1, 2), (3, 1, 4)])
    assert (gridded.size, gridded.read) == (13, 7)
    assert (whole.size, whole.read) == (15, 15)
    assert "waste" not in whole.panels[-1].cell_kinds
    assert "inside the marked output’s receptive field, but not read by it" in gridded.svg()
    assert gridded.captions[0].startswith("An output spans 1 + 2·2·1 + 2·2·1 + 2·2·1 = 13 pixels")
    assert "It reads 7 of them; its neighbours read the others." in gridded.alt
    assert "It reads all 15 of them. Jump: neighbouring outputs lie 1 pixel apart." in whole.alt


@pytest.mark.parametrize(
    "layers",
    [*STACKS, [Layer(3, 2, 2)], [Layer(2, 3, 2)], [Layer(3, 2, 2), Layer(2, 2, 1)], [Layer(2, 2, 3), Layer(2, 3, 3)]],
    ids=str,
)
def test_who_reads_what_the_marked_output_skips_is_told_by_brute_force(layers: list[Layer]) -> None:
    answers = responses(layers, 400, 0, len(layers)) > 0
    middle = np.flatnonzero(answers[len(answers) // 2])
    skipped = np.setdiff1d(np.arange(middle[0], middle[-1]), middle)
    by_others = answers[:, skipped].any(axis=0)
    words = {
        (False, False): "no output reads the others",
        (True, False): "its neighbours read some of the others, none the rest",
        (True, True): "its neighbours read the others",
    }
    sentence = words[bool(by_others.any()), bool(by_others.all())] if skipped.size else "It reads all "
    assert sentence in receptive_field(layers).captions[1]


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        ([], r"There is no layer\.\n  Fix: give at least one, such as Layer\(kernel=3\)\."),
        ([(3, 0, 1)], r"stride=0 is not a whole number from 1 up\.\n  In: Layer\(.*\)\n  Fix: give stride in cells\."),
        ([(3, 1, 1.5)], r"dilation=1.5 is not a whole number"),
        ([(5, 2, 9)] * 2, r"spans 109 pixels, more than the 67 that can be drawn\.\n  In: .*\n  Fix: use fewer layers"),
    ],
)
def test_what_cannot_be_drawn_is_refused(layers: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        receptive_field(layers)
