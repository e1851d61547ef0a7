"""A 1×1 convolution is a matrix product already: no window, so nothing to lay out."""

from __future__ import annotations

import numpy as np

from convlab.reference.checks import Array, argument_error, check_arrays
from convlab.reference.sums import rounded, sum_type, with_bias
from convlab.reference.taps import tap_slices
from convlab.spec import ConvSpec

__all__ = ["pointwise"]


def pointwise(x: Array, w: Array, bias: Array | None, spec: ConvSpec) -> Array:
    """Convolve with 1×1 filters, by one matrix product for each image and group.

    >>> spec = ConvSpec(n=1, c=3, h=2, w=3, k=2, r=1, s=1)
    >>> w = np.array([[1, 0, 0], [1, 1, 1]]).reshape(spec.weight_shape)
    >>> pointwise(np.arange(18).reshape(spec.input_shape), w, None, spec)
    array([[[[ 0,  1,  2],
             [ 3,  4,  5]],
            [[18, 21, 24],
             [27, 30, 33]]]])

    Parameters, result and errors are those of ``direct``, with any stride, padding and groups; the sums are
    kept in the type of ``x``, with at least 32 bits. Raises ``ArgumentError`` also for a larger filter.
    Source: Lin, Chen and Yan, Network in network (2013), section 3.1.
    """
    if (spec.r, spec.s) != (1, 1):
        fact = f"the filter is {spec.r}×{spec.s}, but a pointwise convolution has 1×1"
        raise argument_error(fact, spec, "Use im2col, which is this product after laying out the windows")
    check_arrays(x, w, bias, spec)
    accumulator = sum_type(x.dtype)
    top, bottom, left, right = spec.padding
    padded = np.pad(x.astype(accumulator), ((0, 0), (0, 0), (top, bottom), (left, right)))
    pixels = padded[..., *tap_slices(spec, 0, 0)]  # (N, C, P, Q): a stride skips pixels, and no more
    pixels = pixels.reshape(spec.n, spec.groups, -1, spec.p * spec.q)  # (N, G, C/G, P·Q)
    filters = w.astype(accumulator).reshape(spec.groups, -1, spec.c // spec.groups)  # (G, K/G, C/G)
    y = (filters @ pixels).reshape(spec.output_shape)
    return rounded(with_bias(y, bias), x.dtype, spec)
