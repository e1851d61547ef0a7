"""Idle multipliers, against counting by hand and against what the emulator counts of Tensor Core kernels."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from convlab.executors.plans import run_plan
from convlab.kernels.ladder import method
from convlab.perf.measures import measure
from convlab.spec import ConvSpec
from convlab.views.idle_multipliers import Order, idle_multipliers

COURSE = ConvSpec(n=1, c=3, h=32, w=32, k=7, r=3, s=3, padding=1)


def random_spec(seed: int) -> ConvSpec:
    c, k, r, s, groups = np.random.default_rng(seed).integers(1, (9, 20, 5, 6, 4)).tolist()
    return ConvSpec(n=1, c=c * groups, h=9, w=8, k=k * groups, r=r, s=s, groups=groups)


CASES = [
    (random_spec(seed), order, filters, elements)
    for seed, (order, filters, elements) in enumerate(
        3 * list(itertools.product(("flattened", "per tap"), (8, 16), (4, 8, 16)))
    )
]


def numbers(label: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", label)))


def order_by_hand(spec: ConvSpec, order: str) -> list[list[tuple[int, int, int]]]:
    """The rows of the sum before they are cut into steps, by loops."""
    channels = range(spec.c // spec.groups)
    taps = list(itertools.product(range(spec.r), range(spec.s)))
    if order == "flattened":
        return [[(c, r, s) for c in channels for r, s in taps]]
    return [[(c, r, s) for c in channels] for r, s in taps]


@pytest.mark.parametrize(("spec", "order", "filters", "elements"), CASES, ids=str)
def test_the_steps_are_those_of_the_loops(spec: ConvSpec, order: Order, filters: int, elements: int) -> None:
    view = idle_multipliers(spec, order, filters, elements)
    expected: list[tuple[int, ...]] = []
    for row in order_by_hand(spec, order):
        filled = [*row, *(-len(row) % elements * [()])]
        steps = len(expected) // elements
        expected += [(steps + i // elements + 1, *place) for i, place in enumerate(filled)]
    panel = view.panels[0]
    assert [numbers(label) for label in panel.labels] == expected[: len(panel.labels)]
    assert len(panel.labels) == min(16 * elements, len(expected))
    assert view.elements == (sum(len(each) > 1 for each in expected), len(expected))
    assert [kind == "input" for kind in panel.kinds] == [len(each) > 1 for each in expected][: len(panel.labels)]
    count = spec.k // spec.groups
    assert view.filters == (count, -(-count // filters) * filters)
    assert view.useful == pytest.approx(view.elements[0] * count / (view.elements[1] * view.filters[1]))


@pytest.mark.parametrize(("spec", "order", "filters", "elements"), CASES, ids=str)
def test_each_step_shows_its_own_idle_multipliers(spec: ConvSpec, order: Order, filters: int, elements: int) -> None:
    view = idle_multipliers(spec, order, filters, elements)
    grid = view.ids["multipliers"]
    first = view.filters[1] - filters
    for step, frame in enumerate(view.frames):
        useful = [kind == "input" for kind in view.panels[0].kinds[step * elements : (step + 1) * elements]]
        for row, col in np.ndindex(grid.shape):
            works = first + row < view.filters[0] and useful[col]
            cell = int(grid[row, col])
            assert (frame.kinds[cell], frame.values[cell]) == (("filter", "") if works else ("idle", "0"))
            assert (cell in frame.lit) == works
        worth = sum(frame.kinds[int(cell)] == "filter" for cell in grid.flat)
        assert f": {worth} of {filters * elements} multipliers are useful." in frame.caption


def test_a_place_of_the_tile_gets_the_elements_of_its_column() -> None:
    view = idle_multipliers(COURSE, "per tap")
    ids = view.ids
    cell = int(ids["multipliers"][6, 2])
    assert {*view.linked(cell)} == {*ids["elements"][:, 2].tolist(), *ids["shares"][1:, 0].tolist()}
    idle = int(ids["multipliers"][7, 2])
    assert {*view.linked(idle)} == {*ids["elements"][:, 2].tolist()}
    useful = [
        int(cell) for cell, kind in zip(ids["elements"].flat, view.panels[0].kinds, strict=True) if kind == "input"
    ]
    assert view.linked(int(ids["shares"][0, 0])) == useful
    assert len(useful) == 27


def test_the_course_example_in_words() -> None:
    flat, taps = idle_multipliers(COURSE), idle_multipliers(COURSE, "per tap", filters=8)
    assert flat.panels[2].values == ["27 of 32 = 84 %", "7 of 16 = 44 %", "189 of 512 = 37 %"]
    assert taps.panels[2].values == ["27 of 144 = 19 %", "7 of 8 = 88 %", "189 of 1152 = 16 %"]
    assert flat.panels[2].bars == [27 / 32, 7 / 16, 189 / 512]
    assert flat.captions[0] == "27 of 32 elements are useful, zeros fill the last of 2 steps."
    assert taps.captions[0] == (
        "27 of 144 elements are useful, 3 of 16 in the first of 9 steps: each tap begins a new one."
    )
    assert flat.title == "Idle multipliers: C = 3, K = 7, 3×3 filters, the window's elements (c, r, s) in one row"
    assert all(text in taps.alt for text in (taps.title, *taps.captions))
    full = idle_multipliers(ConvSpec(n=1, c=64, h=8, w=8, k=20, r=3, s=3))
    assert full.captions[0] == "576 of 576 elements are useful, none is a zero that fills up."
    assert full.captions[-1] == "16 of 36 steps are drawn."
    assert full.panels[1].labels[0].startswith("filter 16, ")
    assert "tile 2 of 2" in full.panels[1].title


def counted(spec: ConvSpec) -> float:
    """The useful part that the emulator counts of tensor_core on data without a zero."""
    plan = method("tensor_core").plan
    assert plan is not None
    rng = np.random.default_rng(4)
    x, w = (rng.uniform(1, 2, shape).astype(np.float16) for shape in (spec.input_shape, spec.weight_shape))
    tensors = {"x": x, "w": w, "bias": None, "y": np.zeros(spec.output_shape, np.float32)}
    return measure("tensor useful share", run_plan(plan(spec), tensors, device="emulator"), spec)


@pytest.mark.parametrize(("c", "k", "r", "s"), [(3, 7, 3, 3), (2, 16, 3, 2), (5, 19, 2, 3), (1, 1, 1, 1)], ids=str)
def test_the_emulator_counts_as_many_useful_products(c: int, k: int, r: int, s: int) -> None:
    spec = ConvSpec(n=2, c=c, h=3 + r, w=7 + s, k=k, r=r, s=s)  # 64 pixels fill the kernel's tile
    assert spec.n * spec.p * spec.q == 64
    view = idle_multipliers(spec)
    assert counted(spec) == pytest.approx(view.useful)


@pytest.mark.parametrize(
    ("wrong", "fact"),
    [
        ({"order": "by channel"}, "'by channel' is no order of the sum."),
        ({"filters": 0}, "filters=0 is no whole number from 1 to 32."),
        ({"elements": 16.0}, "elements=16.0 is no whole number from 1 to 32."),
    ],
)
def test_what_makes_no_picture_is_refused(wrong: dict[str, object], fact: str) -> None:
    with pytest.raises(ValueError, match=re.escape(fact)) as error:
        idle_multipliers(COURSE, **wrong)  # type: ignore[arg-type]
    assert f"In: views.idle_multipliers({COURSE}, " in str(error.value)
    assert "Fix: " in str(error.value)
