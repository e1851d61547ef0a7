"""The window picture against the definition of convolution, written out with loops."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from convlab.reference.padding import Mode
from convlab.spec import ConvSpec
from convlab.spec.axis import Axis
from convlab.views import View, window
from convlab.views.side import PART
from convlab.views.window import no_window

Values = npt.NDArray[np.float64]

ASYMMETRIC = ConvSpec(n=2, c=6, h=9, w=7, k=4, r=3, s=2, stride=(2, 1), padding=(1, 0, 2, 3), dilation=(2, 3), groups=2)


def random_spec(seed: int) -> ConvSpec | None:
    draw = np.random.default_rng(seed).integers
    groups = int(draw(1, 3))
    sizes = {
        **{"n": draw(1, 3), "c": groups * draw(1, 4), "k": groups * draw(1, 3)},
        **{"h": draw(3, 40), "w": draw(3, 40), "r": draw(1, 6), "s": draw(1, 6)},
    }
    stride, dilation, padding = (tuple(draw(*ends)) for ends in ((1, 4, 2), (1, 4, 2), (0, 4, 4)))
    try:
        return ConvSpec(**sizes, stride=stride, dilation=dilation, padding=padding, groups=groups)
    except ValueError:
        return None


SPECS = [ASYMMETRIC, *filter(None, map(random_spec, range(30)))]


def place(label: str) -> tuple[str, int, int] | None:
    """Read a cell's tensor and index back from the words that a reader gets; padding counts as x."""
    found = re.match(r"(padding at |[xwy]\[)\w=(−?\d+), \w=(−?\d+)", label)
    if found is None:
        return None
    letter = "x" if found[1] == "padding at " else found[1][0]
    return letter, *(int(number.replace("−", "-")) for number in found.groups()[1:])  # type: ignore[return-value]


def links_in_words(view: View) -> set[frozenset[tuple[str, int, int] | None]]:
    places = [place(label) for panel in view.panels for label in panel.labels]
    links = {frozenset((places[a], places[b])) for a, b in view.links.tolist()}
    return {link for link in links if None not in link}  # channels and filters are no places


def links_by_definition(spec: ConvSpec, p_shown: int, q_shown: int) -> set[frozenset[tuple[str, int, int] | None]]:
    (u, v), (dh, dw), (top, _, left, _) = spec.stride, spec.dilation, spec.padding
    links: set[frozenset[tuple[str, int, int] | None]] = set()
    for p, q, r, s in itertools.product(*map(range, (p_shown, q_shown, spec.r, spec.s))):
        y, w, x = ("y", p, q), ("w", r, s), ("x", p * u - top + r * dh, q * v - left + s * dw)
        links |= {frozenset((y, x)), frozenset((w, x)), frozenset((y, w))}
    return links


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_links_are_those_of_the_definition(spec: ConvSpec) -> None:
    view = window(spec)
    assert links_in_words(view) == links_by_definition(spec, *view.ids["output"].shape)
    assert len(view.links) == len({frozenset(link) for link in view.links.tolist()})


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_every_output_shown_has_its_whole_window(spec: ConvSpec) -> None:
    view = window(spec)
    for cell in view.ids["output"].ravel().tolist():
        lit = np.array(view.linked(cell))
        counts = [int(np.isin(lit, view.ids[name]).sum()) for name in ("input", "filter", "output")]
        assert counts == [spec.r * spec.s, spec.r * spec.s, 0]


def convolution_by_definition(
    x: npt.NDArray[np.float64], w: npt.NDArray[np.float64], spec: ConvSpec
) -> dict[str, float]:
    """The values of y[1, 3], whose filter reads the channels 3 to 5, by their labels' beginnings."""
    (u, v), (dh, dw), (top, _, left, _) = spec.stride, spec.dilation, spec.padding
    y = {}
    for p, q in itertools.product(range(spec.p), range(spec.q)):
        total = 0.0
        for c, r, s in itertools.product(range(3), range(spec.r), range(spec.s)):
            h, width = p * u - top + r * dh, q * v - left + s * dw
            if 0 <= h < spec.h and 0 <= width < spec.w:
                total += x[1, 3 + c, h, width] * w[3, c, r, s]
        y[f"y[p={p}, q={q}]"] = total
    return y


def test_values_are_those_of_the_given_arrays_and_of_the_whole_convolution() -> None:
    rng = np.random.default_rng(7)
    x = rng.integers(1, 10, ASYMMETRIC.input_shape).astype(float)
    w = rng.integers(1, 5, ASYMMETRIC.weight_shape).astype(float)
    view = window(ASYMMETRIC, n=1, c=2, k=3, x=x, w=w)
    inputs, taps, outputs = (
        dict(label.split(", window")[0].split(" = ") for label in panel.labels if " = " in label)
        for panel in view.panels[:3]
    )
    assert inputs == {f"x[h={h}, w={i}]": f"{x[1, 5, h, i]:.0f}" for h in range(9) for i in range(7)}
    assert taps == {f"w[r={r}, s={s}]": f"{w[3, 2, r, s]:.0f}" for r in range(3) for s in range(2)}
    expected = convolution_by_definition(x, w, ASYMMETRIC)
    assert outputs == {label: f"{value:.0f}" for label, value in expected.items()}
    assert [panel.title for panel in view.panels[:3]] == ["Input x[1, 5]", "Filter w[3, 2]", "Output y[1, 3]"]


def test_many_channels_are_all_added() -> None:
    rng = np.random.default_rng(8)
    spec = ConvSpec(n=1, c=150, h=3, w=4, k=1, r=2, s=3)
    x = rng.integers(-9, 10, spec.input_shape)
    w = rng.integers(-9, 10, spec.weight_shape)
    corner = int((x[0, :, :2, :3] * w[0]).sum())
    assert window(spec, x=x, w=w).panels[2].labels[0].startswith(f"y[p=0, q=0] = {corner},".replace("-", "−"))


def test_default_values_are_small_mixed_and_never_a_zero_weight() -> None:
    view = window(ConvSpec(n=1, c=1, h=12, w=9, k=1, r=7, s=5))
    pixels, weights = ([value for value in panel.values if value] for panel in view.panels[:2])
    assert {*pixels} == {*map(str, range(10))}
    assert "0" not in weights
    assert len({*weights}) == 7
    grid = np.array(pixels).reshape(12, 9)
    assert len({tuple(row) for row in grid}) == 12
    assert len({tuple(column) for column in grid.T}) == 9


def test_channels_and_filters_differ_in_their_default_values() -> None:
    views = [window(ASYMMETRIC, n, c, k) for n, c, k in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 2))]
    assert len({(tuple(v.panels[0].values), tuple(v.panels[1].values)) for v in views}) == 5


def test_padding_and_gaps_say_what_they_are() -> None:
    view = window(ASYMMETRIC)
    image, taps = view.panels[:2]
    assert image.labels[0] == "padding at h=−1, w=−2, counts as 0"
    assert image.kinds.count("padding") == 10 * 12 - 9 * 7
    assert taps.labels[1] == "gap of the dilation, no weight"
    assert taps.kinds.count("filter") == 3 * 2
    assert (list(image.row_index[:2]), list(taps.col_index)) == (["−1", "0"], ["0", "", "", "1"])


def test_an_output_names_its_window() -> None:
    labels = window(ASYMMETRIC).panels[2].labels
    assert labels[-1].startswith("y[p=2, q=8] = ")
    assert labels[-1].endswith(", window h=3 to 7, w=6 to 9")


def test_the_formula_stands_below_with_its_numbers() -> None:
    first, second, note = window(ASYMMETRIC).captions
    assert first.endswith("= ⌊(9 + 1 + 0 − 2·(3 − 1) − 1) / 2⌋ + 1 = 3")
    assert second.endswith("= ⌊(7 + 2 + 3 − 3·(2 − 1) − 1) / 1⌋ + 1 = 9")
    assert note == "One of 3 channels is drawn; y adds the products of all."


def test_a_large_input_is_drawn_in_part_and_says_so() -> None:
    view = window(ConvSpec(n=1, c=64, h=224, w=40, k=64, r=7, s=3, stride=2, padding=3))
    assert [(panel.rows, panel.cols) for panel in view.panels] == [(PART, PART), (7, 3), (9, 11)]
    expected = (
        "Too large to draw whole: 24 of 230 input rows, 9 of 112 output rows, "
        "24 of 46 input columns, 11 of 22 output columns are shown."
    )
    assert view.captions[-1] == expected
    assert expected in view.alt


def test_a_filter_larger_than_the_picture_still_has_one_output() -> None:
    spec = ConvSpec(n=1, c=1, h=10**6, w=5, k=1, r=3, s=2, dilation=(40, 1))
    view = window(spec)
    assert [(panel.rows, panel.cols) for panel in view.panels] == [(PART, 5), (PART, 2), (1, 4)]
    value = view.panels[2].labels[0]
    x = 17 * np.array([[0], [40], [80]]) + 43 * np.arange(2) + 3 * np.array([[0], [40], [80]]) ** 2
    x = (x + 17 * np.arange(2) ** 2 + 20 * np.array([[0], [40], [80]]) * np.arange(2) + 3) % 97 % 10
    w = np.array([[2, 1], [3, 4], [-3, -1]])
    assert value.startswith(f"y[p=0, q=0] = {(x * w).sum()}".replace("-", "−"))


@pytest.mark.parametrize(("name", "index", "last"), [("n", 2, 1), ("n", -1, 1), ("c", 3, 2), ("k", 4, 3)])
def test_an_index_out_of_range_is_refused(name: str, index: int, last: int) -> None:
    with pytest.raises(ValueError, match=f"{name}={index} is not there: {name} runs from 0 to {last}") as error:
        window(ASYMMETRIC, **{name: index})  # type: ignore[arg-type]
    assert str(ASYMMETRIC) in str(error.value)
    assert f"Fix: choose {name} in this range." in str(error.value)


def test_arrays_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"x has shape \(9, 7\).\n  In: .*\n  Fix: give x the shape \(2, 6, 9, 7\)"):
        window(ASYMMETRIC, x=np.ones((9, 7)))
    with pytest.raises(ValueError, match=r"w has shape \(4, 6, 3, 2\).\n.*\n  Fix: give w the shape \(4, 3, 3, 2\)"):
        window(ASYMMETRIC, w=np.ones((4, 6, 3, 2)))


SOURCES: dict[Mode, list[int | None]] = {  # of the places −2 … 6 of an axis with five pixels
    "zero": [None, None, 0, 1, 2, 3, 4, None, None],
    "reflect": [2, 1, 0, 1, 2, 3, 4, 3, 2],
    "replicate": [0, 0, 0, 1, 2, 3, 4, 4, 4],
    "circular": [3, 4, 0, 1, 2, 3, 4, 0, 1],
}


def test_the_words_say_what_the_padding_shows() -> None:
    words = {
        "zero": "",
        "reflect": "The padding mirrors the image at its border pixels.",
        "replicate": "The padding repeats the border pixels.",
        "circular": "The padding shows the other end of the image.",
    }
    sizes: dict[str, Any] = {"n": 1, "c": 1, "h": 5, "w": 6, "k": 1, "r": 3, "s": 2}
    for mode in SOURCES:
        view = window(ConvSpec(**sizes, padding=(0, 0, 0, 1)), mode=mode)
        assert [each for each in words.values() if each and each in view.alt] == [
            each for each in [words[mode]] if each
        ]
        assert "padding" not in window(ConvSpec(**sizes), mode=mode).alt.partition(".")[2]


@pytest.mark.parametrize("mode", SOURCES)
def test_padding_shows_the_pixel_that_it_repeats(mode: Mode) -> None:
    spec = ConvSpec(n=1, c=1, h=5, w=6, k=1, r=3, s=2, padding=(2, 2, 0, 1))
    x = np.random.default_rng(4).permutation(30).reshape(spec.input_shape)
    view = window(spec, x=x, mode=mode)
    image, links = view.panels[0], {frozenset(link) for link in view.links.tolist()}
    across = [*range(6), {"zero": None, "reflect": 4, "replicate": 5, "circular": 0}[mode]]
    for (row, h), (col, w) in itertools.product(enumerate(SOURCES[mode]), enumerate(across)):
        cell = row * 7 + col
        if 2 <= row < 7 and col < 6:
            assert (image.cell_kinds[cell], image.values[cell]) == ("input", str(x[0, 0, h, w]))
        elif h is None or w is None:
            assert (image.cell_kinds[cell], image.values[cell]) == ("padding", "")
        else:
            assert (image.cell_kinds[cell], image.values[cell]) == ("copy", str(x[0, 0, h, w]))
            assert image.labels[cell].endswith(f", repeats x[h={h}, w={w}] = {x[0, 0, h, w]}")
            assert frozenset((cell, (h + 2) * 7 + w)) in links
    count = sum(link <= {*range(image.rows * image.cols)} for link in links)
    assert count == image.cell_kinds.count("copy")


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_outputs_are_those_of_the_padded_image(mode: Mode) -> None:
    spec = ConvSpec(n=2, c=4, h=4, w=5, k=6, r=3, s=2, padding=(2, 1, 3, 0), dilation=(1, 2), stride=(1, 2), groups=2)
    rng = np.random.default_rng(5)
    x, w = rng.integers(1, 9, spec.input_shape), rng.integers(-9, 9, spec.weight_shape)
    names = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    padded = np.pad(x[1, 2:], ((0, 0), (2, 1), (3, 0)), mode=names[mode])  # type: ignore[call-overload]
    outputs = np.zeros((spec.p, spec.q), int)
    for p, q, r, s in np.ndindex(spec.p, spec.q, 3, 2):
        outputs[p, q] += (padded[:, p + r, 2 * q + 2 * s] * w[4, :, r, s]).sum()
    view = window(spec, n=1, k=4, x=x, w=w, mode=mode)
    assert view.panels[2].values == [str(value).replace("-", "−") for value in outputs.ravel()]


def test_of_a_large_input_the_padding_names_pixels_that_are_not_drawn() -> None:
    view = window(ConvSpec(n=1, c=1, h=100, w=50, k=1, r=3, s=3, padding=1), mode="circular")
    assert view.panels[0].labels[0].startswith("padding at h=−1, w=−1, repeats x[h=99, w=49] = ")


def test_padding_that_would_repeat_too_much_is_refused() -> None:
    with pytest.raises(ValueError, match=r"reflect padding of 3 pixels needs 4, but the input has 3"):
        window(ConvSpec(n=1, c=1, h=3, w=9, k=1, r=2, s=2, padding=3), mode="reflect")


def test_no_window_shows_padding_of_its_mode() -> None:
    image = no_window(Axis("H", 4, 1, 0, 7, 1, 1), Axis("W", 5, 0, 0, 3, 1, 1), "replicate").panels[0]
    assert image.labels[0].startswith("padding at h=−1, w=0, repeats x[h=0, w=0] = ")


@pytest.mark.parametrize(("c", "k", "groups"), [(6, 4, 2), (8, 8, 8), (6, 9, 3), (80, 40, 2)])
def test_strips_link_each_filter_with_the_channels_that_it_sees(c: int, k: int, groups: int) -> None:
    view = window(ConvSpec(n=1, c=c, h=4, w=5, k=k, r=3, s=2, groups=groups), k=k - 1)
    channels, filters = (view.ids[name].ravel() for name in ("channels", "filters"))
    links = {tuple(sorted(link)) for link in view.links.tolist()}
    found = {(a - channels[0], b - filters[0]) for a, b in links if a >= channels[0]}
    seen = {cell for cell in view.linked(int(view.ids["output"][1, 2])) if cell >= channels[0]}
    weights = np.kron(np.eye(groups), np.ones((c // groups, k // groups)))[: channels.size, : filters.size]
    assert found == {*zip(*np.nonzero(weights), strict=True)}
    own = np.arange(c)[-(c // groups) :]
    assert seen == {*channels[own[own < channels.size]], *filters[k - 1 : k]}
    assert view.panels[0].title == f"Input x[0, {c - c // groups}]"


def test_strips_say_which_channels_the_filter_reads() -> None:
    channels, filters = window(ASYMMETRIC, c=1, k=3).panels[3:]
    assert channels.subtitle == "filter 3 reads channels 3 to 5; 4 is drawn"
    assert filters.subtitle == "2 filters of each group; 3 is drawn"
    depthwise = window(ConvSpec(n=1, c=40, h=4, w=5, k=40, r=3, s=3, groups=40), k=7).panels[3]
    assert depthwise.subtitle == "filter 7 reads channel 7; 7 is drawn"
    assert depthwise.title == "Channels in groups of 1 (34 of 40 shown)"


def test_no_window_shows_both_grids_and_both_reasons() -> None:
    view = no_window(Axis("H", 4, 0, 1, 7, 1, 1), Axis("W", 2, 0, 0, 3, 1, 2))
    assert [(panel.name, panel.rows, panel.cols) for panel in view.panels] == [
        ("input", 5, 2),
        ("filter", 7, 5),
        ("output", 0, 0),
    ]
    message = (
        "No output: the window spans 7 rows but the padded input has 5, "
        "and the window spans 5 columns but the padded input has 2."
    )
    assert view.panels[2].message == message
    assert message in view.alt
    assert len(view.links) == 0
    assert "<svg" in view.svg()
