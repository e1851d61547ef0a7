from __future__ import annotations

import numpy as np
import pytest

from convlab.errors import CompileError
from convlab.executors.compile import compile
from convlab.executors.plans import run_plan
from convlab.kernels.ladder import method
from convlab.kernels.layers import LAYERS
from convlab.ops.conv2d import conv2d
from convlab.perf.gpus import gpu
from convlab.perf.model import predict
from convlab.perf.work import work
from convlab.reference.direct import oracle
from convlab.reference.winograd import transforms
from convlab.spec import ConvSpec

from .cases_winograd import CASES, LARGE
from .rungs import check_rung
from .specs import random_tensors

RECORD = method("winograd")


def _run(spec, tensors):
    y = np.full(spec.output_shape, np.nan, "f4")
    names = dict(zip(("x", "w", "bias"), tensors, strict=True))
    runs = run_plan(RECORD.plan(spec), {**names, "y": y}, "emulator", faults="record")
    assert [fault for run in runs for fault in run.faults] == []
    return y


def _within(y, spec, tensors):
    """Every rounding on the way is at most 2⁻²⁴ of what the transforms make of |w| and |x|.

    Four roundings of a filter's element, two of a pixel's, one for each channel's product, four of the output and the
    bias; a product with ½ is exact.
    """
    at, g, bt = (abs(matrix) for matrix in transforms(2, 3).arrays())
    x, w, bias = (None if array is None else abs(array.astype("f8")) for array in tensors)
    top, _, left, _ = spec.padding
    down, across = -(-spec.p // 2), -(-spec.q // 2)
    canvas = np.zeros((spec.n, spec.c, 2 * down + 2, 2 * across + 2))
    canvas[..., top : top + spec.h, left : left + spec.w] = x
    u = (g @ w @ g.T).reshape(spec.groups, -1, *w.shape[1:2], 4, 4)
    bound = np.zeros((spec.n, spec.groups, spec.k // spec.groups, 2 * down, 2 * across))
    for p, q in np.ndindex(down, across):
        tile = canvas[..., 2 * p : 2 * p + 4, 2 * q : 2 * q + 4]
        v = (bt @ tile @ bt.T).reshape(spec.n, spec.groups, -1, 4, 4)
        bound[..., 2 * p : 2 * p + 2, 2 * q : 2 * q + 2] = at @ np.einsum("gkcij,ngcij->ngkij", u, v) @ at.T
    bound = bound.reshape(spec.n, spec.k, 2 * down, 2 * across)[..., : spec.p, : spec.q]
    bound += 0 if bias is None else bias[:, None, None]
    error = abs(y - oracle(*tensors, spec))
    return (error <= 1.01 * 2.0**-24 * (spec.c // spec.groups + 11) * bound).all()


@pytest.mark.parametrize("number", range(0, len(CASES["winograd"]), 4))
def test_each_element_is_within_the_rounding_of_its_transforms(number):
    spec = CASES["winograd"][number]
    tensors = random_tensors(spec, number, bias=number % 3 > 0)
    assert _within(_run(spec, tensors), spec, tensors)


@pytest.mark.parametrize(("k", "bk", "parts"), [(15, 16, 1), (16, 16, 1), (17, 32, 1), (32, 32, 1), (33, 32, 2)])
def test_a_group_of_few_filters_has_smaller_blocks(k, bk, parts):
    spec = ConvSpec(n=2, c=10, h=7, w=8, k=2 * k, r=3, s=3, padding=1, groups=2)
    plan = RECORD.plan(spec)
    assert {step.options for step in plan.steps} == {(f"-DBK={bk}",)}
    assert plan.scratch["u"][0] == (2, parts, 8, 16, bk)
    assert plan.steps[1].grid == (1, parts, 2)
    tensors = random_tensors(spec, k)
    assert _within(_run(spec, tensors), spec, tensors)


def test_the_blocks_of_filters_are_those_that_the_kernel_knows():
    text = RECORD.plan(LARGE[0]).steps[0].text()
    with pytest.raises(CompileError, match="filters under way lie where"):
        compile(text, "winograd.cu", options=("-DBK=64",))
    with pytest.raises(CompileError, match="8 lanes read 4 fours"):
        compile(text, "winograd.cu", options=("-DBK=8",))


def test_it_compiles_and_runs_for_turing():
    check_rung("winograd", LARGE[2], seed=1, arch="compute_75", relative=2.0**-22)


@pytest.mark.parametrize("layer", ["standard", "wide"])
def test_no_bank_conflicts_and_the_multiply_adds_of_the_header(layer):
    spec = LAYERS["conv2d"][layer]
    filters, fused = check_rung("winograd", spec, optional=False, relative=2.0**-22)
    assert fused.counters.conflicts_shared_load == fused.counters.conflicts_shared_store == 0
    counts = transforms(2, 3).work()
    tiles, blocks_of_filters = 16 * 16, -(-spec.k // 32)  # 16 fit one block, and so do 32
    additions = tiles * (spec.c * counts.input_additions * blocks_of_filters + spec.k * counts.output_additions)
    bias = 4 * spec.k * tiles
    assert fused.counters.flop == 2 * counts.products * tiles * spec.c * spec.k + additions + bias
    halves = 14  # two rows of three columns, two columns of four rows
    assert filters.counters.flop == spec.k * spec.c * (counts.filter_additions + halves)


@pytest.mark.parametrize("name", ["H200", "A100"])
def test_the_model_predicts_one_and_a_half_times_the_rate_of_implicit_gemm(name):
    spec = ConvSpec(n=16, c=64, h=56, w=56, k=64, r=3, s=3, padding=1)
    ours, plain = (predict(work(spec, rung), gpu(name)).milliseconds for rung in ("winograd", "implicit_gemm"))
    assert 1.5 * ours <= plain


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"r": 5}, "It computes filters of 3×3 only, and this is 5×3."),
        ({"s": 1}, "It computes filters of 3×3 only, and this is 3×1."),
        ({"stride": (1, 2)}, "It computes stride 1 only, and this is 1×2."),
        ({"dilation": 2}, "It computes dilation 1 only, and this is 2."),
    ],
)
def test_what_it_does_not_compute_is_refused_with_the_reason(changes, reason):
    spec = ConvSpec(**{"n": 2, "c": 3, "h": 9, "w": 8, "k": 4, "r": 3, "s": 3, **changes})
    x, w, bias = random_tensors(spec)
    for name in ("winograd", "winograd_f2", "winograd_f4"):
        assert method(name).supports(spec) == reason
        with pytest.raises(ValueError, match=f"Method '{name}' does not support this conv2d: ") as caught:
            conv2d(x, w, bias, spec.stride, spec.padding, spec.dilation, method=name)
        assert reason in str(caught.value)


@pytest.mark.parametrize("name", ["winograd", "winograd_f2", "winograd_f4"])
def test_the_op_computes_by_any_of_them(name):
    spec = LARGE[2]
    x, w, bias = random_tensors(spec)
    y = conv2d(x, w, bias, padding=spec.padding, groups=spec.groups, method=name)
    np.testing.assert_allclose(y, oracle(x, w, bias, spec), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ({"c": 70000}, "C/G=70000 channels are more than the 65535 blocks that a grid can have there."),
        (
            {"c": 70000, "k": 70000, "groups": 70000},
            "G=70000 groups are more than the 65535 blocks that a grid can have there.",
        ),
        (
            {"c": 65000, "k": 65000 * 33038, "groups": 65000},
            "2148640000 slots of filters are too many for the 32-bit int",
        ),
        (
            {"k": 70000 * 32},
            "⌈K/G / 32⌉=70000 parts of a group are more than the 65535 blocks that a grid can have there.",
        ),
        ({"n": 2**20, "h": 300, "w": 200}, "tiles are too many for the 32-bit int that numbers them."),
    ],
)
def test_sizes_beyond_its_grid_are_declined(sizes, reason):
    spec = ConvSpec(**{"n": 1, "c": 1, "h": 3, "w": 3, "k": 1, "r": 3, "s": 3, **sizes})
    assert reason in RECORD.supports(spec)
