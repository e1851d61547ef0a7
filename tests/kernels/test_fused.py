from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from convlab.executors.plans import run_plan
from convlab.kernels.ladder import method
from convlab.kernels.layers import LAYERS
from convlab.kernels.method import Plan
from convlab.ops.conv2d import conv2d
from convlab.ops.conv_block import conv_block
from convlab.ops.separable import separable_conv2d
from convlab.reference.epilogue import fold_batch_norm
from convlab.spec import BlockSpec, ConvSpec, SeparableSpec

from .cases_fused import BLOCKS, SEPARABLE
from .oracles import ORACLES
from .rungs import check_rung, random_inputs
from .specs import nonzero

RNG = np.random.default_rng(3)
X, W = (nonzero(RNG, shape).astype("f4") for shape in ((2, 3, 8, 7), (5, 3, 3, 2)))
PER_CHANNEL = {name: nonzero(RNG, 5).astype("f4") for name in ("bias", "scale", "shift")}


def test_the_cases_reach_every_entry():
    entries = Counter(method("separable_fused").plan(spec).launches[0].entry for spec in SEPARABLE)
    assert entries.keys() == {"separable_3x3", "separable_3x3_stride2", "separable_any"}
    assert min(entries.values()) >= 6
    assert {(spec.relu, spec.pool) for spec in BLOCKS} == {(a, b) for a in (True, False) for b in (True, False)}
    assert sum(spec.pool and spec.conv.p % 2 + spec.conv.q % 2 > 0 for spec in BLOCKS) > 20
    launches = [method("separable_fused").plan(spec).launches[0] for spec in SEPARABLE]
    assert sum(step.grid[0] > 1 and step.grid[1] > 1 for step in launches) >= 6
    assert Counter(step.options for step in launches).keys() == {(f"-DBM={bm}",) for bm in (16, 32, 64)}


@pytest.mark.parametrize("name", ["separable_fused", "separable_two_kernels"])
def test_more_filters_than_a_grid_has_blocks_are_declined(name):
    reason = r"⌈K / 64⌉=65536 tiles of filters are more than the 65535 blocks that a grid can have there\."
    x, w_depthwise = np.ones((1, 1, 1, 2), "f4"), np.ones((1, 1, 1, 1), "f4")
    w_pointwise = np.ones((2**22, 1, 1, 1), "f4")
    with pytest.raises(ValueError, match=f"(?s)Method '{name}' does not support this separable: {reason}.*In: Separ"):
        separable_conv2d(x, w_depthwise, w_pointwise, method=name)


def test_more_images_than_a_grid_has_blocks_are_declined_by_two_kernels_only():
    spec = SeparableSpec(ConvSpec(n=65536, c=1, h=2, w=3, k=1, r=2, s=1), k=2)
    assert "N=65536 images are more than" in method("separable_two_kernels").supports(spec)
    assert method("separable_fused").supports(spec) is None


def test_more_strips_than_an_int_can_count_are_declined():
    spec = SeparableSpec(ConvSpec(n=2**27, c=1, h=1, w=16, k=1, r=1, s=1), k=1)
    assert "2147483648 strips of outputs are too many" in method("separable_fused").supports(spec)


@pytest.mark.parametrize("name", ["fused_epilogue", "block_separate"])
@pytest.mark.parametrize(
    ("n", "k", "reason"), [(1, 65536, "K=65536 filters are more than"), (65536, 1, "N=65536 images are more than")]
)
def test_blocks_beyond_the_grid_are_declined(name, n, k, reason):
    x, w = np.ones((n, 1, 1, 2), "f4"), np.ones((k, 1, 1, 1), "f4")
    with pytest.raises(ValueError, match=f"Method '{name}' does not support this block: {reason} the 65535 blocks"):
        conv_block(x, w, method=name)


@pytest.mark.parametrize("name", ["fused_epilogue", "block_separate"])
@pytest.mark.parametrize("pool", [False, True])
@pytest.mark.parametrize("given", [("bias",), ("scale",), ("shift",), ("bias", "shift"), ("scale", "shift"), ()])
def test_each_piece_of_a_block_may_be_missing(name, pool, given):
    spec = BlockSpec(ConvSpec(2, 3, 8, 7, 5, 3, 2, padding=1), relu=True, pool=pool)
    pieces = {piece: PER_CHANNEL[piece] if piece in given else None for piece in PER_CHANNEL}
    y = conv_block(X, W, **pieces, padding=1, pool=pool, method=name, device="emulator")
    np.testing.assert_allclose(y, ORACLES["block"](spec, X, W, **pieces), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["separable_fused", "separable_two_kernels"])
@pytest.mark.parametrize("given", [(True, False), (False, True)])
def test_each_bias_of_a_separable_convolution_may_be_missing(name, given):
    spec = SeparableSpec(ConvSpec(2, 3, 8, 7, 3, 3, 2, padding=1, groups=3), k=5)
    w_depthwise, w_pointwise = W[:3, :1], W[:, :, :1, :1]
    first, second = (
        PER_CHANNEL["bias"][:size] if present else None for size, present in zip((3, 5), given, strict=True)
    )
    y = separable_conv2d(X, w_depthwise, w_pointwise, first, second, padding=1, method=name, device="emulator")
    expected = ORACLES["separable"](spec, X, w_depthwise, first, w_pointwise, second)
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["fused_epilogue", "block_separate", "block_direct"])
def test_not_a_number_survives_relu_and_pooling(name):
    x = np.zeros((1, 1, 2, 8), "f4")
    for pixel in range(4):
        x[0, 0, pixel // 2, 2 * pixel + pixel % 2] = np.nan
    one = np.ones((1, 1, 1, 1), "f4")
    assert np.isnan(conv_block(x, one, pool=True, method=name)).all()
    assert np.isnan(conv_block(x, one, method=name)).sum() == 4


def test_a_folded_batch_norm_is_the_scale_and_shift_of_the_epilogue():
    gamma, beta, mean = PER_CHANNEL.values()
    variance = RNG.uniform(0.5, 2, 5).astype("f4")
    scale = gamma / np.sqrt(variance + 1e-5)
    fused = conv_block(X, W, beta, scale, beta - mean * scale, padding=1, method="fused_epilogue")
    w, bias = fold_batch_norm(W, beta, gamma, beta, mean, variance)
    folded = np.maximum(conv2d(X, w, bias, padding=1), 0)
    np.testing.assert_allclose(fused, folded, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["separable_fused", "fused_epilogue"])
def test_only_the_output_is_stored(name):
    spec = LAYERS[method(name).op]["standard"]
    (run,) = check_rung(name, spec)
    assert run.counters.sectors_global_store == np.prod(spec.output_shape) * 4 // 32
    assert not method(name).plan(spec).scratch


@pytest.mark.parametrize("number", [0, 1, 2, 3, 26, 45, 58])
def test_the_fused_separable_convolution_has_no_bank_conflicts(number):
    (run,) = check_rung("separable_fused", SEPARABLE[number], seed=1)
    assert run.counters.conflicts_shared_load == run.counters.conflicts_shared_store == 0


@pytest.mark.parametrize(("bm", "bk"), [(32, 8), (16, 16), (128, 32)])
def test_other_tiles_compute_the_same(bm, bk):
    record, spec = method("separable_fused"), SEPARABLE[5]
    (step,) = record.plan(spec).launches
    assert spec.k == 65
    grid = (step.grid[0], -(-spec.k // bm), 1)
    step = replace(step, grid=grid, block=(32, bk, 1), options=(f"-DBM={bm}", f"-DBK={bk}"))
    tensors = random_inputs(record, spec, 2, optional=True)
    y = np.full(spec.output_shape, np.nan, "f4")
    (run,) = run_plan(Plan((step,)), {**tensors, "y": y}, "emulator", faults="record")
    assert not run.faults
    np.testing.assert_allclose(y, ORACLES["separable"](spec, **tensors), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("name", "spec"), [("separable_fused", SEPARABLE[1]), ("fused_epilogue", BLOCKS[1])])
def test_turing_computes_the_same(name, spec):
    check_rung(name, spec, seed=1, arch="compute_75")
