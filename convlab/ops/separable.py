"""Depthwise separable convolution, by any method of the ladder."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from convlab.ops.compute import check_inputs, compute
from convlab.spec import PaddingLike, PairLike, SeparableSpec

__all__ = ["separable_conv2d"]

Array = npt.NDArray[Any]


def separable_conv2d(
    x: Array,
    w_depthwise: Array,
    w_pointwise: Array,
    bias_depthwise: Array | None = None,
    bias_pointwise: Array | None = None,
    stride: PairLike = 1,
    padding: PaddingLike = 0,
    dilation: PairLike = 1,
    method: str = "separable_direct",
    device: str = "auto",
) -> Array:
    """Convolve each channel by itself, then mix the channels with a 1×1 convolution.

    >>> import numpy as np
    >>> x, w_depthwise, w_pointwise = (np.ones(s, "f4") for s in ((2, 3, 9, 7), (3, 1, 3, 3), (5, 3, 1, 1)))
    >>> separable_conv2d(x, w_depthwise, w_pointwise, padding=1).shape
    (2, 5, 9, 7)

    Args:
        x: input of shape (N, C, H, W), of the dtype of all others.
        w_depthwise: shape (C, 1, R, S), or (C·m, 1, R, S) for m filters a channel.
        w_pointwise: shape (K, C·m, 1, 1).
        bias_depthwise: shape (C·m,), or ``None``.
        bias_pointwise: shape (K,), or ``None``.
        stride: of the depthwise convolution: one number or (vertical, horizontal).
        padding: as in ``cl.conv2d``.
        dilation: one number or (vertical, horizontal).
        method: a name from ``cl.methods("separable")``, or "auto".
        device: "auto", "cuda" or "emulator" for kernels; "auto" or "cpu" for reference methods.

    Returns:
        The output of shape (N, K, P, Q), of that dtype.

    Raises:
        ValueError: sizes that fit no separable convolution, or that the method does not support.
        ArgumentError: an array of the wrong shape or dtype.
        LaunchError: a device that the method does not run on, or that is not there.
    """
    given = {
        "x": x,
        "w_depthwise": w_depthwise,
        "bias_depthwise": bias_depthwise,
        "w_pointwise": w_pointwise,
        "bias_pointwise": bias_pointwise,
    }
    check_inputs("separable", given)
    spec = SeparableSpec.from_shapes(x.shape, w_depthwise.shape, w_pointwise.shape, stride, padding, dilation)
    return compute("separable", method, spec, given, device)
