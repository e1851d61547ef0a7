"""The picture of threads against the three mappings and the convolution, written out with loops."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from convlab.executors.plans import run_plan
from convlab.kernels.method import Plan
from convlab.reference.direct import oracle
from convlab.spec import ConvSpec
from convlab.views.mapping import MAPPINGS, Block
from convlab.views.threads import ThreadsView, threads, warps_of

ASYMMETRIC = ConvSpec(n=1, c=2, h=7, w=9, k=3, r=3, s=2, stride=(2, 1), padding=(1, 0, 2, 1), dilation=(1, 2))


def random_cases() -> Iterator[tuple[ConvSpec, str, Block]]:
    rng = np.random.default_rng(3)
    for mapping, _ in itertools.product(MAPPINGS, range(4)):
        c, k = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        sizes: dict[str, Any] = {
            "h": rng.integers(4, 9),
            "w": rng.integers(5, 12),
            "r": rng.integers(1, 4),
            "s": rng.integers(1, 4),
        }
        steps: dict[str, Any] = {"stride": tuple(rng.integers(1, 3, 2)), "padding": tuple(rng.integers(0, 3, 4))}
        yield ConvSpec(n=1, c=c, k=k, **sizes, **steps), mapping, (int(rng.integers(5, 80)), int(rng.integers(1, 7)))


CASES = [
    (ASYMMETRIC, "line", (24, 1)),
    (ASYMMETRIC, "blocks", (5, 3)),
    (ASYMMETRIC, "channels", (70, 1)),
    *random_cases(),
]
each_case = pytest.mark.parametrize(("spec", "mapping", "block"), CASES, ids=str)


def owner(spec: ConvSpec, mapping: str, block: Block, k: int, p: int, q: int) -> tuple[int, int]:
    """The block and the thread of an output, from what each mapping is meant to be."""
    if mapping == "line":
        blocks = -(-spec.p * spec.q // block[0])
        number, thread = divmod(p * spec.q + q, block[0])
        return k * blocks + number, thread
    if mapping == "channels":
        return divmod((p * spec.q + q) * spec.k + k, block[0])
    across, down = -(-spec.q // block[0]), -(-spec.p // block[1])
    number = (k * down + p // block[1]) * across + q // block[0]
    return number, p % block[1] * block[0] + q % block[0]


def products(spec: ConvSpec) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
    """Each output, a pixel of its window and that one's weight: (k, p, q), (c, h, w), (k, c, r, s)."""
    (u, v), (dh, dw), (top, _, left, _) = spec.stride, spec.dilation, spec.padding
    for k, p, q, c, r, s in itertools.product(*map(range, (spec.k, spec.p, spec.q, spec.c, spec.r, spec.s))):
        h, w = p * u - top + r * dh, q * v - left + s * dw
        if 0 <= h < spec.h and 0 <= w < spec.w:
            yield (k, p, q), (c, h, w), (k, c, r, s)


def index(label: str) -> tuple[str, ...]:
    """Read a cell's tensor and index back from the words that a reader gets."""
    name, inside = re.match(r"(\w)\[(.*?)\]", label).groups()  # type: ignore[union-attr]
    return name, *(part.split("=")[1] for part in inside.split(", "))


def cells(view: ThreadsView) -> list[tuple[str, ...]]:
    return [index(label) for panel in view.panels for label in panel.labels]


def named(name: str, place: tuple[int, ...]) -> tuple[str, ...]:
    return name, *map(str, place)


@each_case
def test_an_output_names_its_block_and_thread(spec: ConvSpec, mapping: str, block: Block) -> None:
    view = threads(spec, mapping, block)
    outputs = [panel for panel in view.panels if panel.name.startswith("output")]
    assert len(outputs) == spec.k
    warps: dict[str, set[tuple[int, int]]] = {}
    for k, panel in enumerate(outputs):
        for cell, (p, q) in enumerate(itertools.product(range(spec.p), range(spec.q))):
            number, thread = owner(spec, mapping, block, k, p, q)
            assert panel.values[cell] == str(thread)
            assert panel.regions[cell] == number + 1
            place, words = panel.labels[cell].split(": ")
            assert place == f"y[k={k}, p={p}, q={q}]"
            assert re.fullmatch(
                rf"block {number}, thread {thread}( \(.*\))?, which is warp {thread // 32}, lane {thread % 32}", words
            )
            warps.setdefault(panel.cell_kinds[cell], set()).add((number, thread // 32))
    total = {warp for some in warps.values() for warp in some}
    assert len(warps) >= min(2, len(total))  # neighbouring warps have different colours


@each_case
def test_links_are_the_products_of_the_convolution(spec: ConvSpec, mapping: str, block: Block) -> None:
    view = threads(spec, mapping, block)
    names = cells(view)
    found = {(names[a], names[b]) for a, b in view.links.tolist()}
    wanted = set()
    for y, x, w in products(spec):
        a, b, c = named("y", y), named("x", x), named("w", w)
        wanted |= {(a, b), (a, c), (c, b)}
    assert found == wanted
    assert len(view.links) == len(wanted)


@each_case
def test_the_steps_of_every_warp_are_what_its_threads_read(spec: ConvSpec, mapping: str, block: Block) -> None:
    count = warps_of(spec, mapping, block)
    read: list[tuple[tuple[str, ...], ...]] = []
    for warp in range(0, count, max(1, count // 4)):
        view = threads(spec, mapping, block, warp)
        names = cells(view)
        mine = {names[cell] for cell in view.frames[-1].lit}
        by_pixel = [(named("y", y), named("x", x), named("w", w)) for y, x, w in products(spec)]
        wanted = {(y, x, w) for y, x, w in by_pixel if y in mine}
        for frame in view.frames[:-1]:
            lit = {names[cell] for cell in frame.lit}
            outputs, pixels, weights = ({cell for cell in lit if cell[0] == name} for name in "yxw")
            step = {each for each in wanted if each[0] in outputs and each[1] in pixels and each[2] in weights}
            assert {y for y, _, _ in step} == outputs <= mine
            assert {x for _, x, _ in step} == pixels
            assert {w for _, _, w in step} == weights
            assert len(step) == len(outputs)  # a step is one product of each thread
            assert {names[cell] for cell in frame.values} == pixels
            assert f": {len(outputs)} lane" in frame.caption
            read += step
            wanted -= step
        assert wanted == set()
    assert len(read) == len(set(read)) > 0


def test_a_step_says_which_threads_read_a_pixel() -> None:
    spec = ConvSpec(n=1, c=1, h=4, w=9, k=1, r=1, s=3)
    view = threads(spec, "line", (32, 1))
    assert [view.frames[1].values[28 + 9 * h + 1] for h in range(4)] == ["0", "7", "14", "21"]
    shared = threads(ConvSpec(n=1, c=1, h=2, w=5, k=3, r=1, s=1), "channels", (32, 1))
    assert [*shared.frames[0].values.values()] == ["3×"] * 10
    assert shared.frames[0].caption.endswith(": 30 lanes read x for w[k, c=0, r=0, s=0].")


def test_lanes_over_padding_are_counted() -> None:
    view = threads(ConvSpec(n=1, c=1, h=8, w=12, k=1, r=3, s=3, padding=1), "line", (32, 1))
    assert view.frames[0].caption.startswith("naive.cu, line ")
    assert view.frames[0].caption.endswith(": 18 lanes read x for w[k=0, c=0, r=0, s=0]; 14 meet padding.")
    assert view.frames[-1].caption.endswith(": 32 lanes write their outputs.")


def test_a_warp_without_outputs_says_so() -> None:
    spec = ConvSpec(n=1, c=1, h=4, w=5, k=1, r=1, s=1)
    view = threads(spec, "line", (64, 1), warp=1)
    assert [frame.caption for frame in view.frames] == [
        "naive.cu: no thread of this warp has an output; all of them return at once."
    ]
    assert (view.threads, view.idle, view.steps) == (64, 44, 0)
    assert view.alt.endswith("No thread of this warp has an output.")


def test_the_words_count_threads_and_idle_ones() -> None:
    view = threads(ConvSpec(n=1, c=1, h=8, w=12, k=1, r=3, s=3, padding=1), "blocks", (8, 3), warp=2)
    assert view.title == "2-D: a rectangle of pixels for each block; 6 blocks of 8×3 threads"
    assert view.captions[1].startswith("144 threads for 96 outputs: 48 of them have none.")
    assert "warp 0 of block 2" in view.captions[1]
    assert all(words in view.alt for words in (view.title, *view.captions))
    assert view.panels[0].labels[-1].endswith(": block 5, thread 11 (x=3, y=1), which is warp 0, lane 11")


@each_case
def test_the_mappings_compute_the_convolution(spec: ConvSpec, mapping: str, block: Block) -> None:
    rng = np.random.default_rng(5)
    x, w = (rng.integers(-4, 5, shape).astype("f4") for shape in (spec.input_shape, spec.weight_shape))
    way = MAPPINGS[mapping]
    last = way.method == "naive_nhwc"
    tensors: dict[str, Any] = {"x": x, "w": w, "bias": None, "y": np.full(spec.output_shape, np.nan, "f4")}
    if last:
        tensors |= {name: tensors[name].transpose(0, 2, 3, 1).copy() for name in "xwy"}
    step = way.launch(spec, block if not way.flat else (block[0], 1))
    (run,) = run_plan(Plan((step,)), tensors, device="emulator")
    assert not run.faults
    y = tensors["y"].transpose(0, 3, 1, 2) if last else tensors["y"]
    np.testing.assert_array_equal(y, oracle(x, w, None, spec))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mapping": "zigzag"}, "mapping='zigzag' is none of 'line', 'blocks', 'channels'."),
        ({"block": (0, 4)}, r"block=\(0, 4\) is no block of threads.\n.*\n  Fix: give it 1 to 1024 threads in all."),
        ({"mapping": "blocks", "block": (64, 32)}, r"block=\(64, 32\) is no block of threads."),
        ({"warp": 99}, "warp=99 is not there: the grid has 3 warps.\n.*\n  Fix: choose one from 0 to 2."),
        ({"warp": -1}, "warp=-1 is not there"),
    ],
)
def test_what_makes_no_picture_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        threads(ASYMMETRIC, **wrong)  # type: ignore[arg-type]
    assert str(ASYMMETRIC) in str(error.value)


def test_more_planes_than_there_is_room_for_are_refused() -> None:
    with pytest.raises(ValueError, match=r"There is no room for so many planes.\n.*\n  Fix: choose one image, and at"):
        threads(ConvSpec(n=1, c=1, h=4, w=4, k=6, r=1, s=1))
    with pytest.raises(ValueError, match="no room for so many planes"):
        threads(ConvSpec(n=2, c=1, h=4, w=4, k=1, r=1, s=1))
