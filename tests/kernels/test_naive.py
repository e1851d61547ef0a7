from __future__ import annotations

import numpy as np
import pytest

from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.kernels.ladder import method
from convlab.kernels.ops import OPS
from convlab.ops.conv2d import conv2d
from convlab.reference.direct import oracle
from convlab.spec import ConvSpec

from .specs import random_specs, random_tensors

SPECS = list(random_specs(200))


def test_the_specs_are_as_varied_as_they_claim():
    assert all(s.h != s.w and s.r != s.s and s.c != s.k and s.n > 1 for s in SPECS)
    assert sum(s.groups > 1 for s in SPECS) > 40
    assert sum(s.dilation != (1, 1) for s in SPECS) > 100
    assert sum(len(set(s.padding)) > 2 for s in SPECS) > 30
    assert sum(s.stride[0] != s.stride[1] for s in SPECS) > 60
    assert any(s.groups == s.c for s in SPECS)


@pytest.mark.parametrize("number", range(140, 160))
def test_the_op_gives_what_the_oracle_gives(number):
    """test_rungs.py runs the plans alone, on the specs before these."""
    spec = SPECS[number]
    x, w, bias = random_tensors(spec, number, bias=number % 3 > 0)
    y = conv2d(x, w, bias, spec.stride, spec.padding, spec.dilation, spec.groups, method="naive", device="emulator")
    expected = oracle(x, w, bias, spec)
    # Each of the gemm_k + 1 sums rounds once; |w|·|x| bounds what it rounds.
    bound = oracle(abs(x), abs(w), None if bias is None else abs(bias), spec)
    error = np.abs(y - expected)
    assert y.shape == spec.output_shape
    assert (error <= (spec.gemm_shape.gemm_k + 1) * np.finfo("f4").eps / 2 * bound).all()


def test_every_output_is_written_and_nothing_else():
    spec = SPECS[5]
    x, w, bias = random_tensors(spec)
    y = np.full(spec.output_shape, np.nan, "f4")
    (step,) = method("naive").plan(spec).launches
    kernel = compile(step.text(), step.source).kernels[step.entry]
    run = launch(
        kernel,
        step.grid,
        step.block,
        [x, w, bias, y, step.arguments[-1]],
        device="emulator",
        axes=OPS["conv2d"].letters,
    )
    assert not np.isnan(y).any()
    assert not run.faults
    assert run.counters.flop == 2 * _taps_inside(spec)


def _taps_inside(spec: ConvSpec) -> int:
    """Multiplications that the kernel does: it skips the taps that fall on padding."""
    total = 1
    for axis in spec.axes:
        starts = np.arange(axis.outputs)[:, None] * axis.stride - axis.before
        taps = starts + np.arange(axis.window) * axis.dilation
        total *= int(((taps >= 0) & (taps < axis.size)).sum())
    return spec.n * spec.k * spec.c // spec.groups * total


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ({"n": 1, "k": 70000}, "K=70000 filters are more than the 65535 blocks that a grid can have there."),
        ({"n": 70000, "k": 1}, "N=70000 images are more than the 65535 blocks that a grid can have there."),
        ({"n": 1, "k": 1, "h": 1, "w": 2**31 - 100}, "output pixels of a plane are too many for the 32-bit int"),
        ({"n": 1, "k": 1, "h": 50000, "w": 50000}, "output pixels of a plane are too many for the 32-bit int"),
    ],
)
def test_sizes_beyond_its_grid_are_declined_with_the_reason(sizes, reason):
    spec = ConvSpec(**{"c": 1, "h": 4, "w": 5, "r": 1, "s": 1, **sizes})
    assert reason in method("naive").supports(spec)
