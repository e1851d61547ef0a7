from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from convlab.errors import ArgumentError
from convlab.reference.direct import direct
from convlab.reference.pointwise import pointwise
from convlab.spec import ConvSpec

from .cases import assert_close, assert_exact, doubles, onnx_conv, random_arrays, random_spec

DTYPES = "float32", "float64", "float16"


@pytest.mark.parametrize("seed", range(200))
def test_it_equals_the_onnx_reference(seed):
    spec = replace(random_spec(seed), r=1, s=1)
    arrays = random_arrays(spec, seed, DTYPES[seed // 8 % 3])
    assert_close(pointwise(*arrays, spec), onnx_conv(*doubles(*arrays), spec), arrays, spec)


def test_integers_are_exact():
    spec = ConvSpec(n=2, c=4, h=5, w=6, k=6, r=1, s=1, stride=(2, 1), groups=2)
    rng = np.random.default_rng(1)
    x, w, bias = (rng.integers(-5, 5, shape, "i1") for shape in (spec.input_shape, spec.weight_shape, 6))
    assert_exact(pointwise(x, w, bias, spec), direct(x, w, bias, spec))


@pytest.mark.parametrize(("r", "s"), [(1, 2), (3, 1)])
def test_larger_filters_are_refused(r, s):
    spec = ConvSpec(n=2, c=4, h=5, w=6, k=3, r=r, s=s)
    with pytest.raises(ArgumentError) as caught:
        pointwise(*random_arrays(spec, seed=1), spec)
    fact = f"the filter is {r}×{s}, but a pointwise convolution has 1×1"
    fix = "Use im2col, which is this product after laying out the windows"
    assert str(caught.value) == f"{fact}.\n  In: {spec!r}\n  Fix: {fix}."


def test_arrays_are_checked_as_in_the_direct_convolution():
    spec = ConvSpec(n=2, c=4, h=5, w=6, k=3, r=1, s=1)
    x, w, bias = random_arrays(spec, seed=1, dtype="float32")
    with pytest.raises(ArgumentError, match=r"w has shape \(4, 3, 1, 1\), but the spec needs"):
        pointwise(x, w.reshape(4, 3, 1, 1), bias, spec)
    with pytest.raises(ArgumentError, match="bias is float64, but x is float32"):
        pointwise(x, w, bias.astype("f8"), spec)
