from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest

from convlab.errors import ArgumentError
from convlab.reference.direct import oracle
from convlab.reference.separable import equivalent_filter, separable
from convlab.spec import ConvSpec

from .cases import depthwise_spec, doubles, magnitude, onnx_run, onnx_window


def random_layer(spec, seed, dtype="float64"):
    """x and the two filters with their biases; the second has a number of filters of its own."""
    rng = np.random.default_rng(seed)
    filters = spec.k + 1 + seed % 3
    shapes = spec.input_shape, spec.weight_shape, (spec.k,), (filters, spec.k, 1, 1), (filters,)
    x, w_depthwise, bias_depthwise, w_pointwise, bias_pointwise = (
        rng.standard_normal(shape).astype(dtype) for shape in shapes
    )
    with_biases = bias_depthwise if seed % 3 else None, bias_pointwise if seed % 2 else None
    return x, w_depthwise, with_biases[0], w_pointwise, with_biases[1]


def onnx_separable(layer, spec):
    names = "x", "w_depthwise", "bias_depthwise", "w_pointwise", "bias_pointwise"
    given = dict(zip(names, layer, strict=True))
    arrays = {name: array for name, array in given.items() if array is not None}
    first, second = (
        [x, f"w_{kind}", *([f"bias_{kind}"] if f"bias_{kind}" in arrays else [])]
        for x, kind in (("x", "depthwise"), ("between", "pointwise"))
    )
    convolve = onnx.helper.make_node
    return onnx_run(
        arrays,
        convolve("Conv", first, ["between"], **onnx_window(spec)),
        convolve("Conv", second, ["y"], kernel_shape=[1, 1]),
    )


@pytest.mark.parametrize("seed", range(200))
def test_it_equals_two_convolutions_of_the_onnx_reference(seed):
    spec, dtype = depthwise_spec(seed), ["float32", "float64"][seed // 8 % 2]
    layer = random_layer(spec, seed, dtype)
    y, expected = separable(*layer, spec), onnx_separable(doubles(*layer), spec)
    absolute = [None if array is None else abs(array) for array in doubles(*layer)]
    roundings = spec.r * spec.s + spec.k + 3
    assert y.dtype == dtype
    assert y.shape == expected.shape
    assert (abs(y - expected) <= roundings * np.finfo(dtype).eps * onnx_separable(absolute, spec)).all()


@pytest.mark.parametrize("seed", range(100))
def test_one_convolution_with_the_equivalent_filter_does_the_same(seed):
    spec = depthwise_spec(seed)
    x, w_depthwise, bias_depthwise, w_pointwise, bias_pointwise = random_layer(spec, seed)
    w = equivalent_filter(w_depthwise, w_pointwise, spec)
    full = replace(spec, k=len(w_pointwise), groups=1)
    bias = 0 if bias_pointwise is None else bias_pointwise
    if bias_depthwise is not None:  # it reaches every output, at the border as elsewhere
        bias = bias + w_pointwise[..., 0, 0] @ bias_depthwise
    expected = oracle(x, w, np.broadcast_to(bias, full.k), full)
    y = separable(x, w_depthwise, bias_depthwise, w_pointwise, bias_pointwise, spec)
    assert w.shape == full.weight_shape
    assert y.shape == expected.shape
    np.testing.assert_allclose(y, expected, rtol=0, atol=1e-13 * (10 + magnitude(x, w, None, full).max()))


def test_what_lies_between_is_rounded_to_the_type():
    spec = ConvSpec(n=1, c=1, h=1, w=2, k=1, r=1, s=2, groups=1)
    x, w_depthwise = np.array([2048, 1], "f2").reshape(1, 1, 1, 2), np.ones((1, 1, 1, 2), "f2")
    y = separable(x, w_depthwise, None, np.full((1, 1, 1, 1), 8, "f2"), None, spec)
    assert y.item() == 8 * 2048  # 8 × 2049 is a half as well: 2049 is not


SPEC = ConvSpec(n=2, c=3, h=5, w=6, k=6, r=3, s=2, groups=3)


@pytest.mark.parametrize("shape", [(4, 5, 1, 1), (4, 6), (4, 6, 1, 3)])
def test_other_pointwise_filters_are_refused(shape):
    x, w_depthwise, _, _, _ = random_layer(SPEC, seed=1)
    fact = f"w_pointwise has shape {shape}, but the spec needs (K, spec.k, 1, 1) = (4, 6, 1, 1)"
    fix = "Give w_pointwise one weight for each of the 6 channels that the depthwise convolution makes"
    for call in (
        lambda: separable(x, w_depthwise, None, np.ones(shape), None, SPEC),
        lambda: equivalent_filter(w_depthwise, np.ones(shape), SPEC),
    ):
        with pytest.raises(ArgumentError) as caught:
            call()
        assert str(caught.value) == f"{fact}.\n  In: {SPEC!r}\n  Fix: {fix}."


def test_other_depthwise_filters_are_refused():
    x, w_depthwise, _, w_pointwise, _ = random_layer(SPEC, seed=1)
    with pytest.raises(ArgumentError, match=r"w_depthwise has shape \(6, 1, 2, 3\), but the spec needs \(K, 1, R, S\)"):
        equivalent_filter(w_depthwise.reshape(6, 1, 2, 3), w_pointwise, SPEC)
    with pytest.raises(ArgumentError, match=r"w has shape \(6, 1, 2, 3\), but the spec needs"):
        separable(x, w_depthwise.reshape(6, 1, 2, 3), None, w_pointwise, None, SPEC)
    for call in (equivalent_filter, lambda w, v, spec: separable(x, w, None, v, None, spec)):
        with pytest.raises(ArgumentError, match="groups=1, but a depthwise convolution has as many as c=3"):
            call(w_depthwise, w_pointwise, replace(SPEC, groups=1))
