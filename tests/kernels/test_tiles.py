from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from convlab.errors import CompileError
from convlab.executors.compile import compile
from convlab.kernels.ladder import method
from convlab.kernels.layers import LAYERS
from convlab.kernels.method import Plan
from convlab.kernels.rungs import tiles
from convlab.kernels.rungs.tiles import Tile
from convlab.ops.conv2d import conv2d
from convlab.spec import ConvSpec

from . import rungs
from .cases_tiles import CLASSES, SLICES, TILES
from .rungs import check_rung

STANDARD = LAYERS["conv2d"]["standard"]


def with_plan(monkeypatch, name, plan):
    """Let `check_rung` run another plan of a method."""
    monkeypatch.setattr(rungs, "method", lambda _: replace(method(name), plan=plan))


@pytest.mark.parametrize(
    ("name", "tile"),
    [
        ("tiled", Tile(bp=8, bq=32)),
        ("tiled", Tile(bp=4, bq=8)),
        ("dilated", Tile(bp=8, bq=32)),
        ("dilated", Tile(bp=32, bq=8)),
        ("multi_output", Tile(bk=32, bp=16, bq=16, tm=8, tn=4)),
        ("multi_output", Tile(bk=8, bp=8, bq=32, tm=4, tn=2)),
        ("multi_output", Tile(bk=4, bp=4, bq=8, tm=4, tn=1)),
    ],
)
@pytest.mark.parametrize("spec", [TILES[2], SLICES[1], CLASSES[1]], ids=str)
def test_other_tile_sizes_give_the_same(monkeypatch, name, tile, spec):
    with_plan(monkeypatch, name, lambda spec: getattr(tiles, name)(spec, tile))
    check_rung(name, spec)


@pytest.mark.parametrize("name", ["naive_nhwc", "tiled", "multi_output", "constant_weights", "dilated"])
def test_they_run_on_the_oldest_architecture(name):
    check_rung(name, TILES[2], arch="compute_75")


@pytest.mark.parametrize("name", ["tiled", "multi_output", "dilated"])
@pytest.mark.parametrize(
    "window", [{"r": 3, "s": 3}, {"r": 1, "s": 1}, {"r": 2, "s": 5}, {"r": 3, "s": 2, "dilation": (2, 3)}], ids=str
)
def test_stride_1_has_no_bank_conflicts(name, window):
    (run,) = check_rung(name, ConvSpec(n=1, c=2, h=37, w=23, k=5, padding=1, **window))
    assert run.counters.wavefronts_shared_load == run.counters.requests_shared_load > 0
    assert run.counters.conflicts_shared_load == run.counters.conflicts_shared_store == 0


@pytest.mark.parametrize("pitch", [18, 19, 33])
def test_other_pitches_have_bank_conflicts_in_blocks_of_16_by_16(monkeypatch, pitch):
    (step,) = tiles.tiled(STANDARD).steps
    step = replace(step, arguments=(*step.arguments[:-1], pitch), shared=(9 + 18 * pitch) * 4)
    with_plan(monkeypatch, "tiled", lambda spec: Plan((step,)))
    (run,) = check_rung("tiled", STANDARD)
    assert run.counters.conflicts_shared_load == STANDARD.macs // 32  # each read of a pixel by a warp


def test_constant_weights_reads_no_weight_from_global_memory():
    (run,) = check_rung("constant_weights", STANDARD, optional=False)
    assert set(run.arrays) == {"x", "y"}


def test_filters_beyond_64_kb_go_in_several_launches():
    spec = ConvSpec(n=1, c=64, h=9, w=7, k=64, r=3, s=3)
    launches = method("constant_weights").plan(spec).launches
    assert [step.grid[1] for step in launches] == [28, 28, 8]
    assert [step.arguments[-1] for step in launches] == [0, 28, 56]
    bounds = [step.constants["weights"] for step in launches]
    assert bounds == [("w", 0, 28 * 576), ("w", 28 * 576, 56 * 576), ("w", 56 * 576, 64 * 576)]


def test_a_dilated_tile_has_the_rows_of_an_undilated_one():
    def needed(rung, dilation):
        spec = ConvSpec(n=1, c=1, h=200, w=50, k=1, r=3, s=1, dilation=(dilation, 1))
        (step,) = getattr(tiles, rung)(spec).launches
        return step.shared // (4 * 16)

    assert [needed("dilated", dilation) for dilation in (1, 2, 6, 18)] == [18, 18, 18, 18]
    assert [needed("tiled", dilation) for dilation in (1, 2, 6, 18)] == [18, 20, 28, 52]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("-DTM=6 -DBK=12", "a thread reads its weights four at a time"),
        ("-DTN=3", "the threads' outputs must fill the block's"),
        ("-DBQ=8 -DTN=16", "the lanes of a warp must share their filters, so that one read serves all"),
        ("-DBK=512 -DTM=4", "a block has at most 1024 threads"),
    ],
)
def test_macros_that_do_not_fit_are_refused_with_the_reason(options, reason):
    (step,) = tiles.multi_output(STANDARD).launches
    with pytest.raises(CompileError, match=reason):
        compile(step.text(), step.source, options=tuple(options.split()))


@pytest.mark.parametrize("name", ["tiled", "dilated"])
@pytest.mark.parametrize("options", [("-DBP=5",), ("-DBP=64", "-DBQ=32")])
def test_blocks_are_whole_warps(name, options):
    (step,) = getattr(tiles, name)(STANDARD).launches
    with pytest.raises(CompileError, match="whole warps load rows, and an SM has registers for 512 threads"):
        compile(step.text(), step.source, options=options)


WIDE = {"h": 125, "w": 121, "r": 3, "s": 1, "stride": (8, 8), "c": 1, "k": 1}


@pytest.mark.parametrize(
    ("name", "sizes", "reason"),
    [
        (
            "tiled",
            WIDE,
            "A tile of one channel, with its halo and a filter, takes 59544 bytes of shared memory, more than",
        ),
        (
            "dilated",
            WIDE,
            "A tile of one channel, with its halo and a filter, takes 59544 bytes of shared memory, more than",
        ),
        (
            "multi_output",
            {**WIDE, "h": 100, "r": 85, "stride": (1, 8)},
            "A tile of one channel, with its halo and 16 filters, takes 53840 bytes of shared memory, more than",
        ),
        (
            "constant_weights",
            {"c": 1821, "h": 4, "w": 3, "k": 2, "r": 3, "s": 3},
            "A filter of 16389 values is larger than constant memory, which holds 16384.",
        ),
        (
            "multi_output",
            {"c": 65536, "h": 1, "w": 1, "k": 65536, "r": 1, "s": 1, "groups": 65536},
            "slices=65536 of 16 filters are more than the 65535 blocks that a grid can have there.",
        ),
        *(
            (
                name,
                {"c": 1, "h": 1, "w": 1, "k": 65536, "r": 1, "s": 1},
                "K=65536 filters are more than the 65535 blocks that a grid can have there.",
            )
            for name in ("tiled", "constant_weights", "dilated")
        ),
        *(
            (
                name,
                {"n": 65536, "c": 1, "h": 1, "w": 1, "k": 1, "r": 1, "s": 1},
                "N=65536 images are more than the 65535 blocks that a grid can have there.",
            )
            for name in ("naive_nhwc", "tiled", "multi_output", "constant_weights", "dilated")
        ),
    ],
)
def test_what_is_outside_the_claims_is_refused_with_the_reason(name, sizes, reason):
    spec = ConvSpec(**{"n": 1, **sizes})
    x, w = np.ones(spec.input_shape, "f4"), np.ones(spec.weight_shape, "f4")
    with pytest.raises(ValueError, match=reason):
        conv2d(x, w, stride=spec.stride, groups=spec.groups, method=name, device="emulator")


@pytest.mark.parametrize(
    ("name", "sizes", "reason"),
    [
        ("naive_nhwc", {"h": 40000, "w": 5000, "k": 11}, "2200000000 outputs of an image are too many for the 32-bit"),
        ("tiled", {"h": 2**31 - 260, "w": 1, "stride": (20, 1)}, "rows under the tiles are too many for the 32-bit"),
        ("multi_output", {"h": 1, "w": 2**31 - 260, "stride": (1, 20)}, "columns under the tiles are too many for"),
        ("dilated", {"h": 2**31 - 260, "w": 1, "r": 2, "dilation": (90, 1)}, "rows under the tiles are too many for"),
    ],
)
def test_sizes_that_32_bits_do_not_number_are_refused(name, sizes, reason):
    spec = ConvSpec(**{"n": 1, "c": 1, "k": 1, "r": 1, "s": 1, **sizes})
    assert reason in method(name).supports(spec)
