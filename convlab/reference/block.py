"""A convolution with what follows it in a network, a step at a time."""

from __future__ import annotations

import numpy as np

from convlab.reference.checks import Array, check_shape, check_types
from convlab.reference.direct import direct
from convlab.reference.epilogue import max_pool, relu
from convlab.reference.sums import rounded, sum_type
from convlab.spec import BlockSpec

__all__ = ["block_direct"]


def block_direct(
    x: Array, w: Array, bias: Array | None, scale: Array | None, shift: Array | None, spec: BlockSpec
) -> Array:
    """Convolve, scale and shift each channel, apply ReLU and pool, one after the other.

    >>> from convlab.spec import ConvSpec
    >>> spec = BlockSpec(ConvSpec(n=1, c=1, h=2, w=4, k=1, r=1, s=1), relu=True, pool=True)
    >>> x = np.array([[[[1.0, -2.0, -3.0, -4.0], [0.0, 5.0, -6.0, -7.0]]]])
    >>> block_direct(x, np.ones((1, 1, 1, 1)), None, np.array([2.0]), np.array([1.0]), spec)
    array([[[[11.,  0.]]]])

    Parameters, all of one type: ``x``, ``w`` and ``bias`` are those of ``direct``; ``scale`` and ``shift`` have shape
    (K,) or are None. Returns an array of ``spec.output_shape``; each step is rounded to the type of ``x``. Raises
    ``ArgumentError`` for another shape or type, and for an integer result that does not fit the type.
    """
    y = direct(x, w, bias, spec.conv)
    for name, array, step in (("scale", scale, np.multiply), ("shift", shift, np.add)):
        if array is not None:
            check_shape(name, array, "(K,)", (spec.conv.k,), spec, f"Give {name} one number a channel")
            check_types({"x": x, name: array}, spec)
            wide = step(y, array[:, np.newaxis, np.newaxis], dtype=sum_type(x.dtype))
            y = rounded(wide, x.dtype, spec)
    y = relu(y) if spec.relu else y
    return max_pool(y, window=2) if spec.pool else y
