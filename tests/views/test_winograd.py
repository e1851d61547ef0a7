"""The stages of F(2×2, 3×3), against the reference, the definition, and the formulas of Lavin and Gray."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from convlab.reference.direct import oracle
from convlab.reference.winograd import transforms, winograd_f2
from convlab.spec import ConvSpec
from convlab.views.view import View
from convlab.views.winograd import winograd

SPECS = [
    ConvSpec(n=1, c=1, h=5, w=8, k=1, r=3, s=3, padding=1),
    ConvSpec(n=1, c=1, h=3, w=4, k=1, r=3, s=3),
    ConvSpec(n=2, c=6, h=9, w=4, k=4, r=3, s=3, padding=(2, 1, 0, 3), groups=2),
    ConvSpec(n=1, c=2, h=14, w=27, k=3, r=3, s=3, padding=1),
]
CASES = [
    (spec, tile)
    for spec in SPECS
    for tile in itertools.product(range(0, -(-spec.p // 2), 2), range(0, -(-spec.q // 2), 3))
]


def cells(view: View, name: str) -> npt.NDArray[np.object_]:
    panel = next(panel for panel in view.panels if panel.name == name)
    texts = [label.split(" = ")[1].split(",")[0] if " = " in label else "0" for label in panel.labels]
    return np.array([Fraction(text.replace("−", "-")) for text in texts], object).reshape(panel.rows, panel.cols)


def places(view: View, name: str) -> list[tuple[int, int]]:
    panel = next(panel for panel in view.panels if panel.name == name)
    found = [re.search(r"\w=(−?\d+), \w=(−?\d+)", label) for label in panel.labels]
    return [(int(each[1].replace("−", "-")), int(each[2].replace("−", "-"))) for each in found if each]


@pytest.mark.parametrize(("spec", "tile"), CASES, ids=str)
def test_each_stage_follows_from_the_one_before(spec: ConvSpec, tile: tuple[int, int]) -> None:
    view = winograd(spec, tile, n=spec.n - 1, c=spec.c // spec.groups - 1, k=spec.k - 1)
    bt, g, at = cells(view, "Bᵀ"), cells(view, "G"), cells(view, "Aᵀ")
    exact = transforms(2, 3)
    assert [bt.tolist(), g.tolist(), at.tolist()] == [[list(row) for row in m] for m in (exact.bt, exact.g, exact.at)]
    where = dict(zip(places(view, "input"), cells(view, "input").ravel().tolist(), strict=True))
    top, _, left, _ = spec.padding
    corner = 2 * tile[0] - top, 2 * tile[1] - left
    d = np.array([[where[corner[0] + i, corner[1] + j] for j in range(4)] for i in range(4)], object)
    v, u, m = (cells(view, name) for name in "VUM")
    assert (bt @ d @ bt.T == v).all()
    assert (g @ cells(view, "filter") @ g.T == u).all()
    assert (u * v == m).all()
    y = dict(zip(places(view, "output"), cells(view, "output").ravel().tolist(), strict=True))
    found = np.array([[y[2 * tile[0] + i, 2 * tile[1] + j] for j in (0, 1)] for i in (0, 1)], object)
    assert (at @ m @ at.T == found).all()


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_outputs_are_those_of_the_definition_and_of_the_reference(spec: ConvSpec) -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(-9, 10, spec.input_shape).astype(float)
    w = rng.integers(-5, 6, spec.weight_shape).astype(float)
    n, k = spec.n - 1, spec.k - 1
    for c in range(spec.c // spec.groups):
        channel = k // (spec.k // spec.groups) * (spec.c // spec.groups) + c
        view = winograd(spec, (0, 0), n=n, c=c, k=k, x=x, w=w)
        alone = ConvSpec(n=1, c=1, h=spec.h, w=spec.w, k=1, r=3, s=3, padding=spec.padding)
        arrays = x[n : n + 1, channel : channel + 1], w[k : k + 1, c : c + 1], None, alone
        expected, other = oracle(*arrays)[0, 0], winograd_f2(*arrays)[0, 0]
        panel = view.panels[-1]
        for place, value, kind in zip(places(view, "output"), cells(view, "output").flat, panel.kinds, strict=True):
            inside = place[0] < spec.p and place[1] < spec.q
            assert kind == ("output" if inside else "waste")
            if inside:
                assert value == expected[place] == other[place]


def used(rows: list[list[int]], i: int, j: int) -> set[tuple[int, int]]:
    """The elements that element i, j of a two-sided product needs, from the places of the matrix that are not 0."""
    return {*itertools.product(rows[i], rows[j])}


# Where the matrices of Lavin and Gray, section 4.1, have no zero.
BT, G, AT = [[0, 2], [1, 2], [1, 2], [1, 3]], [[0], [0, 1, 2], [0, 1, 2], [2]], [[0, 1, 2], [1, 2, 3]]


@pytest.mark.parametrize(("spec", "tile"), CASES, ids=str)
def test_links_are_what_each_cell_is_made_of(spec: ConvSpec, tile: tuple[int, int]) -> None:
    view = winograd(spec, tile)
    ids = view.ids
    at_input = dict(zip(places(view, "input"), ids["input"].ravel().tolist(), strict=True))
    top, _, left, _ = spec.padding

    def pixel(place: tuple[int, ...], here: tuple[int, int]) -> int:
        return int(at_input[2 * here[0] + place[0] - top, 2 * here[1] + place[1] - left])

    def own(name: str, rows: list[list[int]], i: int, j: int) -> set[int]:
        return {int(ids[name][row, col]) for row in (i, j) for col in rows[row]}

    for i, j in np.ndindex(4, 4):
        m = int(ids["M"][i, j])
        v = {pixel(each, tile) for each in used(BT, i, j)} | own("Bᵀ", BT, i, j) | {m}
        u = {int(ids["filter"][each]) for each in used(G, i, j)} | own("G", G, i, j) | {m}
        assert {*view.linked(int(ids["V"][i, j]))} == v
        assert {*view.linked(int(ids["U"][i, j]))} == u
    for (p, q), cell in zip(places(view, "output"), ids["output"].ravel().tolist(), strict=True):
        expected = {pixel(each, (p // 2, q // 2)) for each in np.ndindex(4, 4)}
        if (p // 2, q // 2) == tile:
            expected |= {int(ids["M"][each]) for each in used(AT, p % 2, q % 2)} | own("Aᵀ", AT, p % 2, q % 2)
        assert {*view.linked(cell)} == expected


def test_neighbouring_tiles_overlap_by_two() -> None:
    spec = SPECS[0]
    first, below, right = (winograd(spec, tile).frames[0].lit for tile in ((0, 0), (1, 0), (0, 1)))
    assert [len({*each}) for each in (first, below, right)] == [16, 16, 16]
    assert [len({*first} & {*each}) for each in (below, right)] == [8, 8]


def test_what_is_counted() -> None:
    view = winograd(ConvSpec(n=1, c=1, h=6, w=6, k=1, r=3, s=3, padding=1))
    assert (view.work.products, view.work.direct_products, view.multiplications) == (16, 36, (9 * 16, 36 * 9))
    assert view.captions == [
        "A tile: 16 multiplications, by the definition 36. Additions: 32 for V, which serves all filters, 24 for y, "
        "once for all channels.",
        "All 6 × 6 outputs: 9 tiles, 144 multiplications, by the definition 324: 2.25 times as many.",
    ]
    assert len(view.frames) == 6
    assert view.frames[3].caption.startswith("M = U ⊙ V: one multiplication for each place, 16 in all.")
    assert {*view.frames[3].lit} == {int(cell) for name in "UVM" for cell in view.ids[name].flat}
    assert all(text in view.alt for text in (view.title, *view.captions))


def test_large_images_are_drawn_around_the_tile() -> None:
    view = winograd(SPECS[3], (5, 9))
    assert view.title.endswith("tile 5, 9 of 7 × 14")
    assert {p // 2 for p, _ in places(view, "output")} == {3, 4, 5, 6}
    assert {q // 2 for _, q in places(view, "output")} == {8, 9, 10, 11}
    assert view.captions[-2:] == [
        "One of 2 channels is drawn; the products M of all are added up before the last step.",
        "Too large to draw whole: 4 × 4 tiles are shown.",
    ]


@pytest.mark.parametrize(
    ("change", "options", "fact"),
    [
        ({"r": 5}, {}, "F(2×2, 3×3) has 3×3 filters with stride 1 and dilation 1."),
        ({"stride": 2}, {}, "F(2×2, 3×3) has 3×3 filters with stride 1 and dilation 1."),
        ({"dilation": 2}, {}, "F(2×2, 3×3) has 3×3 filters with stride 1 and dilation 1."),
        ({}, {"tile": (3, 0)}, "tile row=3 is not there: tile row runs from 0 to 2."),
        ({}, {"tile": (0, -1)}, "tile column=-1 is not there: tile column runs from 0 to 3."),
        ({}, {"c": 1}, "c=1 is not there: c runs from 0 to 0."),
        ({}, {"x": np.ones((3, 3))}, "x has shape (3, 3)."),
    ],
)
def test_what_makes_no_picture_is_refused(change: dict[str, int], options: dict[str, object], fact: str) -> None:
    spec = ConvSpec(**{"n": 1, "c": 1, "h": 5, "w": 8, "k": 1, "r": 3, "s": 3, "padding": 1} | change)
    with pytest.raises(ValueError, match=re.escape(fact)) as error:
        winograd(spec, **options)  # type: ignore[arg-type]
    assert f"In: {spec}" in str(error.value)
    assert "Fix: " in str(error.value)
