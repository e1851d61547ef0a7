from __future__ import annotations

import itertools

import numpy as np
import pytest

from convlab.reference.taps import sum_over_taps, tap_slices
from convlab.spec import ConvSpec

from .cases import random_arrays, random_spec


@pytest.mark.parametrize("seed", range(40))
def test_every_output_meets_the_pixel_that_the_formula_says(seed):
    spec = random_spec(seed)
    rows, columns = (np.arange(axis.padded) for axis in spec.axes)
    for r, s in itertools.product(range(spec.r), range(spec.s)):
        down, right = tap_slices(spec, r, s)
        assert rows[down].tolist() == [p * spec.stride[0] + r * spec.dilation[0] for p in range(spec.p)]
        assert columns[right].tolist() == [q * spec.stride[1] + s * spec.dilation[1] for q in range(spec.q)]


def test_channels_meet_the_filters_of_their_group():
    spec = ConvSpec(n=2, c=6, h=4, w=3, k=4, r=2, s=1, groups=2)
    x, w, bias = random_arrays(spec, seed=1)
    y = sum_over_taps(lambda r, s: x[..., r : r + spec.p, :], w, bias, spec)
    n, k, p, q = 1, 2, 2, 1  # the first filter of the second group, which sees channels 3, 4 and 5
    assert y.shape == spec.output_shape
    assert y[n, k, p, q] == pytest.approx((x[n, 3:, p : p + 2, q] * w[k, ..., 0]).sum() + bias[k], rel=1e-13)
