"""Operations that a direct convolution begins, and another step or two end."""

from __future__ import annotations

import numpy as np

from convlab.reference.checks import Array, check_shape, check_types
from convlab.reference.direct import direct
from convlab.reference.epilogue import max_pool, relu
from convlab.reference.sums import rounded, sum_type
from convlab.spec import BlockSpec, SeparableSpec

__all__ = ["block_direct", "separable_direct"]


def separable_direct(
    x: Array,
    w_depthwise: Array,
    bias_depthwise: Array | None,
    w_pointwise: Array,
    bias_pointwise: Array | None,
    spec: SeparableSpec,
) -> Array:
    """Convolve depthwise, then 1×1: two direct convolutions.

    >>> from convlab.spec import ConvSpec
    >>> spec = SeparableSpec(ConvSpec(n=1, c=2, h=5, w=4, k=2, r=3, s=2, groups=2), k=3)
    >>> ones = [np.ones(shape) for shape in (spec.depthwise.input_shape, (2, 1, 3, 2), (3, 2, 1, 1))]
    >>> y = separable_direct(ones[0], ones[1], None, ones[2], np.array([0.0, 1.0, 2.0]), spec)
    >>> y.shape, y[0, :, 0, 0]
    ((1, 3, 3, 3), array([12., 13., 14.]))

    Parameters, all of one type: ``x`` of shape (N, C, H, W), ``w_depthwise`` (C·m, 1, R, S), ``bias_depthwise``
    (C·m,) or None, ``w_pointwise`` (K, C·m, 1, 1), ``bias_pointwise`` (K,) or None. Returns an array of shape
    (N, K, P, Q); what lies between is rounded to the type of ``x``. Raises ``ArgumentError`` as ``direct`` does.
    """
    between = direct(x, w_depthwise, bias_depthwise, spec.depthwise)
    return direct(between, w_pointwise, bias_pointwise, spec.pointwise)


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
