"""What ``supports`` accepts can be planned and launched, however extreme the sizes are."""

from __future__ import annotations

import numpy as np
import pytest

from convlab.executors.shape import block_shape, grid_shape
from convlab.kernels.halo import SHARED
from convlab.kernels.ladder import method, methods
from convlab.spec import BlockSpec, ConvSpec, ConvTransposeSpec, GemmSpec, LayoutSpec, SeparableSpec

SMALL = (1, 1, 1, 2, 3, 5, 7, 17)
LARGE = (65535, 65536, 70000, 2**20, 2**31 - 257, 2**31 - 256, 2**31, 2**32 + 1)


def _size(rng, large=0.15):
    return int(rng.choice(LARGE if rng.random() < large else SMALL))


def _conv(rng, depthwise=False):
    groups, channels = _size(rng), 1 if depthwise else _size(rng, 0.05)
    sizes = _size(rng), channels * groups, _size(rng), _size(rng), _size(rng) * groups
    if rng.random() < 0.4:  # what most rungs are made for
        window = int(rng.choice((1, 3, 5)))
        return ConvSpec(*sizes, window, window, padding=window // 2, groups=groups)
    window, stride, padding, dilation = ((_size(rng, 0.1), _size(rng, 0.1)) for _ in range(4))
    return ConvSpec(*sizes, *window, stride, padding, dilation, groups)


def _transposed(rng):
    groups = _size(rng)
    sizes = _size(rng), _size(rng, 0.05) * groups, _size(rng), _size(rng), _size(rng) * groups, _size(rng), _size(rng)
    pairs = {name: (_size(rng), _size(rng)) for name in ("stride", "dilation")}
    return ConvTransposeSpec(*sizes, groups=groups, padding=int(rng.integers(3)), **pairs)


DRAWN = {
    "conv2d": _conv,
    "conv_transpose2d": _transposed,
    "gemm": lambda rng: GemmSpec(_size(rng, 0.5), _size(rng, 0.5), _size(rng, 0.5)),
    "layout": lambda rng: LayoutSpec(_size(rng), _size(rng), _size(rng, 0.3), _size(rng, 0.3)),
    "separable": lambda rng: SeparableSpec(_conv(rng, depthwise=True), k=_size(rng)),
    "block": lambda rng: BlockSpec(_conv(rng), pool=bool(rng.integers(2))),
}


def _extreme(op, count, largest=2**40):
    """Specs with an output, and where that is easily said an input, that are large, yet not beyond all memory."""
    rng, made = np.random.default_rng(4), 0
    while made < count:
        try:
            spec = DRAWN[op](rng)
            shapes = [spec.output_shape, *([] if op in ("gemm", "block", "separable") else [spec.input_shape])]
        except ValueError:  # no such convolution
            continue
        if all(np.prod(shape, dtype=float) < largest for shape in shapes):
            made += 1
            yield spec


@pytest.mark.parametrize("op", DRAWN)
def test_every_plan_of_extreme_sizes_fits_a_gpu(op):
    planned = dict.fromkeys((record.name for record in methods(op) if record.plan), 0)
    for spec in _extreme(op, 300):
        for name in planned:
            if method(name).supports(spec) is None:
                planned[name] += 1
                for step in method(name).plan(spec).launches:
                    assert (grid_shape(step.grid), block_shape(step.block)) == (step.grid, step.block), spec
                    assert step.shared <= SHARED, spec
                    assert all(abs(each) < 2**31 for each in step.arguments if isinstance(each, int)), spec
    assert min(planned.values()) > 0


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ({"stride": (2**31, 1)}, "2147483648 pixels of a stride are too many for the 32-bit int that numbers them."),
        ({"dilation": 2**40}, "1099511627776 pixels of a dilation are too many for the 32-bit int that numbers them."),
    ],
)
def test_steps_that_reach_no_other_pixel_are_declined_all_the_same(sizes, reason):
    spec, transposed = (kind(n=1, c=1, h=1, w=1, k=1, r=1, s=1, **sizes) for kind in (ConvSpec, ConvTransposeSpec))
    reasons = {record.name: record.supports(spec) for record in methods("conv2d") if record.plan}
    assert set(reasons.values()) - {reasons.pop("winograd")} == {reason}
    assert reason == method("transposed_scatter").supports(transposed)


def test_more_taps_than_an_int_numbers_are_declined():
    """R and S reach beyond the image, so no other size bounds them."""
    spec = ConvSpec(n=1, c=1, h=1, w=1, k=1, r=50001, s=50001, padding=25000)
    assert method("depthwise").supports(spec) == (
        "2500100001 taps of a filter are too many for the 32-bit int that numbers them."
    )
