"""The picture of tiles against the definition of convolution and against the counters of the kernel."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from convlab.spec import ConvSpec
from convlab.views.block_tiles import block_tiles
from convlab.views.halo import halo
from convlab.views.traced import plan_of, trace_launch, trace_method

SPECS = [
    ConvSpec(n=1, c=1, h=21, w=19, k=1, r=3, s=3, padding=1),
    ConvSpec(n=2, c=3, h=18, w=23, k=2, r=3, s=2, padding=(2, 0, 1, 3), dilation=(1, 2)),
    ConvSpec(n=1, c=4, h=20, w=37, k=4, r=2, s=5, padding=(0, 1, 2, 2), groups=2),
    ConvSpec(n=1, c=1, h=37, w=20, k=1, r=3, s=3, stride=(2, 1), padding=1),
    ConvSpec(n=1, c=2, h=9, w=46, k=1, r=3, s=3, stride=(1, 2), dilation=(2, 3), padding=(0, 2, 3, 0)),
    ConvSpec(n=1, c=1, h=5, w=4, k=1, r=1, s=1, padding=17),  # blocks that meet padding alone
]


def needed(spec: ConvSpec, block: int) -> tuple[range, range]:
    """The rows and columns, of the input or beyond it, from the first to the last that a block's 256 threads read."""
    across = -(-spec.q // 16)
    ranges = []
    for first, step, span, before in zip(
        (block // across * 16, block % across * 16),
        spec.stride,
        (spec.effective_r, spec.effective_s),
        (spec.padding[0], spec.padding[2]),
        strict=True,
    ):
        start = first * step - before
        ranges.append(range(start, start + 15 * step + span))
    return ranges[0], ranges[1]


def blocks_of(spec: ConvSpec) -> range:
    return range(-(-spec.p // 16) * -(-spec.q // 16))


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_the_tile_of_each_block_is_what_its_threads_need(spec: ConvSpec) -> None:
    tiles = block_tiles(spec)
    assert [tile.block for tile in tiles] == [*blocks_of(spec)]
    for tile in tiles:
        rows, cols = needed(spec, tile.block)
        assert (tile.top, tile.left, tile.shape) == (rows.start, cols.start, (len(rows), len(cols)))
        inside = np.array([[0 <= h < spec.h and 0 <= w < spec.w for w in cols] for h in rows])
        np.testing.assert_array_equal(tile.loaded, inside)


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_who_stores_a_cell_loaded_its_pixel_in_the_same_round(spec: ConvSpec) -> None:
    (step,) = plan_of("tiled", spec).launches
    run = trace_launch("tiled", spec, replace(step, grid=(step.grid[0], 1, 1)))
    for tile in block_tiles(spec):
        traces = [trace for trace in run.traces if trace.block == tile.block]
        loaded = {
            (h, w, trace.warp, lane)
            for trace in traces
            for each in trace.steps
            for access in each.accesses
            if access.name == "x"
            for (n, c, h, w), lane in zip(access.index.tolist(), access.lanes, strict=True)
            if (n, c) == (0, 0)
        }
        cells = zip(*np.nonzero(tile.loaded), strict=True)
        assert loaded == {
            (row + tile.top, col + tile.left, tile.warp[row, col], tile.lane[row, col]) for row, col in cells
        }
        # A warp brings one row, or 32 cells of it, a round, and each round another one.
        brought = {
            (w, t, row) for (row, _), w, t in zip(np.ndindex(tile.shape), tile.warp.flat, tile.turn.flat, strict=True)
        }
        assert len({(w, t) for w, t, _ in brought}) == len(brought)
        for warp in range(8):
            turns = {int(turn) for turn in tile.turn[tile.warp == warp]}
            assert turns == {*range(len(turns))}


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_the_loads_of_all_blocks_and_filters_are_what_the_kernel_counts(spec: ConvSpec) -> None:
    view = halo(spec)
    run = trace_method("tiled", spec, (0, 0))
    channels = spec.c // spec.groups
    assert view.loads * channels * spec.k * spec.n * 4 == run.arrays["x"].thread_bytes_global_load


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_numbers_count_the_blocks_that_need_a_pixel(spec: ConvSpec) -> None:
    view = halo(spec, blocks_of(spec)[-1])
    image = view.panels[0]
    for place, (value, label) in enumerate(zip(image.values, image.labels, strict=True)):
        h, w = divmod(place, spec.w)
        users = [b for b in blocks_of(spec) if h in needed(spec, b)[0] and w in needed(spec, b)[1]]
        assert (value, label.partition(":")[0]) == (str(len(users)), f"x[h={h}, w={w}]")
        assert [int(each) for each in re.findall(r"\d+", label.partition(":")[2])] == users
    assert sum(map(int, image.values)) == view.loads
    assert view.again == view.loads - sum(value != "0" for value in image.values)


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_cells_link_with_their_pixels_and_rounds_light_them(spec: ConvSpec) -> None:
    for tile in block_tiles(spec):
        view = halo(spec, tile.block)
        image, cells = view.ids["input"], view.ids["tile"]
        for (row, col), loaded in np.ndenumerate(tile.loaded):
            pixel = [int(image[row + tile.top, col + tile.left])] if loaded else []
            assert view.linked(int(cells[row, col])) == pixel
        whole, *rounds = view.frames
        assert not whole.lit
        for turn, frame in enumerate(rounds):
            lit = {*cells[tile.turn == turn].tolist()}
            assert {*frame.lit} == lit | {pixel for cell in lit for pixel in view.linked(cell)}
        assert {cell for frame in rounds for cell in frame.lit} >= {*cells.flat}


@pytest.mark.parametrize("spec", SPECS[:3], ids=str)
def test_own_pixels_lie_under_the_middles_of_the_windows(spec: ConvSpec) -> None:
    for block in blocks_of(spec):
        view = halo(spec, block)
        across = -(-spec.q // 16)
        sides = zip(
            (block // across, block % across), (spec.effective_r, spec.effective_s), spec.padding[::2], strict=True
        )
        p, q = ({16 * tile + i + (span - 1) // 2 - before for i in range(16)} for tile, span, before in sides)
        kinds = dict(zip(np.ndindex(spec.h, spec.w), view.panels[0].cell_kinds, strict=True))
        rows, cols = needed(spec, block)
        wanted = {(h, w): "output" if h in p and w in q else "input" for h in rows for w in cols}
        assert kinds == {place: wanted.get(place, "plain") for place in kinds}
        assert view.own == 256


def test_the_facts_of_the_course() -> None:
    spec = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1)
    view = halo(spec)
    assert (view.cells, view.own, round(view.cost, 4)) == (18 * 18, 16 * 16, 1.2656)
    assert (view.loads, view.again) == (4 * 17 * 17, 4 * 17 * 17 - 32 * 32)
    assert view.captions[0] == (
        "18 · 18 / (16 · 16) = 1.27 cells for each of the block's own. Traced: 324 cells stored, 289 of them loaded, "
        "35 padding."
    )
    assert [frame.caption for frame in view.frames] == [
        "The whole tile, brought in 3 rounds.",
        "Round 1 of 3: 8 warps bring a row each, 119 pixels and 25 zeros of padding.",
        "Round 2 of 3: 8 warps bring a row each, 136 pixels and 8 zeros of padding.",
        "Round 3 of 3: 2 warps bring a row each, 34 pixels and 2 zeros of padding.",
    ]
    label = "tile[0][1], halo: padding, 0, brought by warp 0, lane 1, in round 1"
    assert view.panels[1].labels[1] == label
    assert view.panels[1].labels[18 + 1] == "tile[1][1], own: x[h=0, w=0], brought by warp 1, lane 1, in round 1"
    assert view.panels[0].labels[16] == "x[h=0, w=16]: loaded by blocks 0 and 1"


def test_a_filter_of_one_pixel_needs_no_halo() -> None:
    view = halo(ConvSpec(n=1, c=1, h=21, w=19, k=1, r=1, s=1))
    assert (view.cost, view.again) == (1.0, 0)
    assert view.captions[-1] == "Together, 4 blocks load 399 pixels, none of them twice."
    assert {*view.panels[1].cell_kinds} == {"output"}


@pytest.mark.parametrize(("r", "dilation"), [(1, 1), (3, 1), (5, 1), (3, 3), (7, 2)])
def test_the_own_part_by_size_is_what_the_window_leaves(r: int, dilation: int) -> None:
    panel = halo(ConvSpec(n=1, c=1, h=21, w=19, k=1, r=r, s=r, dilation=dilation, padding=6)).panels[2]
    more = dilation * (r - 1)
    for index, bar, value in zip(panel.row_index, panel.bars, panel.values, strict=True):
        rows, cols = map(int, index.split("×"))
        share = rows * cols / ((rows + more) * (cols + more))
        assert bar == pytest.approx(share)
        assert value == f"{share:.0%}"


def test_a_stride_keeps_the_pixels_between_outputs_as_own() -> None:
    view = halo(ConvSpec(n=1, c=1, h=37, w=37, k=1, r=3, s=3, stride=2, padding=1))
    assert (view.cells, view.own) == (33 * 33, 32 * 32)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match=r"There is no room for 49 × 5 pixels.\n  In: .*\n  Fix: draw at most 48 × 48"):
        halo(ConvSpec(n=1, c=1, h=49, w=5, k=1, r=1, s=1))
    with pytest.raises(ValueError, match=r"block=4 is not there.\n  In: .*\n  Fix: choose one from 0 to 3."):
        halo(SPECS[0], 4)
    with pytest.raises(ValueError, match=r"block=-1 is not there\."):
        halo(SPECS[0], -1)
