"""Convolution, by any method of the ladder."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from convlab.ops.compute import check_inputs, compute, shapes_in_nchw
from convlab.spec import ConvSpec, PaddingLike, PairLike

__all__ = ["conv2d"]

Array = npt.NDArray[Any]


def conv2d(
    x: Array,
    w: Array,
    bias: Array | None = None,
    stride: PairLike = 1,
    padding: PaddingLike = 0,
    dilation: PairLike = 1,
    groups: int = 1,
    method: str = "direct",
    device: str = "auto",
    layout: str = "nchw",
) -> Array:
    """Convolve a batch of images with a bank of filters, by any method of the ladder.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x, w = rng.standard_normal((2, 3, 9, 7), "f4"), rng.standard_normal((4, 3, 3, 2), "f4")
    >>> y = conv2d(x, w, stride=2, padding="same", method="naive", device="emulator")
    >>> y.shape, bool(np.allclose(y, conv2d(x, w, stride=2, padding="same"), atol=1e-5))
    ((2, 4, 5, 4), True)

    Args:
        x: input of shape (N, C, H, W).
        w: filters of shape (K, C/G, R, S), of the same dtype.
        bias: shape (K,), or ``None``; of that dtype, or of the output's.
        stride: one number or (vertical, horizontal).
        padding: a number, a pair, (top, bottom, left, right), "same" or "valid".
        dilation: one number or (vertical, horizontal).
        groups: G.
        method: a name from ``cl.methods("conv2d")``, or "auto".
        device: "auto", "cuda" or "emulator" for kernels; "auto" or "cpu" for reference methods.
        layout: "nchw", or "nhwc": x is then (N, H, W, C), w (K, R, S, C/G), and the output (N, P, Q, K). A method of
            the other layout works on converted copies.

    Returns:
        The output of shape (N, K, P, Q), contiguous, in the method's ``output_dtype``, or where that is "any" in the
        dtype of x; CuPy's where x is CuPy's.

    Raises:
        ValueError: sizes that fit no convolution, or that the method does not support.
        ArgumentError: an array of the wrong shape or dtype.
        LaunchError: a device that the method does not run on, or that is not there.
        KernelFault: a kernel that left its arrays; conv2d runs without counters, but never without bounds.
    """
    given = {"x": x, "w": w, "bias": bias}
    check_inputs("conv2d", given)
    shapes = shapes_in_nchw("conv2d", given, layout)
    spec = ConvSpec.from_shapes(shapes["x"], shapes["w"], stride, padding, dilation, groups)
    return compute("conv2d", method, spec, given, device, layout)
