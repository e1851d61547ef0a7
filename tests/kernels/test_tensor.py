from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from convlab.errors import CompileError
from convlab.executors.compile import compile
from convlab.kernels.ladder import method
from convlab.kernels.layers import LAYERS
from convlab.kernels.method import FOLDER
from convlab.kernels.rungs import tensor
from convlab.kernels.rungs.tensor import _parts
from convlab.ops.conv2d import conv2d
from convlab.perf.gpus import gpu
from convlab.perf.measures import measure
from convlab.perf.model import predict
from convlab.perf.occupancy import occupancy
from convlab.perf.work import work
from convlab.reference.direct import oracle
from convlab.spec import ConvSpec

from . import rungs
from .cases_tensor import RELATIVE
from .rungs import check_rung
from .specs import random_tensors

HALF = ("tensor_core", "tensor_core_mma")
ALL = (*HALF, "tensor_core_bf16", "tensor_core_tf32")
STANDARD = LAYERS["conv2d"]["standard"]
# Pieces of 16 bytes that are whole, and such that are not; with k in one part, and in several.
SPECS = (
    ConvSpec(n=2, c=8, h=9, w=7, k=18, r=2, s=3, padding=1),
    ConvSpec(n=2, c=9, h=11, w=8, k=35, r=3, s=2, stride=(1, 2), padding=(1, 0)),
    ConvSpec(n=2, c=48, h=6, w=7, k=70, r=3, s=3, dilation=(1, 2), padding=1),
    ConvSpec(n=3, c=52, h=9, w=6, k=10, r=4, s=3, groups=2, padding=2),
)


def check(name, spec, arch="compute_80"):
    return check_rung(name, spec, arch=arch, relative=RELATIVE.get(name, 0.0))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ({"c": 70000, "k": 70000, "groups": 70000}, "G=70000 groups are more than the 65535 blocks that a grid"),
        ({"n": 70000, "h": 200, "w": 200}, "2800000000 columns of X_col are too many for the 32-bit int"),
        ({"c": 2**20, "h": 50, "w": 50, "r": 50, "s": 50}, "2621440000 rows of X_col are too many for the 32-bit int"),
        ({"n": 50000, "c": 50000, "h": 1, "w": 1}, "2500000000 input planes are too many for the 32-bit int"),
    ],
)
def test_sizes_beyond_its_numbers_are_declined_with_the_reason(name, sizes, reason):
    spec = ConvSpec(**{"n": 1, "c": 1, "h": 4, "w": 5, "k": 1, "r": 1, "s": 1, **sizes})
    assert reason in method(name).supports(spec)


@pytest.mark.parametrize(("name", "tile", "dtype"), [("tensor_core", 16, "f2"), ("tensor_core_tf32", 64, "f4")])
def test_the_operation_raises_the_reason(name, tile, dtype):
    x, w = np.ones((1, 1, 1, 1), dtype), np.ones((tile * 65536, 1, 1, 1), dtype)
    reason = f"Method '{name}' does not support this conv2d: ⌈K/G / {tile}⌉=65536 tiles of filters are more than the"
    with pytest.raises(ValueError, match=reason):
        conv2d(x, w, method=name, device="emulator")


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("tensor_core", "f2"), ("tensor_core_mma", "f2"), ("tensor_core_bf16", ml_dtypes.bfloat16)],
)
def test_the_operation_gives_float32_of_narrow_inputs(name, dtype):
    spec = SPECS[0]
    x, w, bias = (array.astype(dtype) for array in random_tensors(spec))
    y = conv2d(x, w, bias, padding=1, method=name, device="emulator")
    expected = oracle(x.astype("f8"), w.astype("f8"), bias.astype("f8"), spec)
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, expected, atol=1e-4)


@pytest.mark.parametrize("spec", SPECS, ids=str)
@pytest.mark.parametrize(
    ("name", "arch"),
    [(name, arch) for name in HALF for arch in ("compute_75", "compute_90")]
    + [(name, "compute_90") for name in ALL[2:]],
)
def test_every_architecture_computes_the_same(name, arch, spec):
    check(name, spec, arch)


@pytest.mark.parametrize("name", ALL[2:])
def test_turing_has_half_only(name):
    (step,) = method(name).plan(STANDARD).launches[:1]
    with pytest.raises(CompileError, match="Tensor Cores multiply half; since Ampere also __nv_bfloat16, and float"):
        compile(step.text(), step.source, "compute_75", step.options)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("arch", ["compute_80", "compute_75"])
@pytest.mark.parametrize(("c", "k"), [(16, 16), (9, 29), (24, 64)])
def test_no_tile_has_bank_conflicts(name, arch, c, k):
    if method(name).since <= int(arch.removeprefix("compute_")):
        runs = check(name, replace(STANDARD, c=c, h=9, k=k), arch)
        assert measure("bank conflicts", runs, STANDARD) == 0


def test_a_flattened_window_leaves_few_multipliers_idle():
    """Three channels, 3×3: taps side by side fill 27 of 32, and each alone 3 of 16; seven of 16 filters exist."""
    spec = ConvSpec(n=1, c=3, h=10, w=10, k=7, r=3, s=3)
    for name in HALF:
        assert measure("tensor useful share", check(name, spec), spec) == 27 / 32 * 7 / 16
    each_tap = ConvSpec(n=1, c=3, h=8, w=8, k=7, r=1, s=1)
    assert measure("tensor useful share", check("tensor_core", each_tap), each_tap) == 3 / 16 * 7 / 16


@pytest.mark.parametrize(("filters", "bm"), [(1, 16), (16, 16), (17, 32), (32, 32), (33, 64), (200, 64)])
def test_a_block_has_as_few_filters_as_hold_those_of_a_group(filters, bm):
    (step,) = method("tensor_core_mma").plan(replace(STANDARD, c=6, k=2 * filters, groups=2)).launches
    assert f"-DBM={bm}" in step.options
    assert step.grid == (16, -(-filters // bm), 2)


@pytest.mark.parametrize(("name", "whole"), [("tensor_core_mma", 8), ("tensor_core_tf32", 4)])
def test_channels_that_fill_pieces_are_copied_whole(name, whole):
    for c in range(1, 50):
        few, many = replace(STANDARD, c=c), replace(STANDARD, c=c, r=1, s=1)
        gathered = "conv_mma_any" if c % whole else "conv_mma_gather"
        for spec, pieces in ((few, 2), (many, 4), (replace(few, stride=2), None)):
            step = method(name).plan(spec).launches[0]
            assert step.entry == ("conv_mma" if pieces and c % (pieces * whole) == 0 else gathered)
            assert f"-DPIECES={pieces if step.entry == 'conv_mma' else 4}" in step.options


def test_a_copy_that_no_block_has_room_for_is_not_shared():
    near = ConvSpec(n=1, c=16, h=90, w=100, k=8, r=3, s=3, padding=1)
    far = replace(near, dilation=3, padding=3)
    assert [method("tensor_core_mma").plan(spec).launches[0].entry for spec in (near, far)] == [
        "conv_mma",
        "conv_mma_gather",
    ]
    huge = ConvSpec(n=2**20, c=16, h=45, w=45, k=8, r=1, s=1, padding=1)  # input pixels beyond 32-bit numbers
    assert method("tensor_core_mma").plan(huge).launches[0].entry == "conv_mma_gather"


def test_rows_are_level_where_there_is_room():
    spec = ConvSpec(n=900, c=32, h=7, w=7, k=64, r=3, s=3, padding=1)
    for size, pitch in ((14, 22), (7, 8)):
        (step,) = method("tensor_core_mma").plan(replace(spec, h=size, w=size)).launches
        padded = step.arguments[-1]
        assert "-DBN=256" in step.options
        assert padded["pitch"] == pitch
        assert step.shared == 2 * 32 * (padded["slots"] + 3 * 64) + 4 * padded["slots"] <= 48 * 1024


def test_blocks_have_many_pixels_where_that_leaves_enough_blocks():
    for n, bn in ((31, 64), (32, 256)):
        (step, *_) = method("tensor_core_mma").plan(ConvSpec(n=n, c=32, h=16, w=16, k=24, r=1, s=1)).launches
        assert f"-DBN={bn}" in step.options
        assert step.grid[0] == -(-n * 256 // bn)


def test_small_outputs_are_computed_in_parts_of_k_none_of_them_empty():
    for blocks in range(1, 150):
        for steps in range(1, 60):
            parts = _parts(blocks, steps, 4)
            each = -(-steps // parts)
            assert (parts - 1) * each < steps
            assert parts == 1 or each >= 4
            assert blocks * parts <= max(blocks, 128)
    assert _parts(1, 59, 4) == 12
    assert (_parts(16, 5, 4), _parts(16, 18, 4), _parts(64, 40, 4), _parts(65, 40, 4)) == (1, 4, 2, 1)
    assert _parts(16, 5, 1) == 5


def test_parts_are_summed_with_the_bias_once():
    spec = ConvSpec(n=2, c=48, h=5, w=6, k=18, r=3, s=3, padding=1)
    plan = method("tensor_core_mma").plan(spec)
    assert [step.entry for step in plan.launches] == ["conv_mma", "add_parts"]
    assert plan.scratch == {"parts": ((3, 2, 5, 6, 18), "float32")}
    for seed in (1, 3):  # with a bias, and without
        check_rung("tensor_core_mma", spec, seed=seed, optional=seed == 1)


def varied(monkeypatch, name, bm):
    """Give a rung other tiles."""
    record = method(name)

    def plan(spec):
        (step,) = record.plan(spec).steps
        grid = (step.grid[0], -(-spec.gemm_shape.gemm_m // bm), step.grid[2])
        return replace(record.plan(spec), steps=(replace(step, grid=grid, options=(f"-DBM={bm}",)),))

    monkeypatch.setattr(rungs, "method", lambda name: replace(record, plan=plan))


@pytest.mark.parametrize(("bm", "spec"), [(32, SPECS[1]), (64, SPECS[2])])
def test_wmma_takes_more_filters_a_block(monkeypatch, bm, spec):
    varied(monkeypatch, "tensor_core", bm)
    assert measure("bank conflicts", check("tensor_core", spec), spec) == 0


HELD = ConvSpec(n=3, c=64, h=9, w=13, k=70, r=3, s=2, dilation=(1, 2), padding=1)
SQUARE = ConvSpec(n=11, c=32, h=5, w=5, k=36, r=3, s=3, padding=1)
STRIDED = ConvSpec(n=3, c=24, h=17, w=21, k=35, r=3, s=4, stride=2, padding=(1, 2))


@pytest.mark.parametrize(
    ("bm", "bn", "few", "many"),
    [(64, 256, 2, 4), (16, 256, 2, 4), (32, 128, 4, 4), (128, 64, 2, 8), (64, 128, 8, 2), (64, 64, 4, 2)],
)
@pytest.mark.parametrize("spec", [HELD, SQUARE, STRIDED, SPECS[3]], ids=str)
def test_mma_has_other_tiles(monkeypatch, bm, bn, few, many, spec):
    monkeypatch.setattr(tensor, "tile_of", lambda filters: bm)
    for name, value in (("MMA_BN", (bn, bn)), ("FEW", few), ("MANY", many)):
        monkeypatch.setattr(tensor, name, value)
    runs = check("tensor_core_mma", spec)
    assert measure("bank conflicts", runs, spec) == 0 or spec == SQUARE


@pytest.mark.parametrize("name", ALL[1:])
def test_large_tiles_compute_the_same_in_every_type(monkeypatch, name):
    monkeypatch.setattr(tensor, "MMA_BN", (256, 256))
    assert check(name, HELD)[0].kernel == "conv_mma"
    assert check(name, STRIDED, "compute_90")[0].kernel == "conv_mma_gather"


def test_rows_that_are_not_level_are_computed_with_few_conflicts(monkeypatch):
    monkeypatch.setattr(tensor, "MMA_BN", (256, 256))
    for spec, most in ((SQUARE, 0.5), (replace(SQUARE, h=8, w=8, n=5), 0.0)):
        (run,) = check("tensor_core_mma", spec)[:1]
        assert run.counters.conflicts_shared_load <= most * run.counters.wavefronts_shared_load


def test_gathering_for_strides_still_saves_requests():
    """What the header of tensor_core_gather.cu predicts."""
    spec = ConvSpec(n=1, c=64, h=33, w=32, k=64, r=3, s=3, stride=2, padding=1)
    few, many = (measure("load requests", check(name, spec), spec) for name in reversed(HALF))
    assert 7 * few <= many
    shared = replace(spec, h=17, w=16, stride=1)  # as many outputs
    once, often = (measure("input sectors", check("tensor_core_mma", each), each) for each in (shared, spec))
    assert 2 * once <= often


@pytest.mark.parametrize(
    ("source", "options", "reason"),
    [
        ("mma", ("-DBM=24",), "ldmatrix brings 16 rows"),
        ("mma", ("-DPIECES=16",), "a step multiplies two pieces; all banks hold eight"),
        ("gather", ("-DBN=96", "-DPIECES=2"), "each thread has the same number of windows"),
    ],
)
def test_tiles_that_cannot_be_are_refused_with_the_reason(source, options, reason):
    path = FOLDER / f"tensor_core_{source}.cu"
    with pytest.raises(CompileError, match=reason):
        compile(path.read_text(encoding="utf-8"), path.name, options=options)


def test_tf32_rounds_to_nearest():
    """1 + 3/4 of TF32's spacing; cut off, it would be 1."""
    x, w = np.full((1, 1, 1, 1), 1 + 3 * 2.0**-12, "f4"), np.ones((1, 1, 1, 1), "f4")
    assert conv2d(x, w, method="tensor_core_tf32", device="emulator").item() == 1 + 2.0**-10
    assert conv2d(w, x, method="tensor_core_tf32", device="emulator").item() == 1 + 2.0**-10


@pytest.mark.parametrize("name", HALF)
def test_an_infinity_reaches_only_the_windows_that_hold_it(name):
    """What fills up a tile is zero times something, which must not be an element of the input."""
    spec = SPECS[1]
    x, w, _ = (array.astype("f2") for array in random_tensors(spec))
    x[1, 4, 5, 6] = np.inf
    options = (spec.stride, spec.padding, spec.dilation, spec.groups)
    y = conv2d(x, w, None, *options, method=name, device="emulator")
    expected = oracle(x.astype("f8"), w.astype("f8"), None, spec)
    assert np.isinf(expected).any()
    assert np.array_equal(np.isfinite(y), np.isfinite(expected))


LARGE = ConvSpec(n=256, c=64, h=14, w=14, k=64, r=3, s=3, padding=1)


@pytest.mark.parametrize("name", ALL[1:])
@pytest.mark.parametrize("spec", [LARGE, replace(LARGE, r=1, s=1), replace(LARGE, h=28, w=28, stride=2)], ids=str)
def test_the_largest_tile_spills_no_register_and_leaves_room_for_a_second(name, spec):
    (step,) = method(name).plan(spec).launches
    assert "-DBN=256" in step.options
    for arch in ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"):
        if method(name).since <= int(arch.removeprefix("sm_")):
            found = compile(step.text(), step.source, options=step.options).kernels[step.entry].resources[arch]
            assert (found.spill_stores, found.spill_loads, found.stack) == (0, 0, 0)
            assert occupancy(arch, 128, found.registers, step.shared).blocks >= (1 if arch == "sm_75" else 2)


@pytest.mark.parametrize(("size", "channels", "filters"), [(28, 128, 128), (14, 256, 256), (56, 128, 256)])
def test_it_is_modelled_at_three_quarters_of_what_mma_sync_reaches(size, channels, filters):
    """On Hopper: 63 % of the data sheet's peak."""
    spec = ConvSpec(n=256, c=channels, h=size, w=size, k=filters, r=3, s=3, padding=1)
    h200 = gpu("H200")
    reach = spec.flops / (0.63 * h200.peak_tflops("float16") * 1e9)
    assert reach / predict(work(spec, "tensor_core_mma"), h200).milliseconds > 0.75
