"""The im2col picture against the matrix written out with loops."""

from __future__ import annotations

import itertools
import re

import numpy as np
import numpy.typing as npt
import pytest

from convlab.spec import ConvSpec
from convlab.views import im2col
from convlab.views.im2col import Im2colView

ASYMMETRIC = ConvSpec(n=2, c=4, h=4, w=5, k=6, r=3, s=2, stride=(2, 1), padding=(1, 0, 1, 1), dilation=(1, 2), groups=2)
LARGE = ConvSpec(n=3, c=16, h=32, w=40, k=16, r=3, s=3, stride=(1, 2), padding=1)

Cell = tuple[str, tuple[int, ...]]


def random_spec(seed: int) -> ConvSpec | None:
    draw = np.random.default_rng(seed).integers
    groups = int(draw(1, 3))
    sizes = {
        **{"n": draw(1, 3), "c": groups * draw(1, 3), "k": groups * draw(1, 3)},
        **{"h": draw(1, 6), "w": draw(1, 6), "r": draw(1, 4), "s": draw(1, 3)},
    }
    stride, dilation, padding = (tuple(draw(*ends)) for ends in ((1, 4, 2), (1, 3, 2), (0, 2, 4)))
    try:
        return ConvSpec(**sizes, stride=stride, padding=padding, dilation=dilation, groups=groups)
    except ValueError:
        return None


SPECS = [ASYMMETRIC, LARGE, *filter(None, map(random_spec, range(40)))]
WHOLE = [spec for spec in SPECS if max(spec.axes[0].padded, spec.axes[1].padded) <= 7 and spec.gemm_shape.gemm_k <= 25]


def cells(view: Im2colView) -> list[Cell | None]:
    """Read each cell's tensor and indices from the words that a reader gets: c, h, w; c, r, s, p, q; c, r, s; p, q."""
    found: list[Cell | None] = []
    for panel in view.panels:
        for label in panel.labels:
            words = label.split(": ")[0].split(" = ")[0]
            indices = tuple(int(each.replace("−", "-")) for each in re.findall(r"\w=(−?\d+)", words))
            found.append((panel.name, indices) if indices else None)
    return found


def places(spec: ConvSpec, tap: tuple[int, int, int], output: tuple[int, int]) -> tuple[int, int, int]:
    (c, r, s), (p, q) = tap, output
    return (
        c,
        p * spec.stride[0] - spec.padding[0] + r * spec.dilation[0],
        (q * spec.stride[1] - spec.padding[2] + s * spec.dilation[1]),
    )


def links_by_definition(spec: ConvSpec, k: int, drawn: set[Cell | None]) -> set[frozenset[Cell]]:
    channels = spec.c // spec.groups
    first = k // (spec.k // spec.groups) * channels
    links = set()
    holders: dict[Cell, list[Cell]] = {}
    taps = itertools.product(range(channels), range(spec.r), range(spec.s))
    outputs = [each for each in itertools.product(range(spec.p), range(spec.q)) if ("product", each) in drawn]
    for tap, output in itertools.product(taps, outputs):
        c, h, w = places(spec, tap, output)
        here = ("matrix", (first + tap[0], *tap[1:], *output))
        pixel, weight, y = ("input", (first + c, h, w)), ("weights", tap), ("product", output)
        links |= {frozenset(each) for each in itertools.combinations((here, pixel, weight, y), 2)}
        holders.setdefault(pixel, []).append(here)
    for same in holders.values():
        links |= {frozenset(each) for each in itertools.combinations(same, 2)}
    return {link for link in links if link <= drawn}


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_links_are_those_of_the_definition(spec: ConvSpec) -> None:
    k = spec.k - 1
    view = im2col(spec, n=spec.n - 1, k=k)
    found = cells(view)
    links = {frozenset((found[a], found[b])) for a, b in view.links.tolist()}
    assert links == links_by_definition(spec, k, {*found})


@pytest.mark.parametrize("spec", WHOLE, ids=str)
def test_the_matrix_is_that_of_the_definition(spec: ConvSpec) -> None:
    rng = np.random.default_rng(3)
    x, w = rng.integers(1, 99, spec.input_shape), rng.integers(-9, 9, spec.weight_shape)
    n, k = spec.n - 1, spec.k - 1
    view = im2col(spec, n=n, k=k, x=x, w=w)
    first = k // (spec.k // spec.groups) * (spec.c // spec.groups)
    columns = itertools.product(range(spec.p), range(spec.q))
    matrix = np.array([column(x[n], spec, first, output) for output in columns]).T
    assert view.panels[1].values == [str(value) for value in matrix.ravel()]
    product = w[k].ravel() @ matrix
    assert view.panels[4].values == [str(value).replace("-", "−") for value in product]


def column(x: npt.NDArray[np.int64], spec: ConvSpec, first: int, output: tuple[int, int]) -> list[int]:
    values = []
    for tap in np.ndindex(spec.c // spec.groups, spec.r, spec.s):
        c, h, w = places(spec, tap, output)
        values.append(int(x[first + c, h, w]) if 0 <= h < spec.h and 0 <= w < spec.w else 0)
    return values


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_copies_are_pixels_that_an_earlier_column_holds(spec: ConvSpec) -> None:
    view = im2col(spec)
    seen, copies, padding = set(), 0, 0
    kinds = dict(zip(cells(view), (kind for panel in view.panels for kind in panel.cell_kinds), strict=True))
    for output in itertools.product(range(spec.p), range(spec.q)):
        for tap in itertools.product(range(spec.c // spec.groups), range(spec.r), range(spec.s)):
            _, h, w = place = places(spec, tap, output)
            inside = 0 <= h < spec.h and 0 <= w < spec.w
            kind = "padding" if not inside else "copy" if place in seen else "input"
            assert kinds.get(("matrix", (*tap, *output)), kind) == kind
            copies, padding = copies + (kind == "copy"), padding + (kind == "padding")
            seen.add(place)
    images = spec.n * spec.groups
    assert view.copies == images * copies
    assert view.values == images * spec.gemm_shape.gemm_k * spec.p * spec.q
    assert f"{images * copies:,} are copies of others, {images * padding:,} are zeros of the padding." in view.alt


def test_the_seed_example_is_drawn_as_it_is_written() -> None:
    x = np.array([*"abcdefghi"]).reshape(1, 1, 3, 3)
    view = im2col(ConvSpec(n=1, c=1, h=3, w=3, k=1, r=2, s=2), x=x, w=[[[[1, -1], [3, 2]]]])
    assert "".join(view.panels[1].values) == "abdebcefdeghefhi"
    copies = [value for value, kind in zip(view.panels[1].values, view.panels[1].kinds, strict=True) if kind == "copy"]
    assert "".join(copies) == "bdeefeh"
    assert view.panels[4].labels[0] == "y[p=0, q=0] = a − b + 3·d + 2·e"
    assert view.captions[-1] == "y1 = b − c + 3·e + 2·f"


def test_a_column_of_padding_alone_sums_to_nothing() -> None:
    x = np.array([["a", "b"]]).reshape(1, 1, 1, 2)
    view = im2col(ConvSpec(n=1, c=1, h=1, w=2, k=1, r=1, s=1, padding=1), x=x)
    assert view.panels[4].labels[0] == "y[p=0, q=0] = 0"


def test_the_memory_of_a_real_layer() -> None:
    view = im2col(ConvSpec(n=1, c=128, h=112, w=112, k=128, r=3, s=3, padding=1))
    memory = view.panels[2]
    assert (view.factor, memory.values, memory.bars) == (9, ["6.1 MiB", "55.1 MiB"], [1 / 9, 1])
    assert view.captions[-1] == "Too large to draw whole: 18 of 1,152 rows, 25 of 12,544 columns are shown."
    strided = im2col(ConvSpec(n=1, c=128, h=112, w=112, k=128, r=3, s=3, stride=2, padding=1))
    assert strided.factor == 2.25


def test_columns_are_numbered_as_far_as_there_is_room() -> None:
    small, large = im2col(ASYMMETRIC), im2col(ConvSpec(n=1, c=1, h=32, w=32, k=1, r=3, s=3, padding=1))
    assert small.panels[1].col_index == [str(number) for number in range(ASYMMETRIC.p * ASYMMETRIC.q)]
    assert large.panels[1].col_index[:6] == ["0", "", "", "", "", "32"]


@pytest.mark.parametrize("chunk", [1, 3, 4, 9, 50])
def test_chunks_fill_the_matrix_step_by_step(chunk: int) -> None:
    spec = ConvSpec(n=1, c=2, h=3, w=4, k=1, r=2, s=3, padding=(1, 0, 1, 1))
    whole, view = im2col(spec), im2col(spec, chunk=chunk)
    matrix, product, memory = (view.ids[name] for name in ("matrix", "product", "memory"))
    columns = spec.p * spec.q
    assert len(view.frames) == -(-columns // chunk)
    assert {*view.panels[1].cell_kinds} == {"idle"}
    for step, frame in enumerate(view.frames):
        now = range(step * chunk, min(columns, (step + 1) * chunk))
        filled = {matrix[i, j]: whole.panels[1].values[i * columns + j] for j in now for i in range(12)}
        done = {product[0, j]: whole.panels[4].values[j] for j in range(now.stop)}
        size = {memory[2, 0]: f"{4 * 12 * len(now)} bytes"}
        assert frame.values == filled | done | size
        assert frame.kinds.keys() == filled.keys()
        assert {*frame.lit} == {*filled, *(product[0, j] for j in now)}
    assert view.panels[2].bars[2] == pytest.approx(min(chunk, columns) * 12 / (12 * columns))


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="k=6 is not there: k runs from 0 to 5"):
        im2col(ASYMMETRIC, k=6)
    with pytest.raises(
        ValueError, match=r"chunk=0 holds no column.\n  In: .*\n  Fix: give at least 1, or None for all."
    ):
        im2col(ASYMMETRIC, chunk=0)
    with pytest.raises(ValueError, match=r"x has shape \(3, 3\)"):
        im2col(ASYMMETRIC, x=np.ones((3, 3)))
