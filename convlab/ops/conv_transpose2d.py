"""Transposed convolution, by any method of the ladder."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from convlab.ops.compute import check_inputs, compute
from convlab.spec import ConvTransposeSpec, PairLike

__all__ = ["conv_transpose2d"]

Array = npt.NDArray[Any]


def conv_transpose2d(
    x: Array,
    w: Array,
    bias: Array | None = None,
    stride: PairLike = 1,
    padding: PairLike = 0,
    output_padding: PairLike = 0,
    dilation: PairLike = 1,
    groups: int = 1,
    method: str = "transposed_matrix",
    device: str = "auto",
) -> Array:
    """Convolve transposed: spread each input element, weighted by its filters, over the output.

    >>> import numpy as np
    >>> x, w = np.ones((1, 2, 4, 3), "f4"), np.ones((2, 5, 3, 3), "f4")
    >>> conv_transpose2d(x, w, stride=2, padding=1, output_padding=1).shape
    (1, 5, 8, 6)

    Args:
        x: input of shape (N, C, H, W).
        w: filters of shape (C, K/G, R, S), of the same dtype.
        bias: shape (K,), or ``None``; of that dtype.
        stride: how far apart neighbouring inputs land: one number or (vertical, horizontal).
        padding: what is cropped of the output: a number, a pair, or (top, bottom, left, right).
        output_padding: rows and columns more at the bottom and the right.
        dilation: one number or (vertical, horizontal).
        groups: G.
        method: a name from ``cl.methods("conv_transpose2d")``, or "auto".
        device: "auto", "cuda" or "emulator" for kernels; "auto" or "cpu" for reference methods.

    Returns:
        The output of shape (N, K, P, Q), of that dtype.

    Raises:
        ValueError: sizes that fit no transposed convolution, or that the method does not support.
        ArgumentError: an array of the wrong shape or dtype.
        LaunchError: a device that the method does not run on, or that is not there.
    """
    given = {"x": x, "w": w, "bias": bias}
    check_inputs("conv_transpose2d", given)
    spec = ConvTransposeSpec.from_shapes(x.shape, w.shape, stride, padding, output_padding, dilation, groups)
    return compute("conv_transpose2d", method, spec, given, device)
