from __future__ import annotations

import numpy as np
import pytest

from convlab.errors import ArgumentError
from convlab.reference.direct import direct
from convlab.reference.grouped import depthwise, grouped
from convlab.spec import ConvSpec

from .cases import assert_close, assert_exact, depthwise_spec, doubles, onnx_conv, random_arrays, random_spec

DTYPES = "float32", "float64", "float16"


@pytest.mark.parametrize("seed", range(200))
def test_grouped_equals_the_onnx_reference(seed):
    spec = random_spec(seed)
    arrays = random_arrays(spec, seed, DTYPES[seed // 8 % 3])
    assert_close(grouped(*arrays, spec), onnx_conv(*doubles(*arrays), spec), arrays, spec)


@pytest.mark.parametrize("seed", range(200))
def test_depthwise_equals_the_onnx_reference(seed):
    spec = depthwise_spec(seed)
    arrays = random_arrays(spec, seed, DTYPES[seed // 8 % 3])
    assert_close(depthwise(*arrays, spec), onnx_conv(*doubles(*arrays), spec), arrays, spec)


@pytest.mark.parametrize("convolve", [grouped, depthwise])
def test_integers_are_exact(convolve):
    spec = ConvSpec(n=2, c=3, h=5, w=6, k=6, r=3, s=2, stride=(2, 1), groups=3)
    rng = np.random.default_rng(1)
    x, w, bias = (rng.integers(-4, 5, shape, "i1") for shape in (spec.input_shape, spec.weight_shape, 6))
    assert_exact(convolve(x, w, bias, spec), direct(x, w, bias, spec))


@pytest.mark.parametrize("groups", [1, 2])
def test_depthwise_refuses_groups_of_several_channels(groups):
    spec = ConvSpec(n=2, c=4, h=5, w=6, k=8, r=3, s=2, groups=groups)
    with pytest.raises(ArgumentError) as caught:
        depthwise(*random_arrays(spec, seed=1), spec)
    fact = f"the spec has groups={groups}, but a depthwise convolution has as many as c=4"
    assert str(caught.value) == f"{fact}.\n  In: {spec!r}\n  Fix: Set groups=4, or use grouped."


@pytest.mark.parametrize("convolve", [grouped, depthwise])
def test_arrays_are_checked_as_in_the_direct_convolution(convolve):
    spec = ConvSpec(n=2, c=3, h=5, w=6, k=6, r=3, s=2, groups=3)
    x, w, bias = random_arrays(spec, seed=1, dtype="float32")
    with pytest.raises(ArgumentError) as caught:
        convolve(x, w, bias[:3], spec)
    fact = "bias has shape (3,), but the spec needs (K,) = (6,)"
    assert str(caught.value).startswith(f"{fact}.\n  In: {spec!r}\n  Fix: ")
    with pytest.raises(ArgumentError, match="w is float64, but x is float32"):
        convolve(x, w.astype("f8"), bias, spec)
