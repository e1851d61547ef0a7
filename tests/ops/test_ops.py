"""Each operation as a function: its default, one rung of the ladder, the automatic choice, and what does not fit."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from convlab.errors import ArgumentError, LaunchError
from convlab.ops.compute import _contiguous
from convlab.ops.conv2d import conv2d
from convlab.ops.conv_block import conv_block
from convlab.ops.conv_transpose2d import conv_transpose2d
from convlab.ops.gemm import gemm
from convlab.ops.layout import to_layout
from convlab.ops.separable import separable_conv2d

RNG = np.random.default_rng(7)


def floats(*shape):
    return RNG.uniform(-1, 1, shape).astype("f4")


A, B = floats(5, 9), floats(9, 33)
X = floats(2, 4, 9, 7)
TRANSPOSED = (X, floats(4, 3, 3, 2), floats(6))
SEPARABLE = (X, floats(4, 1, 3, 2), floats(5, 4, 1, 1), floats(4), floats(5))
BLOCK = (X, floats(6, 4, 3, 2), floats(6), floats(6), floats(6))

CALLS = {
    "gemm": (lambda **how: gemm(A, B, **how), "gemm_tiled", (5, 33)),
    "to_layout": (lambda **how: to_layout(X, "nhwc", **how), "layout_naive", (2, 9, 7, 4)),
    "back": (lambda **how: to_layout(X, "nchw", "nhwc", **how), "layout_transform", (2, 7, 4, 9)),
    "conv_transpose2d": (
        lambda **how: conv_transpose2d(*TRANSPOSED, (2, 3), (1, 0), (1, 2), groups=2, **how),
        "transposed",
        (2, 6, 18, 22),
    ),
    "separable_conv2d": (
        lambda **how: separable_conv2d(*SEPARABLE, (2, 1), "same", **how),
        "separable_fused",
        (2, 5, 5, 7),
    ),
    "conv_block": (lambda **how: conv_block(*BLOCK, pool=True, padding=1, **how), "fused_epilogue", (2, 6, 4, 4)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_rung_and_the_automatic_choice_agree_with_the_default(name):
    call, rung, shape = CALLS[name]
    expected = call()
    assert expected.shape == shape
    assert expected.dtype == np.float32
    for method in (rung, "auto"):
        y = call(method=method, device="emulator")
        assert y.dtype == np.float32
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


def test_half_precision_gives_single_and_takes_a_bias_of_either():
    x, w = X.astype("f2"), floats(5, 4, 3, 2).astype("f2")
    for bias in (floats(5), floats(5).astype("f2")):
        y = conv2d(x, w, bias, padding=1, method="tensor_core", device="emulator")
        assert y.dtype == np.float32
        np.testing.assert_allclose(y, conv2d(*(a.astype("f4") for a in (x, w, bias)), padding=1), rtol=1e-4, atol=1e-4)


def test_integers_go_to_the_reference():
    a, b = RNG.integers(-9, 9, (3, 4)), RNG.integers(-9, 9, (4, 5))
    np.testing.assert_array_equal(gemm(a, b, method="auto"), a @ b)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: gemm(A, B[:8]), ValueError, "a has 9 columns, but b has 8 rows"),
        (lambda: gemm(A.tolist(), B), ArgumentError, "a is list, not an array. Fix: pass np.asarray(a)."),
        (lambda: gemm(A, B, device="cuda"), LaunchError, "'blas' is a reference method: it runs on the CPU"),
        (lambda: gemm(A, B.astype("f8")), ArgumentError, "b is float64, but a is float32.\n  In: GemmSpec("),
        (lambda: gemm(A, None), ArgumentError, "b is NoneType, not an array."),
        (
            lambda: gemm(A.astype("f8"), B.astype("f8"), "gemm_naive"),
            ArgumentError,
            "a is float64, but method 'gemm_naive' takes float32 there.\n"
            "  In: GemmSpec(gemm_m=5, gemm_n=33, gemm_k=9)\n  Fix: pass a.astype('float32'), b.astype('float32')",
        ),
        (lambda: gemm(A, B, "naive"), ValueError, "Method 'naive' computes conv2d, not gemm. Methods that do: "),
        (lambda: to_layout(A), ValueError, "x has shape (5, 9), but it needs (N, C, H, W)"),
        (lambda: to_layout(X, source=None), ValueError, "source=None is no layout"),
        (lambda: to_layout(X, "hwcn"), ValueError, "target='hwcn' is no layout"),
        (lambda: conv_transpose2d(X, TRANSPOSED[1][:3]), ValueError, "w has 3 input channels, but x has c=4"),
        (lambda: conv_transpose2d(X, TRANSPOSED[1], output_padding=1), ValueError, "output_padding adds 1 rows"),
        (
            lambda: separable_conv2d(X, floats(4, 1, 3, 3), floats(5, 3, 1, 1)),
            ValueError,
            "w_pointwise has shape (5, 3, 1, 1), but w_depthwise makes 4 channels",
        ),
        (
            lambda: conv_block(X, BLOCK[1], scale=floats(5), method="fused_epilogue"),
            ArgumentError,
            "scale has shape (5,), but the sizes need (6,)",
        ),
        (
            lambda: separable_conv2d(*SEPARABLE[:2], SEPARABLE[2].astype("f8")),
            ArgumentError,
            "w_pointwise is float64, but x is float32.\n  In: SeparableSpec(",
        ),
        (
            lambda: conv_block(X, BLOCK[1], scale=np.ones(6)),
            ArgumentError,
            "scale is float64, but x is float32.\n  In: BlockSpec(",
        ),
        (lambda: conv_block(X, BLOCK[1], relu=2), ValueError, "relu=2 is not a bool"),
        (lambda: conv_block(X, floats(6, 4, 9, 7), pool=True), ValueError, "output of 1×1 has no window of 2×2"),
    ],
)
def test_what_does_not_fit_is_said_with_the_fix(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("address", "rows", "copied"), [(0x7000, True, False), (0x7002, True, True), (0x7000, False, True)]
)
def test_a_view_on_a_gpu_that_starts_between_16_bytes_is_copied(address, rows, copied):
    """The emulator gives every array a place of its own, and so does the copy of NumPy's; CuPy's are used in place."""
    array = SimpleNamespace(
        flags=SimpleNamespace(c_contiguous=rows),
        __cuda_array_interface__={"data": (address, False)},
        copy=lambda order: f"copy in order {order}",
    )
    assert _contiguous(array) == ("copy in order C" if copied else array)


def test_a_method_that_the_gpu_lacks_the_instructions_for_is_refused(monkeypatch):
    monkeypatch.setattr("convlab.executors.cuda.available", lambda: True)
    monkeypatch.setattr("convlab.executors.cuda.capability", lambda: 75)
    with pytest.raises(LaunchError, match=r"'tensor_core_tf32' needs a GPU of compute capability 8\.0 or newer"):
        conv2d(X, floats(5, 4, 3, 2), method="tensor_core_tf32")
