"""Convolution with what follows it in a network, by any method of the ladder."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from convlab.ops.compute import check_inputs, compute
from convlab.spec import BlockSpec, ConvSpec, PaddingLike, PairLike

__all__ = ["conv_block"]

Array = npt.NDArray[Any]


def conv_block(
    x: Array,
    w: Array,
    bias: Array | None = None,
    scale: Array | None = None,
    shift: Array | None = None,
    relu: bool = True,
    pool: bool = False,
    stride: PairLike = 1,
    padding: PaddingLike = 0,
    dilation: PairLike = 1,
    groups: int = 1,
    method: str = "block_direct",
    device: str = "auto",
) -> Array:
    """Convolve, add the bias, scale and shift each channel, apply ReLU, and pool 2×2.

    >>> import numpy as np
    >>> x, w, scale = np.ones((2, 3, 9, 7), "f4"), np.ones((4, 3, 3, 3), "f4"), np.full(4, 0.5, "f4")
    >>> conv_block(x, w, scale=scale, padding=1, pool=True).shape
    (2, 4, 4, 3)

    Args:
        x: input of shape (N, C, H, W).
        w: filters of shape (K, C/G, R, S), of the same dtype.
        bias: shape (K,), or ``None``; of that dtype, as the next two.
        scale: shape (K,), or ``None``: a batch norm is γ / √(variance + ε).
        shift: shape (K,), or ``None``: a batch norm is β − mean · scale.
        relu: whether negative values become zero.
        pool: whether the largest of each 2×2 stays, with stride 2.
        stride: one number or (vertical, horizontal).
        padding: as in ``cl.conv2d``.
        dilation: one number or (vertical, horizontal).
        groups: G.
        method: a name from ``cl.methods("block")``, or "auto".
        device: "auto", "cuda" or "emulator" for kernels; "auto" or "cpu" for reference methods.

    Returns:
        The output of shape (N, K, P, Q), or (N, K, ⌊P/2⌋, ⌊Q/2⌋) when pooled, of that dtype.

    Raises:
        ValueError: sizes that fit no convolution, or that the method does not support.
        ArgumentError: an array of the wrong shape or dtype.
        LaunchError: a device that the method does not run on, or that is not there.
    """
    given = {"x": x, "w": w, "bias": bias, "scale": scale, "shift": shift}
    check_inputs("block", given)
    conv = ConvSpec.from_shapes(x.shape, w.shape, stride, padding, dilation, groups)
    return compute("block", method, BlockSpec(conv, relu, pool), given, device)
