from __future__ import annotations

import numpy as np
import pytest

from convlab.errors import ArgumentError, LaunchError
from convlab.ops import compute
from convlab.ops.conv2d import conv2d
from convlab.spec import ConvSpec

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
        ({"x": X, "w": None}, ArgumentError, "w is NoneType, not an array."),
        ({"x": X[0], "w": W, "groups": 2}, ValueError, "x has shape (4, 9, 7), but it needs (N, C, H, W)."),
        (
            {"x": X[0], "w": W, "layout": "nhwc"},
            ValueError,
            "x has shape (4, 9, 7), but with layout='nhwc' it needs (N, H, W, C).\n  Fix: give x 4 axes.",
        ),
        ({"x": X[:0], "w": W, "groups": 2}, ValueError, "x.shape[0] (N)=0 is less than 1"),
        ({"x": X, "w": W, "groups": True}, ValueError, "groups=True is a bool, not a number"),
        (
            {"x": X, "w": W, "groups": 2, "method": "tensor_core"},
            ArgumentError,
            "x is float32, but method 'tensor_core' takes float16 there.\n"
            f"  In: {ConvSpec.from_shapes(X.shape, W.shape, groups=2)!r}\n"
            "  Fix: pass x.astype('float16'), w.astype('float16'), or use method='auto', which goes by the type.",
        ),
        (
            {"x": X.astype("f2"), "w": W.astype("f2"), "bias": BIAS.astype("f8"), "groups": 2, "method": "tensor_core"},
            ArgumentError,
            "bias is float64, but method 'tensor_core' takes float32 there.",
        ),
        (
            {"x": X.astype("f2"), "w": W, "groups": 2, "method": "auto"},
            ArgumentError,
            "w is float32, but method 'tensor_core_mma' takes float16 there.",
        ),
        (
            {"x": X.astype(">f4"), "w": W, "groups": 2, "method": "naive"},
            ArgumentError,
            "x is >f4, but method 'naive' takes float32 there.",
        ),
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
        ({"x": X, "w": W, "groups": 2, "method": "naive", "device": "cpu"}, LaunchError, "'naive' is a kernel"),
        (
            {"x": X.astype("f8"), "w": W.astype("f8"), "groups": 2, "method": "auto", "device": "emulator"},
            ValueError,
            "No kernel computes conv2d in float64 for these sizes.",
        ),
        (
            {"x": X, "w": W, "groups": 2, "method": "winograd"},
            ValueError,
            "Method 'winograd' does not support this conv2d: It computes filters of 3×3 only, and this is 3×2.\n  In:",
        ),
        ({"x": X, "w": W, "groups": 2, "method": "winograd"}, ValueError, "Fix: use method='auto', or one of direct, "),
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
    assert y.flags.c_contiguous
    assert np.allclose(y.transpose(0, 3, 1, 2), expected, rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match=r"layout='hwcn' is none of 'nchw', 'nhwc'\."):
        conv2d(X, W, groups=2, layout="hwcn")


def test_a_method_of_another_op_is_refused():
    with pytest.raises(ValueError, match=r"Method 'blas' computes gemm, not conv2d\. Methods that do: direct, "):
        conv2d(X, W, groups=2, method="blas")


def test_on_the_cpu_the_choice_is_a_reference():
    y = conv2d(X, W, groups=2, method="auto", device="cpu")
    assert (y == conv2d(X, W, groups=2)).all()


def test_the_output_of_a_method_with_channels_last_is_in_the_layout_asked_for():
    y = conv2d(X, W, groups=2, method="naive_nhwc", device="emulator")
    assert y.flags.c_contiguous
    assert np.allclose(y, conv2d(X, W, groups=2), rtol=1e-5, atol=1e-5)


def test_what_may_not_be_written_is_read():
    x = X.copy()
    x.flags.writeable = False
    y = conv2d(x, W, groups=2, method="naive", device="emulator")
    assert np.allclose(y, conv2d(X, W, groups=2), rtol=1e-5, atol=1e-5)


class OnGpu:
    """A stand-in for CuPy's array, made of a shape and a type as CuPy's is."""

    def __init__(self, shape, dtype):
        self.host = np.zeros(shape, dtype)
        self.__cuda_array_interface__ = {"data": (0x7000, False)}

    def __getattr__(self, name):  # shape, dtype, ndim, flags
        return getattr(self.host, name)

    def astype(self, dtype, copy):
        return self if dtype == self.dtype else OnGpu(self.shape, dtype)

    def get(self):
        return self.host


def test_arrays_on_a_gpu_give_one_there(monkeypatch):
    given = {}
    monkeypatch.setattr(compute, "run_plan", lambda plan, tensors, *_, **options: given.update(tensors))
    x, w = OnGpu(X.shape, "f2"), OnGpu(W.shape, "f2")
    y = conv2d(x, w, OnGpu((6,), "f2"), groups=2, method="tensor_core")
    assert given["x"] is x
    assert given["bias"].dtype == np.float32
    assert given["y"] is y
    assert isinstance(y, OnGpu)
    assert (y.shape, y.dtype) == ((2, 6, 7, 6), np.float32)


def test_arrays_on_a_gpu_are_not_for_the_cpu():
    x, w = OnGpu(X.shape, "f4"), OnGpu(W.shape, "f4")
    fix = r"Fix: use method='auto', or pass w\.get\(\)\."
    with pytest.raises(ArgumentError, match=rf"w is on the GPU, but 'direct' is a reference method.*\n  {fix}"):
        conv2d(X, w, groups=2)
    with pytest.raises(ArgumentError, match="x is on the GPU"):
        conv2d(x, W, groups=2)
