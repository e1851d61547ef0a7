from __future__ import annotations

import numpy as np
import pytest

from convlab.errors import ArgumentError, LaunchError
from convlab.ops.conv2d import conv2d

RNG = np.random.default_rng(4)
X = RNG.standard_normal((2, 4, 9, 7)).astype("f4")
W = RNG.standard_normal((6, 2, 3, 2)).astype("f4")
BIAS = RNG.standard_normal(6).astype("f4")


def test_methods_agree_and_leave_their_inputs_alone():
    before = X.copy(), W.copy(), BIAS.copy()
    options = {"stride": (2, 1), "padding": (1, 0, 2, 1), "dilation": (1, 2), "groups": 2}
    direct = conv2d(X, W, BIAS, **options)
    naive = conv2d(X, W, BIAS, **options, method="naive", device="emulator")
    assert np.allclose(direct, naive, rtol=1e-5, atol=1e-5)
    assert direct.dtype == naive.dtype == np.float32
    assert all((a == b).all() for a, b in zip(before, (X, W, BIAS), strict=True))


def test_strided_inputs_are_taken_as_they_are():
    x = X.transpose(0, 1, 3, 2)
    assert np.allclose(
        conv2d(x, W, groups=2, method="naive", device="emulator"), conv2d(x.copy(), W, groups=2), atol=1e-5
    )


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"x": X.tolist(), "w": W}, ArgumentError, "x is list, not an array. Fix: pass np.asarray(x)."),
        ({"x": X, "w": W}, ValueError, "w has 2 input channels per filter"),
        ({"x": X[0], "w": W, "groups": 2}, ValueError, "x"),
        (
            {"x": X.astype("f8"), "w": W, "groups": 2, "method": "naive"},
            ArgumentError,
            "x is float64, but method 'naive'",
        ),
        (
            {"x": X, "w": W, "bias": BIAS[:5], "groups": 2, "method": "naive"},
            ArgumentError,
            "bias has shape (5,), but the sizes need (6,)",
        ),
        ({"x": X, "w": W, "groups": 2, "method": "nave"}, ValueError, "Did you mean 'naive'?"),
        ({"x": X, "w": W, "groups": 2, "device": "cuda"}, LaunchError, "'direct' is a reference method"),
        ({"x": X, "w": W, "groups": 2, "method": "naive", "device": "gpu"}, LaunchError, "device='gpu' is none of"),
        ({"x": X, "w": W, "groups": 2, "dilation": 9}, ValueError, "padded input has"),
    ],
)
def test_what_does_not_fit_is_said_with_the_fix(arguments, error, message):
    with pytest.raises(error) as caught:
        conv2d(**arguments)
    assert message in str(caught.value)


def test_layouts_are_changed_for_a_method_of_the_other_one():
    options = {"stride": (2, 1), "padding": (1, 0, 2, 1), "groups": 2}
    expected = conv2d(X, W, BIAS, **options)
    x, w = X.transpose(0, 2, 3, 1), W.transpose(0, 2, 3, 1)  # (N, H, W, C), (K, R, S, C/G)
    y = conv2d(x, w, BIAS, **options, layout="nhwc", method="naive", device="emulator")
    assert y.shape == tuple(np.array(expected.shape)[[0, 2, 3, 1]])
    assert np.allclose(y.transpose(0, 3, 1, 2), expected, rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match=r"layout='hwcn' is none of 'nchw', 'nhwc'\."):
        conv2d(X, W, groups=2, layout="hwcn")


def test_a_method_of_another_op_is_refused():
    with pytest.raises(ValueError, match=r"Method 'blas' computes gemm, not conv2d\. Methods that do: direct, "):
        conv2d(X, W, groups=2, method="blas")
