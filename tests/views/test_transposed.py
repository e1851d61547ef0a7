"""The transposed convolution's picture against its definition written out with loops, and against the reference."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from convlab.explore import transposed as explore_transposed
from convlab.reference.transposed import transposed_matrix, zero_insertion
from convlab.spec import ConvTransposeSpec
from convlab.views.transposed import TransposedView, transposed

Place = tuple[int, int]


def random_spec(seed: int) -> ConvTransposeSpec | None:
    draw = np.random.default_rng(seed).integers
    sizes = {"n": 1, "c": 1, "k": 1, "h": draw(1, 5), "w": draw(1, 6), "r": draw(1, 5), "s": draw(1, 4)}
    steps = {"stride": tuple(draw(1, 4, 2)), "dilation": tuple(draw(1, 4, 2)), "padding": tuple(draw(0, 3, 4))}
    try:
        return ConvTransposeSpec(**sizes, **steps, output_padding=tuple(draw(0, 3, 2)))
    except ValueError:
        return None


ASYMMETRIC = ConvTransposeSpec(
    n=1, c=1, h=3, w=4, k=1, r=3, s=2, stride=(2, 3), padding=(1, 0, 0, 2), output_padding=(1, 0), dilation=(1, 2)
)
BEYOND = ConvTransposeSpec(n=1, c=1, h=2, w=3, k=1, r=1, s=2, stride=3, output_padding=(2, 1))
SPECS = [ASYMMETRIC, BEYOND, *filter(None, map(random_spec, range(24)))]


def products(spec: ConvTransposeSpec) -> list[tuple[Place, Place, Place]]:
    """Pixel, tap and output (which may lie outside) of every product."""
    top, _, left, _ = spec.padding
    return [
        (
            (h, w),
            (r, s),
            (h * spec.stride[0] + r * spec.dilation[0] - top, w * spec.stride[1] + s * spec.dilation[1] - left),
        )
        for h, w, r, s in itertools.product(*map(range, (spec.h, spec.w, spec.r, spec.s)))
    ]


def inside(place: Place, spec: ConvTransposeSpec) -> bool:
    return 0 <= place[0] < spec.p and 0 <= place[1] < spec.q


def number_of(view: TransposedView, panel: str, place: Place) -> int:
    """The number of a cell, by its index in words: y counts from what is cropped."""
    words = next(each for each in view.panels if each.name == panel)
    row, col = (
        list(index).index(str(i).replace("-", "−"))
        for index, i in zip((words.row_index, words.col_index), place, strict=True)
    )
    return int(view.ids[panel][row, col])


def lit(view: TransposedView, panel: str, place: Place, other: str) -> set[int]:
    return {*view.linked(number_of(view, panel, place))} & {*view.ids[other].ravel().tolist()}


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_an_input_cell_lights_where_it_adds_to_and_an_output_what_it_is_made_of(spec: ConvTransposeSpec) -> None:
    view, made = transposed(spec), products(spec)
    for pixel in itertools.product(range(spec.h), range(spec.w)):
        reached = {y for x, _, y in made if x == pixel}
        assert lit(view, "input", pixel, "output") == {number_of(view, "output", y) for y in reached}
        kept = {number_of(view, "overlap", y) for y in reached if inside(y, spec)}
        assert lit(view, "input", pixel, "overlap") == kept
    for y in itertools.product(range(spec.p), range(spec.q)):
        mine = [(pixel, tap) for pixel, tap, place in made if place == y]
        assert lit(view, "output", y, "input") == {number_of(view, "input", pixel) for pixel, _ in mine}
        assert lit(view, "output", y, "filter") == {number_of(view, "filter", tap) for _, tap in mine}
        assert lit(view, "output", y, "overlap") == {number_of(view, "overlap", y)}
        assert view.overlap[y] == len(mine)


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_values_are_those_of_the_definition_and_of_both_references(spec: ConvTransposeSpec) -> None:
    rng = np.random.default_rng(5)
    x, w = rng.integers(-9, 10, (spec.h, spec.w)), rng.integers(-9, 10, (spec.r, spec.s))
    view = transposed(spec, x, w)
    y = np.zeros((spec.p, spec.q), int)
    for pixel, tap, place in products(spec):
        if inside(place, spec):
            y[place] += x[pixel] * w[tap]
    labels = next(panel for panel in view.panels if panel.name == "output").labels
    found = re.findall(r"y\[p=(\d+), q=(\d+)\] = (−?\d+), ", " ".join(labels))
    assert {(int(p), int(q)): int(value.replace("−", "-")) for p, q, value in found} == dict(np.ndenumerate(y))
    for reference in (transposed_matrix, zero_insertion):
        tensors = x.reshape(spec.input_shape), w.reshape(spec.weight_shape)
        assert np.array_equal(reference(*tensors, None, spec)[0, 0], y)


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_the_spread_input_convolved_with_the_turned_filter_is_the_output(spec: ConvTransposeSpec) -> None:
    view = transposed(spec)
    panels = {panel.name: panel for panel in view.panels}
    numbers = {
        name: np.array([float(value or 0) for value in panels[name].values]).reshape(panels[name].rows, -1)
        for name in ("spread", "turned", "output")
    }
    top, _, left, _ = spec.padding
    for p, q in itertools.product(range(spec.p), range(spec.q)):
        window = numbers["spread"][
            p : p + (spec.r - 1) * spec.dilation[0] + 1 : spec.dilation[0],
            q : q + (spec.s - 1) * spec.dilation[1] + 1 : spec.dilation[1],
        ]
        assert (window * numbers["turned"]).sum() == numbers["output"][top + p, left + q]
        cells = view.ids["spread"][
            p : p + (spec.r - 1) * spec.dilation[0] + 1 : spec.dilation[0],
            q : q + (spec.s - 1) * spec.dilation[1] + 1 : spec.dilation[1],
        ]
        assert lit(view, "output", (p, q), "spread") == {*cells.ravel().tolist()}
        assert lit(view, "output", (p, q), "turned") == {*view.ids["turned"].ravel().tolist()}


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_the_frames_add_one_pixel_after_the_other(spec: ConvTransposeSpec) -> None:
    view = transposed(spec)
    panels = {panel.name: panel for panel in view.panels}
    y: dict[int, int] = {}
    pixels = list(itertools.product(range(spec.h), range(spec.w)))
    whole, *steps = view.frames
    assert (whole.cells, whole.caption.split()[1]) == ([], str(len(pixels)))
    for frame, pixel in zip(steps, pixels, strict=True):
        assert frame.here == number_of(view, "input", pixel)
        reached = set()
        for x, tap, place in products(spec):
            if x == pixel:
                cell = number_of(view, "output", place)
                value = int(panels["input"].values[pixel[0] * spec.w + pixel[1]])
                if inside(place, spec):
                    y[cell] = y.get(cell, 0) + value * int(panels["filter"].values[tap[0] * spec.s + tap[1]])
                reached.add(cell)
        assert {cell: int(text) for cell, text in frame.values.items() if text} == y
        assert {*frame.lit} & {*view.ids["output"].ravel().tolist()} == reached
        alike = {*view.linked(frame.here)} & {*view.ids["spread"].ravel().tolist()}
        assert {*frame.lit} & {*view.ids["spread"].ravel().tolist()} == alike


def inner_counts(kernel: int, stride: int, dilation: int) -> set[int]:
    """How many products outputs far from every border have, by looking at a large one."""
    counts = np.zeros((400,), int)
    for i in range(60):
        for r in range(kernel):
            counts[i * stride + r * dilation] += 1
    return {*counts[20 : 20 + stride].tolist()}


@pytest.mark.parametrize(("kernel", "stride", "dilation"), [*itertools.product(range(1, 6), range(1, 5), range(1, 4))])
def test_even_means_that_all_inner_outputs_have_equally_many_products(kernel: int, stride: int, dilation: int) -> None:
    spec = ConvTransposeSpec(n=1, c=1, h=3, w=3, k=1, r=kernel, s=kernel, stride=stride, dilation=dilation)
    view = transposed(spec)
    counts = {a * b for a, b in itertools.product(*2 * [inner_counts(kernel, stride, dilation)])}
    assert view.even == (len(counts) == 1)
    sentence = view.captions[1]
    if view.even:
        assert re.search(rf"the sum of {max(counts)} products?\.$", sentence)
    else:
        assert f"sums of {min(counts)} to {max(counts)} products" in sentence
        assert "Cure: a filter whose size is a multiple of the stride" in sentence
        assert "resize the input first" in sentence


def test_uneven_overlap_is_explained_with_its_cause() -> None:
    uneven = {"n": 1, "c": 1, "h": 3, "w": 3, "k": 1, "r": 3, "s": 3, "stride": 2}
    assert "since a filter of 3 is no multiple of stride 2. Cure" in transposed(ConvTransposeSpec(**uneven)).captions[1]
    dilated = ConvTransposeSpec(**uneven, dilation=2)
    assert "since dilation 2 shares a factor with stride 2. Cure" in transposed(dilated).captions[1]


def test_captions_and_words_have_the_present_numbers() -> None:
    view = transposed(ASYMMETRIC)
    assert view.captions[0].endswith("= (3 − 1)·2 + 1·(3 − 1) + 1 − 1 + 1 = 7.")
    assert view.captions[1].endswith("= (4 − 1)·3 + 2·(2 − 1) + 1 − 2 + 0 = 10.")
    zeros = 420 - sum(inside(place, ASYMMETRIC) for *_, place in products(ASYMMETRIC))
    assert view.captions[3].startswith("Adding copies takes H·W·R·S = 72 products; ")
    assert f"takes P·Q·R·S = 420, of which {zeros} ({100 * zeros / 420:.0f} %) have" in view.captions[3]
    assert all(caption in view.alt for caption in view.captions)
    assert "row −1, column 0: cropped away" in view.panels[3].labels
    assert view.frames[1].caption == "x[h=0, w=0] = 1 adds 1 times the filter to the cells that are lit."


def test_more_than_one_channel_and_wrong_arrays_are_refused() -> None:
    with pytest.raises(ValueError, match="The picture has one channel, not 2 and 3") as error:
        transposed(ConvTransposeSpec(n=1, c=2, h=3, w=3, k=3, r=2, s=2))
    assert "Fix: draw one channel of one image: n=1, c=1, k=1." in str(error.value)
    with pytest.raises(ValueError, match=r"x has shape \(4, 3\).\n  In: .*\n  Fix: give x the shape \(3, 4\)"):
        transposed(ASYMMETRIC, x=np.ones((4, 3)))
    with pytest.raises(ValueError, match=r"w has shape \(2, 3\)"):
        transposed(ASYMMETRIC, w=np.ones((2, 3)))


def test_all_that_the_explorer_reaches_has_numbers_in_its_cells() -> None:
    explorer, rng = explore_transposed(), np.random.default_rng(11)
    for _ in range(120):
        name = str(rng.choice([*explorer.controls]))
        field = explorer.controls[name]
        field.value = int(rng.integers(field.min, field.max + 1))
        view = explorer.view
        assert isinstance(view, TransposedView)
        longest = max(len(value) for panel in view.panels for value in panel.values)
        assert longest <= 2
        assert view.svg().count('font-size="0"') == 0
