"""A convolution as a sum over the taps of its filter: each tap meets one pixel for every output."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from convlab.reference.checks import Array
from convlab.reference.sums import with_bias
from convlab.spec import ConvSpec

__all__ = ["sum_over_taps", "tap_slices"]


def tap_slices(spec: ConvSpec, r: int, s: int) -> tuple[slice, slice]:
    """Give the rows and columns of the padded input that tap (r, s) meets, one for each output.

    >>> tap_slices(ConvSpec(n=1, c=1, h=7, w=9, k=1, r=3, s=2, stride=2, dilation=(1, 3)), 2, 1)
    (slice(2, 7, 2), slice(3, 8, 2))
    """
    rows, columns = (
        slice(tap * axis.dilation, tap * axis.dilation + (axis.outputs - 1) * axis.stride + 1, axis.stride)
        for tap, axis in zip((r, s), spec.axes, strict=True)
    )
    return rows, columns


def sum_over_taps(pixels: Callable[[int, int], Array], w: Array, bias: Array | None, spec: ConvSpec) -> Array:
    """Multiply each tap's weights with the pixels that it meets, and add up the products and the bias.

    >>> spec = ConvSpec(n=1, c=3, h=2, w=2, k=1, r=2, s=1)
    >>> x, w = np.ones(spec.input_shape), np.ones(spec.weight_shape)
    >>> sum_over_taps(lambda r, s: x[..., r : r + 1, s : s + 2], w, None, spec)
    array([[[[6., 6.]]]])

    Parameters: ``pixels(r, s)`` gives an array of shape (N, C, P, Q) in the type of ``w``; ``w`` has shape
    (K, C/G, R, S), ``bias`` shape (K,) or None. The sums are kept in the type of ``w``.
    """
    groups, positions = spec.groups, spec.p * spec.q
    w = w.reshape(groups, -1, *w.shape[1:])  # (G, K/G, C/G, R, S)
    y = np.zeros((spec.n, groups, spec.k // groups, positions), w.dtype)  # (N, G, K/G, P·Q)
    for r, s in np.ndindex(spec.r, spec.s):
        y += w[..., r, s] @ pixels(r, s).reshape(spec.n, groups, -1, positions)  # … (N, G, C/G, P·Q)
    return with_bias(y.reshape(spec.output_shape), bias)
