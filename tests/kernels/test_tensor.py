from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from convlab.errors import CompileError
from convlab.executors.compile import compile
from convlab.kernels.ladder import method
from convlab.kernels.layers import LAYERS
from convlab.kernels.rungs.tensor import _parts
from convlab.ops.conv2d import conv2d
from convlab.perf.measures import measure
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
    for c in range(1, 25):
        (step,) = method(name).plan(replace(STANDARD, c=c, r=1, s=1)).launches
        assert step.entry == ("conv_mma_any" if c % whole else "conv_mma")


def test_small_outputs_are_computed_in_parts_of_k_none_of_them_empty():
    for blocks in range(1, 150):
        for steps in range(1, 60):
            parts = _parts(blocks, steps)
            each = -(-steps // parts)
            assert (parts - 1) * each < steps
            assert parts == 1 or each >= 4
            assert blocks * parts <= max(blocks, 128)
    assert _parts(1, 59) == 12
    assert (_parts(16, 5), _parts(16, 18), _parts(64, 40), _parts(65, 40)) == (1, 4, 2, 1)


def test_parts_are_summed_with_the_bias_once():
    spec = ConvSpec(n=2, c=48, h=5, w=6, k=18, r=3, s=3, padding=1)
    plan = method("tensor_core_mma").plan(spec)
    assert [step.entry for step in plan.launches] == ["conv_mma", "conv_mma_add"]
    assert plan.scratch == {"parts": ((3, 2, 5, 6, 18), "float32")}
    for seed in (1, 3):  # with a bias, and without
        check_rung("tensor_core_mma", spec, seed=seed, optional=seed == 1)


def varied(monkeypatch, name, bm, bn, *options):
    """Give a rung other tiles."""
    record = method(name)

    def plan(spec):
        steps = record.plan(spec).steps
        gemm_m, gemm_n, _ = spec.gemm_shape
        grid = (-(-gemm_n // bn), -(-gemm_m // bm), steps[0].grid[2])
        kept = tuple(option for option in steps[0].options if not option.startswith("-DBM="))
        first = replace(steps[0], grid=grid, options=(*kept, f"-DBM={bm}", *options))
        return replace(record.plan(spec), steps=(first, *steps[1:]))

    monkeypatch.setattr(rungs, "method", lambda name: replace(record, plan=plan))


@pytest.mark.parametrize(("bm", "spec"), [(32, SPECS[1]), (64, SPECS[2])])
def test_wmma_takes_more_filters_a_block(monkeypatch, bm, spec):
    varied(monkeypatch, "tensor_core", bm, 64)
    assert measure("bank conflicts", check("tensor_core", spec), spec) == 0


@pytest.mark.parametrize(
    ("bm", "bn", "options"),
    [
        (128, 64, ()),
        (32, 128, ("-DBN=128",)),
        (64, 64, ("-DSTAGES=2",)),
        (16, 64, ("-DSTAGES=5",)),
        (64, 64, ("-DPIECES=2",)),
        (64, 64, ("-DPIECES=8", "-DSTAGES=2")),
    ],
)
@pytest.mark.parametrize("spec", [SPECS[2], SPECS[3]], ids=str)
def test_mma_has_other_tiles_and_stages(monkeypatch, bm, bn, options, spec):
    varied(monkeypatch, "tensor_core_mma", bm, bn, *options)
    assert measure("bank conflicts", check("tensor_core_mma", spec), spec) == 0


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("-DBM=24",), "ldmatrix brings 16 rows"),
        (("-DPIECES=16",), "a step multiplies two pieces; all banks hold eight"),
        (("-DBN=96", "-DBM=64", "-DPIECES=2"), "each thread has the same number of windows"),
        (("-DSTAGES=1",), "one stage is filled while another is read"),
        (("-DPIECES=8", "-DSTAGES=4"), "a block has at most 48 KB of static shared memory"),
    ],
)
def test_tiles_that_cannot_be_are_refused_with_the_reason(options, reason):
    (step,) = method("tensor_core_mma").plan(STANDARD).launches
    with pytest.raises(CompileError, match=reason):
        compile(step.text(), step.source, options=options)


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


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("entry", ["conv_mma", "conv_mma_any"])
def test_the_largest_tile_spills_no_register(entry, arch):
    (step,) = method("tensor_core_mma").plan(STANDARD).launches
    found = compile(step.text(), step.source).kernels[entry].resources[arch]
    assert (found.spill_stores, found.spill_loads, found.stack) == (0, 0, 0)
    assert found.registers <= 128
