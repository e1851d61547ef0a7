from __future__ import annotations

import numpy as np
import pytest

from convlab.errors import ArgumentError
from convlab.reference.layout import layout_copy
from convlab.spec import LayoutSpec

SPECS = (LayoutSpec(2, 3, 4, 5), LayoutSpec(2, 3, 4, 5, "nhwc", "nchw"))


@pytest.mark.parametrize("spec", SPECS, ids=str)
@pytest.mark.parametrize("dtype", ["f4", "i1", "c8"])
def test_each_element_keeps_its_indices(spec, dtype):
    x = np.arange(120).reshape(spec.input_shape).astype(dtype)
    y = layout_copy(x, spec)
    assert y.shape == spec.output_shape
    assert y.dtype == x.dtype
    assert y.flags.c_contiguous
    for at in np.ndindex(y.shape):
        named = dict(zip(spec.target, at, strict=True))
        assert y[at] == x[tuple(named[letter] for letter in spec.source)]


def test_the_result_is_a_copy_even_where_nothing_moves():
    x = np.zeros((1, 1, 2, 3))
    layout_copy(x, LayoutSpec(1, 1, 2, 3))[:] = 1
    assert not x.any()


def test_another_shape_is_refused():
    fact = r"x has shape \(2, 4, 5, 3\), but the spec needs \(N, C, H, W\) = \(2, 3, 4, 5\)"
    with pytest.raises(ArgumentError, match=rf"(?s){fact}.*LayoutSpec\(n=2.*Fix: Reshape x"):
        layout_copy(np.zeros((2, 4, 5, 3)), SPECS[0])
