"""The picture of implicit GEMM against the definition of convolution and against what the kernel's trace says."""

from __future__ import annotations

import itertools
import re
from functools import cache

import numpy as np
import pytest

from convlab.emulator.observers.trace import Trace
from convlab.spec import ConvSpec
from convlab.views import implicit_gemm
from convlab.views.implicit_gemm import ImplicitGemmView
from convlab.views.traced import trace_method

# Partial tiles along gemm_k and gemm_n, a second block along each axis of the grid, weights of 16 bytes a load.
CASES = [
    (ConvSpec(n=2, c=2, h=5, w=6, k=16, r=3, s=3, padding=1), 0, 1),
    (ConvSpec(n=3, c=3, h=4, w=5, k=7, r=2, s=3, stride=(1, 2), padding=(1, 0, 2, 1), dilation=(2, 1)), 0, 0),
    (ConvSpec(n=4, c=1, h=6, w=9, k=5, r=2, s=2, padding=(0, 1, 0, 1)), 1, 5),
    (ConvSpec(n=1, c=6, h=5, w=4, k=6, r=3, s=2, padding=1, groups=2), 1, 1),
    (ConvSpec(n=2, c=2, h=3, w=4, k=70, r=2, s=1), 1, 0),
    (ConvSpec(n=2, c=4, h=3, w=5, k=3, r=1, s=1, padding=2), 0, 3),
]
each_case = pytest.mark.parametrize(("spec", "block", "part"), CASES, ids=str)

Key = tuple[str, tuple[int, ...]]


@cache
def drawn(spec: ConvSpec, block: int, part: int) -> ImplicitGemmView:
    return implicit_gemm(spec, block, part)


def keys(view: ImplicitGemmView) -> list[Key]:
    """Each cell's panel and indices, from the words that a reader gets: gemm_k and gemm_n in the matrix."""
    found = []
    for panel in view.panels:
        for label in panel.labels:
            pattern = r"gemm_\w = (\d+)" if panel.name == "matrix" else r"\w=(\d+)"
            found.append((panel.name, tuple(map(int, re.findall(pattern, label)))))
    return found


def pixel(spec: ConvSpec, group: int, row: int, column: int) -> tuple[int, int, int, int] | None:
    """The pixel of an element of the matrix, None for padding."""
    c, r, s = np.unravel_index(row, (spec.c // spec.groups, spec.r, spec.s))
    n, p, q = np.unravel_index(column, (spec.n, spec.p, spec.q))
    h = int(p) * spec.stride[0] - spec.padding[0] + int(r) * spec.dilation[0]
    w = int(q) * spec.stride[1] - spec.padding[2] + int(s) * spec.dilation[1]
    inside = 0 <= h < spec.h and 0 <= w < spec.w
    return (int(n), group * (spec.c // spec.groups) + int(c), h, w) if inside else None


def place(spec: ConvSpec, block: int, part: int) -> tuple[int, list[int], list[int]]:
    """The group of a block, and the columns and filters that are drawn."""
    across = -(-spec.gemm_shape.gemm_n // 128)
    of_group = spec.k // spec.groups
    tile = next(each for each in (16, 32, 64) if each >= of_group or each == 64)
    down = -(-of_group // tile)
    group, row, col = block // (across * down), block // across % down, block % across
    last = min(spec.gemm_shape.gemm_n, (col + 1) * 128)
    first = col * 128 + 16 * part
    filters = range(row * tile, min(of_group, row * tile + 4))
    return group, [*range(first, min(last, first + 16))], [group * of_group + each for each in filters]


@each_case
def test_links_are_those_of_the_definition(spec: ConvSpec, block: int, part: int) -> None:
    view, links = drawn(spec, block, part), set()
    group, columns, filters = place(spec, block, part)
    for row, column, k in itertools.product(range(spec.gemm_shape.gemm_k), columns, filters):
        n, p, q = map(int, np.unravel_index(column, (spec.n, spec.p, spec.q)))
        tap = tuple(map(int, np.unravel_index(row, spec.weight_shape[1:])))
        y, w, cell = ("output", (n, k, p, q)), ("weights", (k, *tap)), ("matrix", (row, column))
        links |= {frozenset((y, w)), frozenset((y, cell)), frozenset((w, cell))}
        if (source := pixel(spec, group, row, column)) is not None:
            links |= {frozenset((cell, ("input", source))), frozenset((y, ("input", source)))}
    found = keys(view)
    assert {frozenset((found[a], found[b])) for a, b in view.links.tolist()} == links


@each_case
def test_steps_are_those_of_the_trace(spec: ConvSpec, block: int, part: int) -> None:
    view = drawn(spec, block, part)
    found, (_, columns, filters) = keys(view), place(spec, block, part)
    lanes = {part * 16 % 32 + at for at in range(len(columns))}
    run = trace_method("implicit_gemm", spec, (block, None))
    loads = loads_in_order(run.traces[part // 2], "x", spec.input_shape)
    assert view.loads == len([lane for lane, _ in loads if lane in lanes])
    weights = [each for trace in run.traces for _, each in loads_in_order(trace, "w", spec.weight_shape)]
    seen, used = 0, []
    for frame in view.frames:
        lit = [found[cell] for cell in frame.lit]
        made = [cell for cell in frame.lit if found[cell][0] == "matrix" and frame.kinds[cell] == "shared"]
        pixels = {key for name, key in lit if name == "input"}
        step = loads_of(loads, lanes, seen, len(made))
        assert pixels == {*step}
        seen += len(made)
        used += [key for name, key in lit if name == "weights"]
    assert seen == view.loads
    assert sorted(used) == sorted(each for each in weights if each[0] in filters)


def loads_in_order(trace: Trace, name: str, shape: tuple[int, ...]) -> list[tuple[int, tuple[int, ...]]]:
    """(lane, element) of all loads of a tensor, wide ones as several."""
    found = []
    for access in (access for step in trace.steps for access in step.accesses):
        if access.name == name and access.action == "load":
            for lane, index in zip(access.lanes, access.index.tolist(), strict=True):
                first = list(np.ndindex(shape)).index(tuple(index))
                found += [(lane, each) for each in list(np.ndindex(shape))[first : first + access.count]]
    return found


def loads_of(
    loads: list[tuple[int, tuple[int, ...]]], lanes: set[int], first: int, count: int
) -> list[tuple[int, ...]]:
    """So many loads of the lanes drawn, from one of them on: steps come one after the other."""
    return [element for lane, element in loads if lane in lanes][first : first + count]


@each_case
def test_each_step_makes_eight_rows(spec: ConvSpec, block: int, part: int) -> None:
    view = drawn(spec, block, part)
    found, (group, columns, _) = keys(view), place(spec, block, part)
    assert view.rows == 8
    assert len(view.frames) == -(-spec.gemm_shape.gemm_k // 8)
    for step, frame in enumerate(view.frames):
        rows = range(8 * step, min(8 * step + 8, spec.gemm_shape.gemm_k))
        made = {found[cell][1]: kind for cell, kind in frame.kinds.items() if found[cell][0] == "matrix"}
        sources = {(row, column): pixel(spec, group, row, column) for row in rows for column in columns}
        assert made == {key: "shared" if source else "padding" for key, source in sources.items()}
        values = {found[cell][1]: value for cell, value in frame.values.items()}
        assert values == {key: f"{source[2]}{source[3]}" if source else "0" for key, source in sources.items()}
        stored = {found[cell][1][1:] for cell in frame.kinds if found[cell][0] == "weights"}
        assert {int(np.ravel_multi_index(tap, spec.weight_shape[1:])) for tap in stored} == {*rows}
        assert frame.caption.startswith(f"gemm_k = {rows.start} to {rows.stop - 1}: from c = ")


def test_labels_show_the_divisions() -> None:
    view = drawn(*CASES[0])
    matrix = view.panels[1]
    assert matrix.labels[13 * 16 + 15] == (
        "gemm_k = 13: c = 13 // 9 = 1, r = 13 % 9 // 3 = 1, s = 13 % 3 = 1; "
        "gemm_n = 31: n = 31 // 30 = 1, p = 31 % 30 // 6 = 0, q = 31 % 6 = 1; x[n=1, c=1, h=0, w=1]"
    )
    assert matrix.labels[15].endswith("; padding, nothing is loaded")
    assert view.captions[0] == "X_col would have 18 × 60 elements. A block makes 8 × 128 of them at a time, in 3 steps."
    assert "columns 16 to 31 of 60, which threads 16 to 31 fill, and 4 of 16 filters." in view.alt
    grouped = drawn(*CASES[3])
    assert "c = 3 + 7 // 6 = 4" in grouped.panels[1].labels[7 * grouped.panels[1].cols]


def test_outputs_name_who_keeps_their_sums() -> None:
    labels = drawn(*CASES[0]).panels[3].labels
    assert labels[0] == "y[n=0, k=0, p=2, q=4], in a register of warp 0, lane 16"
    assert labels[-1] == "y[n=1, k=3, p=0, q=1], in a register of warp 0, lane 31"


def test_what_is_not_there_or_too_large_is_refused() -> None:
    spec = CASES[0][0]
    with pytest.raises(ValueError, match="part=4 is not there: part runs from 0 to 3"):
        implicit_gemm(spec, part=4)
    with pytest.raises(ValueError, match="block=1 is not there: block runs from 0 to 0"):
        implicit_gemm(spec, block=1)
    words = r"N·H is 32, and a picture has room for 24\.\n  In: .*\n  Fix: draw a smaller convolution"
    with pytest.raises(ValueError, match=words):
        implicit_gemm(ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1))
