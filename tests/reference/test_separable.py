from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest

from convlab.errors import ArgumentError
from convlab.reference.direct import oracle
from convlab.reference.separable import equivalent_filter, separable, separable_direct
from convlab.spec import ConvSpec, SeparableSpec

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


def both(spec, layer):
    """The spec of both convolutions, from that of the first and the arrays."""
    return SeparableSpec(spec, len(layer[3]))


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
    y, expected = separable(*layer, both(spec, layer)), onnx_separable(doubles(*layer), spec)
    absolute = [None if array is None else abs(array) for array in doubles(*layer)]
    exact = separable_direct(*doubles(*layer), both(spec, layer))
    np.testing.assert_allclose(exact, expected, rtol=0, atol=1e-13 * (10 + abs(expected).max()))
    roundings = spec.r * spec.s + spec.k + 3
    assert y.dtype == dtype
    assert y.shape == expected.shape
    assert (abs(y - expected) <= roundings * np.finfo(dtype).eps * onnx_separable(absolute, spec)).all()


@pytest.mark.parametrize("seed", range(100))
def test_one_convolution_with_the_equivalent_filter_does_the_same(seed):
    spec = depthwise_spec(seed)
    layer = x, w_depthwise, bias_depthwise, w_pointwise, bias_pointwise = random_layer(spec, seed)
    w = equivalent_filter(w_depthwise, w_pointwise, both(spec, layer))
    full = replace(spec, k=len(w_pointwise), groups=1)
    bias = 0 if bias_pointwise is None else bias_pointwise
    if bias_depthwise is not None:  # it reaches every output, at the border as elsewhere
        bias = bias + w_pointwise[..., 0, 0] @ bias_depthwise
    expected = oracle(x, w, np.broadcast_to(bias, full.k), full)
    y = separable(*layer, both(spec, layer))
    assert w.shape == full.weight_shape
    assert y.shape == expected.shape
    np.testing.assert_allclose(y, expected, rtol=0, atol=1e-13 * (10 + magnitude(x, w, None, full).max()))


def test_what_lies_between_is_rounded_to_the_type():
    spec = ConvSpec(n=1, c=1, h=1, w=2, k=1, r=1, s=2, groups=1)
    x, w_depthwise = np.array([2048, 1], "f2").reshape(1, 1, 1, 2), np.ones((1, 1, 1, 2), "f2")
    for function in (separable, separable_direct):
        y = function(x, w_depthwise, None, np.full((1, 1, 1, 1), 8, "f2"), None, SeparableSpec(spec, k=1))
        assert y.item() == 8 * 2048  # 8 × 2049 is a half as well: 2049 is not


SPEC = SeparableSpec.from_shapes((2, 3, 5, 6), (6, 1, 3, 2), (4, 6, 1, 1))


@pytest.mark.parametrize(
    ("name", "shape", "needed"),
    [
        ("w_pointwise", (4, 5, 1, 1), "(K, C·m, 1, 1) = (4, 6, 1, 1)"),
        ("w_pointwise", (5, 6, 1, 1), "(K, C·m, 1, 1) = (4, 6, 1, 1)"),
        ("w_pointwise", (4, 6), "(K, C·m, 1, 1) = (4, 6, 1, 1)"),
        ("w_depthwise", (6, 1, 2, 3), "(C·m, 1, R, S) = (6, 1, 3, 2)"),
    ],
)
def test_other_filters_are_refused(name, shape, needed):
    x, w_depthwise, _, w_pointwise, _ = random_layer(SPEC.depthwise, seed=0)
    filters = {"w_depthwise": w_depthwise, "w_pointwise": w_pointwise[:4], name: np.ones(shape)}
    for function in (separable, separable_direct, equivalent_filter):
        rest = {} if function is equivalent_filter else {"x": x, "bias_depthwise": None, "bias_pointwise": None}
        with pytest.raises(ArgumentError) as caught:
            function(**filters, **rest, spec=SPEC)
        assert str(caught.value) == (
            f"{name} has shape {shape}, but the spec needs {needed}.\n  In: {SPEC!r}\n"
            f"  Fix: Reshape {name}, or make the spec with SeparableSpec.from_shapes."
        )
