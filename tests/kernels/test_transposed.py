from __future__ import annotations

import numpy as np
import pytest

from convlab.kernels.ladder import method, methods
from convlab.kernels.layers import LAYERS
from convlab.ops.conv_transpose2d import conv_transpose2d
from convlab.reference.transposed import flipped_filters, spread, transposed_matrix
from convlab.spec import ConvTransposeSpec

from .cases_transposed import CASES, EDGES
from .rungs import check_rung

RUNGS = "transposed_zero_insertion", "transposed_scatter", "transposed"
STANDARD = LAYERS["conv_transpose2d"]["standard"]


def _useful(spec):
    """Pairs of an output and a tap that meet an input, on all planes."""
    total = spec.n * spec.c * (spec.k // spec.groups)
    axes = zip(
        (spec.h, spec.w), (spec.r, spec.s), (spec.p, spec.q), spec.padding[::2], spec.stride, spec.dilation, strict=True
    )
    for size, window, outputs, cropped, stride, dilation in axes:
        at = np.arange(size)[:, None] * stride + np.arange(window) * dilation - cropped
        total *= int(((at >= 0) & (at < outputs)).sum())
    return total


@pytest.mark.parametrize("name", RUNGS[1:])
@pytest.mark.parametrize("spec", [STANDARD, *EDGES[2:6]], ids=str)
def test_no_inserted_zero_is_multiplied(name, spec):
    runs = check_rung(name, spec, optional=False)
    assert sum(run.counters.flop for run in runs) == 2 * _useful(spec)


def test_zero_insertion_multiplies_every_zero():
    *_, run = check_rung("transposed_zero_insertion", STANDARD, optional=False)
    assert run.counters.flop == 2 * 4 * STANDARD.macs


def test_its_two_steps_are_those_of_the_reference():
    spec = EDGES[7]
    rng = np.random.default_rng(4)
    x, w = (rng.standard_normal(shape).astype("f4") for shape in (spec.input_shape, spec.weight_shape))
    scratch = method("transposed_zero_insertion").plan(spec).scratch
    assert scratch["z"] == (spread(x, spec).shape, "float32")
    assert scratch["f"] == (flipped_filters(w, spec.groups).shape, "float32")


def test_gathering_needs_no_atomics_and_scattering_one_for_each_tap():
    (gather,) = check_rung("transposed", STANDARD, optional=False)
    fill, scatter = check_rung("transposed_scatter", STANDARD, optional=False)
    assert gather.counters.atomics_global == 0
    assert scatter.counters.atomics_global == 16 * (16 * 16 // 32) * 9  # filters, warps of a plane, taps
    assert gather.counters.thread_bytes_global_store == 4 * np.prod(STANDARD.output_shape)
    more = gather.counters.instructions / (fill.counters.instructions + scatter.counters.instructions)
    assert 1.3 < more < 1.5


def test_no_warp_parts_at_a_tap():
    spec = ConvTransposeSpec(n=1, c=3, h=32, w=32, k=2, r=3, s=5, stride=2, padding=(1, 1, 2, 2))
    (run,) = check_rung("transposed", spec, optional=False)
    assert run.counters.active_lanes > 30  # lanes are lost only at the border, where taps meet no input


@pytest.mark.parametrize("name", RUNGS)
def test_they_compile_and_run_for_turing(name):
    check_rung(name, EDGES[7], seed=1, arch="compute_75")


@pytest.mark.parametrize("name", [*RUNGS, "transposed_matrix", "zero_insertion", "auto"])
def test_the_op_computes_by_any_method(name):
    spec = ConvTransposeSpec(
        n=2, c=4, h=5, w=7, k=6, r=3, s=2, stride=(2, 1), padding=1, output_padding=(1, 0), groups=2
    )
    rng = np.random.default_rng(1)
    x, w, bias = (rng.standard_normal(shape).astype("f4") for shape in (spec.input_shape, spec.weight_shape, 6))
    y = conv_transpose2d(x, w, bias, (2, 1), 1, (1, 0), groups=2, method=name)
    np.testing.assert_allclose(y, transposed_matrix(x, w, bias, spec), rtol=1e-5, atol=1e-5)


MANY = {"n": 40000, "c": 40000, "k": 50000}


def _spec(**sizes):
    return ConvTransposeSpec(**{"n": 1, "c": 1, "h": 2, "w": 3, "k": 1, "r": 1, "s": 1, **sizes})


@pytest.mark.parametrize(
    ("name", "sizes", "reason"),
    [
        (RUNGS, {"k": 70000}, "K=70000 filters are more than the 65535 blocks that a grid can have there."),
        (RUNGS, {"n": 70000}, "N=70000 images are more than the 65535 blocks that a grid can have there."),
        (RUNGS, {"h": 50000, "w": 50000}, "output pixels of a plane are too many for the 32-bit int"),
        (RUNGS, {"r": 50000, "s": 50000, "padding": 24999}, "taps of a filter are too many for the 32-bit int"),
        (
            RUNGS,
            {"h": 2, "stride": (2**31 - 1, 1), "padding": (2**31 - 1, 0, 0, 0)},
            "rows before cropping are too many for the 32-bit int",
        ),
        (
            ("transposed",),
            {"n": 300, "stride": 20},
            "N·stride²=120000 images and phases are more than the 65535 blocks",
        ),
        ((RUNGS[0],), {"c": 70000}, "C=70000 channels are more than the 65535 blocks that a grid can have there."),
        (
            (RUNGS[0],),
            {"r": 2, "s": 2, "dilation": 50000, "padding": 24000},
            "pixels of a spread-out plane are too many for the 32-bit int",
        ),
        (
            (RUNGS[0],),
            {**MANY, "stride": 250},
            "With the inserted zeros, the work is 10060080000000000000 multiply-accumulates, beyond 2^63 − 1.",
        ),
    ],
)
def test_sizes_beyond_its_grid_are_declined_with_the_reason(name, sizes, reason):
    for each in name:
        assert reason in method(each).supports(_spec(**sizes))


def test_work_that_is_just_within_64_bits_has_a_plan():
    spec = _spec(**MANY, stride=200)
    assert method(RUNGS[0]).supports(spec) is None
    assert [step.grid[1:] for step in method(RUNGS[0]).plan(spec).launches] == [
        *((40000, 40000), (50000, 40000), (50000, 40000))
    ]


def test_the_op_says_why_a_method_declines():
    x, w = np.ones((300, 1, 2, 3), "f4"), np.ones((1, 1, 1, 1), "f4")
    with pytest.raises(
        ValueError, match=r"Method 'transposed' does not support this conv_transpose2d: N·stride²=120000"
    ):
        conv_transpose2d(x, w, stride=20, method="transposed", device="emulator")


def test_the_family_is_complete():
    assert set(RUNGS) == set(CASES) == {m.name for m in methods("conv_transpose2d") if m.plan is not None}
