"""Dilated convolution two ways: R·S taps that lie apart, and a larger filter stuffed with zeros."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from convlab.reference.checks import Array, check_arrays
from convlab.reference.direct import direct
from convlab.reference.sums import rounded, sum_type, with_bias
from convlab.spec import ConvSpec, PairLike
from convlab.spec.axis import Axis
from convlab.spec.values import UnfitError, call_text, integers

__all__ = ["dilated", "zero_stuffed", "zero_stuffed_convolution"]


def dilated(x: Array, w: Array, bias: Array | None, spec: ConvSpec) -> Array:
    """Convolve with R·S shifted images: nine for a 3×3 filter, whatever the dilation.

    >>> spec = ConvSpec(n=1, c=1, h=1, w=5, k=1, r=1, s=2, padding=(0, 2), dilation=(1, 3))
    >>> dilated(np.arange(1, 6).reshape(spec.input_shape), np.array([1, 10]).reshape(1, 1, 1, 2), None, spec)
    array([[[[20, 30, 41, 52,  3,  4]]]])

    Parameters, result and errors are those of ``direct``; the sums are kept in the type of ``x``, with at
    least 32 bits. Nothing is padded: where a tap would meet padding, its shifted image ends. The work is that
    of an undilated filter. Source: Yu and Koltun, Multi-scale context aggregation by dilated convolutions
    (2015), section 2.
    """
    check_arrays(x, w, bias, spec)
    accumulator, groups = sum_type(x.dtype), spec.groups
    images = x.astype(accumulator).reshape(spec.n, groups, -1, spec.h, spec.w)  # (N, G, C/G, H, W)
    w = w.astype(accumulator).reshape(groups, -1, *w.shape[1:])  # (G, K/G, C/G, R, S)
    y = np.zeros((spec.n, groups, spec.k // groups, spec.p, spec.q), accumulator)
    vertical, horizontal = spec.axes
    for r, s in np.ndindex(spec.r, spec.s):
        outputs, pixels = zip(_met(vertical, r), _met(horizontal, s), strict=True)
        shifted = images[..., *pixels]
        product = w[..., r, s] @ shifted.reshape(*shifted.shape[:3], -1)  # (N, G, K/G, pixels)
        y[..., *outputs] += product.reshape(*y.shape[:3], *shifted.shape[3:])
    return rounded(with_bias(y.reshape(spec.output_shape), bias), x.dtype, spec)


def zero_stuffed(w: Array, dilation: PairLike) -> Array:
    """Write the gaps of a dilated filter out as zeros: 3×3 at dilation 2 becomes 5×5.

    >>> zero_stuffed(np.array([[1, 2], [3, 4]]).reshape(1, 1, 2, 2), dilation=(3, 2))[0, 0]
    array([[1, 0, 2],
           [0, 0, 0],
           [0, 0, 0],
           [3, 0, 4]])

    Parameters: ``w`` of shape (K, C/G, R, S), any type; ``dilation`` as in ``ConvSpec``. Returns an array of
    shape (K, C/G, dilation·(R − 1) + 1, dilation·(S − 1) + 1). Raises ``ValueError`` for another dilation.
    """
    try:
        down, right = integers("dilation", dilation, least=1, lengths=(2,))
    except UnfitError as unfit:
        raise unfit.within(call_text("zero_stuffed", {"dilation": dilation})) from None
    *filters, r, s = w.shape
    stuffed = np.zeros((*filters, down * (r - 1) + 1, right * (s - 1) + 1), w.dtype)
    stuffed[..., ::down, ::right] = w
    return stuffed


def zero_stuffed_convolution(x: Array, w: Array, bias: Array | None, spec: ConvSpec) -> Array:
    """Convolve with the enlarged filter: the same result, with every gap multiplied like a weight.

    >>> spec = ConvSpec(n=2, c=3, h=8, w=9, k=4, r=3, s=3, dilation=2)
    >>> zero_stuffed_convolution(np.ones(spec.input_shape), np.ones(spec.weight_shape), None, spec)[0, 0, 0]
    array([27., 27., 27., 27., 27.])

    Parameters, result and errors are those of ``direct``. A 3×3 filter at dilation 2 costs 25 products
    instead of 9.
    """
    check_arrays(x, w, bias, spec)
    enlarged = replace(spec, r=spec.effective_r, s=spec.effective_s, dilation=(1, 1))
    return direct(x, zero_stuffed(w, spec.dilation), bias, enlarged)


def _met(axis: Axis, tap: int) -> tuple[slice, slice]:
    """Give the outputs for which a tap meets a pixel and not padding, and these pixels."""
    offset = tap * axis.dilation - axis.before
    first = max(0, -(offset // axis.stride))
    last = min(axis.outputs - 1, (axis.size - 1 - offset) // axis.stride)
    count, start = max(0, last - first + 1), first * axis.stride + offset
    return slice(first, first + count), slice(start, start + count * axis.stride, axis.stride)
