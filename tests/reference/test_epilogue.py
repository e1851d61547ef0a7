from __future__ import annotations

import numpy as np
import onnx
import pytest

from convlab.errors import ArgumentError
from convlab.reference.direct import oracle
from convlab.reference.epilogue import average_pool, batch_norm, fold_batch_norm, max_pool, relu
from convlab.spec import ConvSpec

from .cases import assert_exact, magnitude, onnx_run, random_arrays, random_spec

node = onnx.helper.make_node


# Batch norm and ReLU


def random_statistics(channels, seed, dtype="float64"):
    """gamma, beta, mean, and a variance that is nowhere negative."""
    rng = np.random.default_rng(seed)
    gamma, beta, mean = rng.standard_normal((3, channels))
    return [array.astype(dtype) for array in (gamma, beta, mean, rng.uniform(0.01, 4, channels))]


@pytest.mark.parametrize("seed", range(100))
def test_batch_norm_equals_the_onnx_reference(seed):
    rng = np.random.default_rng(seed)
    dtype, eps = ["float64", "float32", "float16"][seed % 3], [2**-17, 2**-10][seed % 2]  # ONNX keeps it in float32
    x = (3 * rng.standard_normal(rng.choice(np.arange(2, 8), 4, replace=False))).astype(dtype)
    statistics = random_statistics(x.shape[1], seed, dtype)
    names = "x", "gamma", "beta", "mean", "variance"
    exact = dict(zip(names, (array.astype("f8") for array in (x, *statistics)), strict=True))
    expected = onnx_run(exact, node("BatchNormalization", list(names), ["y"], epsilon=eps))
    y = batch_norm(x, *statistics, eps)
    assert y.dtype == dtype
    np.testing.assert_allclose(y, expected, rtol=np.finfo(dtype).eps, atol=1e-6 if dtype != "float64" else 1e-13)


@pytest.mark.parametrize("seed", range(200))
def test_folding_batch_norm_changes_nothing(seed):
    spec = random_spec(seed)
    x, w, bias = random_arrays(spec, seed)
    statistics = random_statistics(spec.k, seed)
    folded = fold_batch_norm(w, bias, *statistics)
    expected = batch_norm(oracle(x, w, bias, spec), *statistics)
    tolerance = 1e-13 * (magnitude(x, *folded, spec) + magnitude(x, w, bias, spec) + abs(expected))
    assert (abs(oracle(x, *folded, spec) - expected) <= 10 * tolerance).all()


def test_folding_rounds_once_to_the_type_of_the_weights():
    spec = ConvSpec(n=2, c=3, h=5, w=4, k=6, r=3, s=2)
    _, w, bias = random_arrays(spec, seed=1, dtype="float32")
    statistics = random_statistics(6, seed=1, dtype="float32")
    exact = fold_batch_norm(w.astype("f8"), bias.astype("f8"), *statistics, eps=1e-3)
    for array, expected in zip(fold_batch_norm(w, bias, *statistics, eps=1e-3), exact, strict=True):
        assert_exact(array, expected.astype("f4"))


@pytest.mark.parametrize("call", ["batch_norm", "fold_batch_norm"])
@pytest.mark.parametrize("position", range(4))
def test_statistics_of_other_channels_are_refused(call, position):
    statistics = [np.ones(6)] * 4
    statistics[position] = np.ones(1)
    array = np.ones((2, 6, 3, 4) if call == "batch_norm" else (6, 2, 3, 4))
    with pytest.raises(ArgumentError) as caught:
        batch_norm(array, *statistics) if call == "batch_norm" else fold_batch_norm(array, None, *statistics)
    name = ["gamma", "beta", "mean", "variance"][position]
    fact, context = f"{name} has shape (1,), but there are 6 channels", f"{call} of an array of shape {array.shape}"
    assert str(caught.value) == f"{fact}.\n  In: {context}\n  Fix: Give {name} one number a channel."


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32"])
def test_relu_equals_the_onnx_reference(dtype):
    x = (10 * np.random.default_rng(1).standard_normal((2, 3, 5, 4))).astype(dtype)
    assert_exact(relu(x), onnx_run({"x": x}, node("Relu", ["x"], ["y"])))
    assert (x < 0).any()


def test_relu_lets_nan_be_seen_and_ends_at_zero():
    y = relu(np.array([np.nan, -1.0, -np.inf, np.inf]))
    assert np.isnan(y).tolist() == [True, False, False, False]
    assert y[1:].tolist() == [0.0, 0.0, np.inf]


# Pooling. ONNX's evaluator mixes up the order of the four paddings, so the graph pads in a node of its own.


def pooling(seed):
    """A window with its stride, and padding narrower than the window."""
    rng = np.random.default_rng(seed)
    shape = rng.choice(np.arange(2, 9), 4, replace=False)
    shape[2:] += 2
    window = tuple(int(v) for v in rng.choice([1, 2, 3, 4], 2, replace=False))
    stride = tuple(int(v) for v in rng.integers(1, 4, 2))
    padding = tuple(int(rng.integers(0, window[side // 2])) for side in range(4))
    return shape, window, stride, padding


def onnx_pool(op, x, window, stride, padding, fill):
    top, bottom, left, right = padding
    arrays = {"x": x, "pads": np.array([top, left, bottom, right]), "fill": np.array(fill, x.dtype)}
    arrays["axes"] = np.array([2, 3])
    pool = node(op, ["padded"], ["y"], kernel_shape=list(window), strides=list(stride))
    return onnx_run(arrays, node("Pad", ["x", "pads", "fill", "axes"], ["padded"]), pool)


@pytest.mark.parametrize("seed", range(200))
def test_max_pool_equals_the_onnx_reference(seed):
    shape, window, stride, padding = pooling(seed)
    dtype = ["float64", "float32", "float16", "int8"][seed % 4]
    x = (20 * np.random.default_rng(seed).standard_normal(shape) - 60).clip(-128, 127).astype(dtype)
    wide = x if dtype != "int8" else x.astype("float32")  # the evaluator pads with NaN
    expected = onnx_pool("MaxPool", wide, window, stride, padding, -np.inf)
    assert_exact(max_pool(x, window, stride, padding), expected.astype(dtype))


@pytest.mark.parametrize("seed", range(200))
def test_average_pool_equals_the_onnx_reference(seed):
    shape, window, stride, padding = pooling(seed)
    dtype = ["float64", "float32", "float16"][seed % 3]
    x = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    means, shares = (onnx_pool("AveragePool", a.astype("f8"), window, stride, padding, 0) for a in (x, x * 0 + 1))
    for count_include_pad, expected in ((True, means), (False, means / shares)):
        y = average_pool(x, window, stride, padding, count_include_pad)
        assert y.dtype == dtype
        np.testing.assert_allclose(y, expected, rtol=np.finfo(dtype).eps, atol=1e-14 if dtype != "float16" else 1e-7)
    assert any(padding) or shares.min() == 1


@pytest.mark.parametrize("count_include_pad", [False, True])
def test_equal_padding_on_all_sides_needs_no_node_of_its_own(count_include_pad):
    x = np.random.default_rng(1).standard_normal((2, 3, 5, 7))
    attributes = {"kernel_shape": [2, 3], "pads": [1] * 4}
    expected = onnx_run({"x": x}, node("MaxPool", ["x"], ["y"], **attributes))
    assert_exact(max_pool(x, (2, 3), stride=1, padding=1), expected)
    average = node("AveragePool", ["x"], ["y"], count_include_pad=int(count_include_pad), **attributes)
    y = average_pool(x, (2, 3), stride=1, padding=1, count_include_pad=count_include_pad)
    np.testing.assert_allclose(y, onnx_run({"x": x}, average), rtol=1e-13)


def test_the_stride_is_the_window_where_nothing_is_said():
    x = np.random.default_rng(1).standard_normal((2, 3, 7, 8))
    assert_exact(max_pool(x, (2, 3)), max_pool(x, (2, 3), stride=(2, 3)))
    assert_exact(average_pool(x, 2), average_pool(x, (2, 2), stride=2))
    assert average_pool(x, (2, 3)).shape == (2, 3, 3, 2)


def test_the_input_is_left_alone():
    x = np.arange(24.0).reshape(1, 2, 3, 4)
    max_pool(x, 1)[:] = 0
    assert np.array_equal(x.ravel(), np.arange(24))


def test_nan_is_the_largest():
    x = np.array([np.nan, 1.0, 2.0, 3.0]).reshape(1, 1, 1, 4)
    assert np.isnan(max_pool(x, (1, 2))[0, 0, 0]).tolist() == [True, False]


@pytest.mark.parametrize("pool", [max_pool, average_pool])
@pytest.mark.parametrize("padding", [2, (0, 3), (0, 2, 0, 0), (0, 0, 3, 0)])
def test_padding_as_wide_as_the_window_is_refused(pool, padding):
    x = np.ones((1, 2, 6, 5))
    with pytest.raises(ValueError, match="window") as caught:
        pool(x, (2, 3), 1, padding)
    four = ConvSpec(1, 2, 6, 5, 2, 2, 3, padding=padding).padding
    fact = f"padding {four} is as wide as the window of 2×3: some windows would hold no pixel"
    context = f"{pool.__name__}(x.shape=(1, 2, 6, 5), window=(2, 3), stride=1, padding={padding})"
    assert str(caught.value) == f"{fact}.\n  In: {context}\n  Fix: Pad less than the window's size on each side."


@pytest.mark.parametrize("pool", [max_pool, average_pool])
@pytest.mark.parametrize(
    ("shape", "window", "stride", "fact"),
    [
        ((2, 6, 5), 2, None, r"x has shape \(2, 6, 5\), but it needs \(N, C, H, W\)"),
        ((1, 2, 6, 5), 0, None, "window=0 is less than 1"),
        ((1, 2, 6, 5), (2, 3, 1), None, r"window=\(2, 3, 1\) has 3 numbers"),
        ((1, 2, 6, 5), 2, (1, 0), r"stride\[1\]=0 is less than 1"),
        ((1, 2, 6, 5), (2, 6), None, "The window spans 6 columns but the padded input has 5"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(pool, shape, window, stride, fact):
    with pytest.raises(ValueError, match=rf"^{fact}\.\n  In: .*\n  Fix: .*\.$"):
        pool(np.ones(shape), window, stride)


def test_integers_have_no_average():
    with pytest.raises(ArgumentError, match=r"^x is int8, which has no fractions\.\n  In: .*\n  Fix: Convert x to fl"):
        average_pool(np.ones((1, 2, 4, 3), "int8"), 2)
