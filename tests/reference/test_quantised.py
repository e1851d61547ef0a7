from __future__ import annotations

import numpy as np
import onnx
import pytest

from convlab.errors import ArgumentError
from convlab.reference.direct import oracle
from convlab.reference.quantised import (
    convolve_int8,
    convolve_integer,
    dequantise,
    filter_scales,
    quantise,
    requantise,
    symmetric_scale,
)
from convlab.spec import ConvSpec

from .cases import assert_exact, onnx_run, onnx_window, random_arrays, random_spec

node = onnx.helper.make_node


def random_integers(spec, seed):
    """x as int8 or uint8 with a zero point, w as int8, and every third time no bias; the whole range of each."""
    rng = np.random.default_rng(seed)
    limits = np.iinfo("uint8" if seed % 2 else "int8")
    x = rng.integers(limits.min, limits.max, spec.input_shape, limits.dtype, endpoint=True)
    w = rng.integers(-128, 127, spec.weight_shape, "int8", endpoint=True)
    bias = rng.integers(-(2**20), 2**20, spec.k, "int32") if seed % 3 else None
    return x, w, bias, int(rng.integers(limits.min, limits.max + 1))


# From reals to integers and back


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("seed", range(50))
def test_quantise_and_dequantise_equal_the_onnx_reference(seed, dtype):
    rng = np.random.default_rng(seed)
    scale, zero_point = np.float32(rng.uniform(0.001, 0.1)), np.array(rng.integers(0, 100), dtype)
    x = (4 * rng.standard_normal((3, 2, 5, 4))).astype("float32")
    arrays = {"x": x, "scale": np.array(scale), "zero": zero_point}
    x_q = quantise(x, scale, int(zero_point), dtype)
    assert_exact(x_q, onnx_run(arrays, node("QuantizeLinear", list(arrays), ["y"])))
    arrays["x"] = x_q
    assert_exact(
        dequantise(x_q, scale, int(zero_point)), onnx_run(arrays, node("DequantizeLinear", list(arrays), ["y"]))
    )


@pytest.mark.parametrize("seed", range(50))
def test_each_filter_has_a_step_of_its_own(seed):
    rng = np.random.default_rng(seed)
    w = (rng.uniform(0.01, 10, (5, 1, 1, 1)) * rng.standard_normal((5, 3, 2, 4))).astype("float32")
    scales = filter_scales(w)
    arrays = {"x": w, "scale": scales, "zero": np.zeros(5, "int8")}
    w_q = quantise(w, scales)
    assert_exact(w_q, onnx_run(arrays, node("QuantizeLinear", list(arrays), ["y"], axis=0)))
    assert (abs(w_q.astype(int)).reshape(5, -1).max(axis=1) == 127).all()
    error = abs(dequantise(w_q, scales) - w).reshape(5, -1).max(axis=1)
    assert (error <= 0.5001 * scales).all()


def test_ties_go_to_the_even_and_the_ends_saturate():
    x = np.array([-300, -128.5, -1.5, -0.5, 0.5, 1.5, 2.5, 126.5, 127.5, np.inf], "float32")
    assert quantise(x, 1.0).tolist() == [-128, -128, -2, 0, 0, 2, 2, 126, 127, 127]
    assert quantise(x[3:7], 1.0, zero_point=1).tolist() == [1, 1, 3, 3]  # rounded before the zero point is added


def test_a_bias_saturates_where_32_bits_end():
    limits = np.iinfo("int32")
    assert quantise(np.array([-9e9, 9e9], "float32"), 1.0, dtype="int32").tolist() == [limits.min, limits.max]


def test_the_symmetric_scale_reaches_the_largest_and_is_one_where_all_is_zero():
    x = np.array([[-25.4, 3.0], [1.0, 25.3]], "float32")
    assert symmetric_scale(x) == np.float32(0.2)
    assert quantise(x, symmetric_scale(x)).ravel().tolist() == [-127, 15, 5, 126]
    assert symmetric_scale(np.zeros((2, 3), "float16")) == 1


# Sums


@pytest.mark.parametrize("seed", range(250))
def test_the_sums_equal_the_onnx_reference(seed):
    spec = random_spec(seed)
    x_q, w_q, bias, zero_point = random_integers(spec, seed)
    arrays = {"x": x_q, "w": w_q, "zero": np.array(zero_point, x_q.dtype)}
    expected = onnx_run(arrays, node("ConvInteger", list(arrays), ["y"], **onnx_window(spec)))
    shift = 0 if bias is None else bias.reshape(-1, 1, 1)
    assert_exact(convolve_integer(x_q, w_q, bias, spec, zero_point), expected + shift)


@pytest.mark.parametrize("seed", range(250))
def test_the_next_layers_input_equals_the_onnx_reference(seed):
    spec, rng = random_spec(seed), np.random.default_rng(seed)
    x_q, w_q, bias, zero_point = random_integers(spec, seed)
    dtype, y_zero_point = x_q.dtype, int(rng.integers(0, 60)) * 2  # even: ONNX's evaluator adds it before it rounds
    x_scale, w_scales = np.float32(rng.uniform(0.01, 0.1)), rng.uniform(0.01, 0.1, spec.k).astype("f4")
    if seed % 4 == 0:
        w_scales = w_scales[0]
    sums = convolve_integer(x_q, w_q, bias, spec, zero_point)
    y_scale = np.float32(x_scale * np.mean(w_scales) * sums.std() / 64 + 1e-6)
    arrays = {
        "x": x_q,
        "x_scale": np.array(x_scale),
        "x_zero": np.array(zero_point, dtype),
        "w": w_q,
        "w_scale": np.array(w_scales),
        "w_zero": np.zeros(np.shape(w_scales), "int8"),
        "y_scale": np.array(y_scale),
        "y_zero": np.array(y_zero_point, dtype),
        **({} if bias is None else {"bias": bias}),
    }
    expected = onnx_run(arrays, node("QLinearConv", list(arrays), ["y"], **onnx_window(spec)))
    y = requantise(sums, x_scale, w_scales, y_scale, y_zero_point, dtype)
    assert_exact(y, expected)


def test_requantising_rounds_ties_to_the_even_and_then_adds_the_zero_point():
    sums = np.array([-3, -1, 1, 3, 5, 1000], "int32").reshape(1, 1, 2, 3)
    y = requantise(sums, 0.5, 0.25, 0.25, y_zero_point=1)
    assert_exact(y.ravel(), np.array([-2 + 1, 0 + 1, 0 + 1, 2 + 1, 2 + 1, 127], "int8"))


@pytest.mark.parametrize("seed", range(100))
def test_the_reals_are_those_of_the_convolution_of_the_reals(seed):
    spec = random_spec(seed)
    x_q, w_q, _, zero_point = random_integers(spec, seed)
    bias = random_arrays(spec, seed)[2]
    x_scale, w_scales = 0.03, np.random.default_rng(seed).uniform(0.01, 0.1, spec.k)
    y = convolve_int8(x_q, w_q, x_scale, w_scales, bias, spec, zero_point)
    arrays = 0.03 * (x_q - float(zero_point)), w_q * w_scales.reshape(-1, 1, 1, 1)
    assert y.dtype == "float32"
    bound = oracle(*map(abs, arrays), None if bias is None else abs(bias), spec)
    assert (abs(y - oracle(*arrays, bias, spec)) <= 3e-7 * bound).all()


def test_eight_bits_keep_a_layer_within_a_hundredth():
    spec = ConvSpec(n=2, c=16, h=9, w=11, k=8, r=3, s=2, padding=1)
    x, w, bias = random_arrays(spec, seed=1, dtype="float32")
    x_scale, w_scales = symmetric_scale(x), filter_scales(w)
    y = convolve_int8(quantise(x, x_scale), quantise(w, w_scales), x_scale, w_scales, bias, spec)
    exact = oracle(x, w, bias, spec)
    assert 0 < np.sqrt(((y - exact) ** 2).mean()) < 0.02 * exact.std()


# What is refused

SPEC = ConvSpec(n=2, c=3, h=5, w=6, k=4, r=3, s=2)
X, W, BIAS, _ = random_integers(SPEC, seed=1)


def test_sums_beyond_32_bits_are_refused_and_up_to_them_exact():
    spec = ConvSpec(n=1, c=66_400, h=1, w=2, k=1, r=1, s=2)
    x, w = np.full(spec.input_shape, 255, "uint8"), np.full(spec.weight_shape, 127, "int8")
    with pytest.raises(ArgumentError) as caught:
        convolve_integer(x, w, None, spec)
    total = 66_400 * 2 * 255 * 127
    fact, fix = f"the output holds {total}, but int32 goes from -2147483648 to 2147483647", "Split the channels"
    assert str(caught.value).startswith(f"{fact}.\n  In: {spec!r}\n  Fix: {fix}")
    bias = np.array([2**31 - 1 - total // 2], "int32")
    x[..., 1] = 0
    assert convolve_integer(x, w, bias, spec).item() == 2**31 - 1
    with pytest.raises(ArgumentError, match="the output holds 2147483648, but int32"):
        convolve_integer(x, w, bias + 1, spec)


@pytest.mark.parametrize(
    ("arrays", "fact", "fix"),
    [
        ((X.astype("int16"), W, BIAS), "x is int16, not int8 or uint8", "Make x int8 or uint8 with quantise"),
        ((X, W.view("uint8"), BIAS), "w is uint8, not int8", "Make w int8 with quantise"),
        ((X, W, BIAS.astype("f4")), "bias is float32, not int32", "Make bias int32 with quantise"),
    ],
)
def test_other_types_are_refused(arrays, fact, fix):
    with pytest.raises(ArgumentError) as caught:
        convolve_integer(*arrays, SPEC)
    assert str(caught.value) == f"{fact}.\n  In: {SPEC!r}\n  Fix: {fix}."


@pytest.mark.parametrize("zero_point", [-1, 256])
def test_a_zero_point_outside_the_type_is_refused(zero_point):
    with pytest.raises(ArgumentError) as caught:
        convolve_integer(X, W, BIAS, SPEC, zero_point)
    fact = f"x_zero_point={zero_point}, but x is uint8, which goes from 0 to 255"
    fix = "Use the zero point with which x was quantised"
    assert str(caught.value) == f"{fact}.\n  In: {SPEC!r}\n  Fix: {fix}."


def test_shapes_are_checked_as_in_the_direct_convolution():
    for convolve in (convolve_integer, lambda x, w, bias, spec: convolve_int8(x, w, 1.0, 1.0, bias, spec)):
        with pytest.raises(ArgumentError, match=r"x has shape \(2, 3, 6, 5\), but the spec needs \(N, C, H, W\)"):
            convolve(X.reshape(2, 3, 6, 5), W, BIAS, SPEC)
        with pytest.raises(ArgumentError, match=r"bias has shape \(3,\), but the spec needs \(K,\) = \(4,\)"):
            convolve(X, W, BIAS[:3], SPEC)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf, np.array([1.0, 0.0, 1.0, 1.0])])
def test_scales_that_are_not_positive_are_refused(scale):
    x, sums = np.ones((4, 2)), np.ones((1, 4, 2, 3), "int32")
    calls = {
        "quantise, x of shape (4, 2)": lambda: quantise(x, scale),
        "dequantise, x_q of shape (4, 2)": lambda: dequantise(x.astype("int8"), scale),
        repr(SPEC): lambda: convolve_int8(X, W, 1.0, scale, None, SPEC),
        "requantise, sums of shape (1, 4, 2, 3)": lambda: requantise(sums, 1.0, scale, 1.0),
    }
    for context, call in calls.items():
        with pytest.raises(ArgumentError) as caught:
            call()
        fact = f"the scale {scale} is not positive and finite"
        assert str(caught.value) == f"{fact}.\n  In: {context}\n  Fix: Use symmetric_scale."


def test_scales_of_another_shape_are_refused():
    with pytest.raises(ArgumentError) as caught:
        quantise(np.ones((4, 3)), np.ones(3))
    fact, context = "a scale has shape (3,), not one number or 4", "quantise, x of shape (4, 3)"
    assert str(caught.value) == f"{fact}.\n  In: {context}\n  Fix: Give one number or 4."
    with pytest.raises(ArgumentError, match=r"^a scale has shape \(4,\), not one number\.\n  In: ConvSpec"):
        convolve_int8(X, W, np.ones(4), 1.0, None, SPEC)
    with pytest.raises(ArgumentError, match=r"^a scale has shape \(3,\), not one number or 4\.\n  In: ConvSpec"):
        convolve_int8(X, W, 1.0, np.ones(3), None, SPEC)


def test_nan_stands_for_no_integer():
    with pytest.raises(ArgumentError, match=r"^x holds NaN, which no integer stands for\.\n  In: .*\n  Fix: Find wh"):
        quantise(np.array([1.0, np.nan]), 1.0)
