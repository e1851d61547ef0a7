"""Depthwise separable convolution: a filter for each channel, then a 1×1 convolution that mixes the channels."""

from __future__ import annotations

import numpy as np

from convlab.reference.checks import Array, check_shape
from convlab.reference.direct import direct
from convlab.reference.grouped import depthwise
from convlab.reference.pointwise import pointwise
from convlab.spec import SeparableSpec

__all__ = ["equivalent_filter", "separable", "separable_direct"]


def separable(
    x: Array,
    w_depthwise: Array,
    bias_depthwise: Array | None,
    w_pointwise: Array,
    bias_pointwise: Array | None,
    spec: SeparableSpec,
) -> Array:
    """Convolve each channel by itself, a tap at a time, then mix the channels by a matrix product.

    >>> spec = SeparableSpec.from_shapes((1, 3, 8, 9), (6, 1, 3, 2), (4, 6, 1, 1))
    >>> x, w_depthwise, w_pointwise = np.ones((1, 3, 8, 9)), np.ones((6, 1, 3, 2)), np.ones((4, 6, 1, 1))
    >>> y = separable(x, w_depthwise, None, w_pointwise, None, spec)
    >>> y.shape, float(y[0, 0, 0, 0])
    ((1, 4, 6, 8), 36.0)

    Parameters, all of one type: ``x`` of shape (N, C, H, W), ``w_depthwise`` (C·m, 1, R, S) with m filters a channel,
    ``bias_depthwise`` (C·m,) or None; ``w_pointwise`` of shape (K, C·m, 1, 1), ``bias_pointwise`` (K,) or None.
    Returns an array of shape (N, K, P, Q). The sums are kept in the type of ``x``, with at least 32 bits; what lies
    between is rounded to it. Raises ``ArgumentError`` for another shape or type. Source: Howard and others, MobileNets
    (2017), section 3.1.
    """
    _check_filters(w_depthwise, w_pointwise, spec)
    between = depthwise(x, w_depthwise, bias_depthwise, spec.depthwise)  # (N, C·m, P, Q)
    return pointwise(between, w_pointwise, bias_pointwise, spec.pointwise)


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
    _check_filters(w_depthwise, w_pointwise, spec)
    between = direct(x, w_depthwise, bias_depthwise, spec.depthwise)
    return direct(between, w_pointwise, bias_pointwise, spec.pointwise)


def equivalent_filter(w_depthwise: Array, w_pointwise: Array, spec: SeparableSpec) -> Array:
    """Give the full filter that does in one convolution what the two do, without their biases.

    >>> spec = SeparableSpec.from_shapes((1, 2, 4, 4), (2, 1, 1, 2), (3, 2, 1, 1))
    >>> w_depthwise, w_pointwise = np.array([[1, 2], [3, 4]]), np.array([[1, 1], [10, 0], [0, 10]])
    >>> equivalent_filter(w_depthwise.reshape(2, 1, 1, 2), w_pointwise.reshape(3, 2, 1, 1), spec)[:, :, 0]
    array([[[ 1,  2],
            [ 3,  4]],
           [[10, 20],
            [ 0,  0]],
           [[ 0,  0],
            [30, 40]]])

    Parameters are those of ``separable``. Returns an array of shape (K, C, R, S): one outer product for each
    filter of a channel, and their sum. With one filter a channel, all K filters show a channel the same
    picture, only lighter or darker: that is what a separable convolution cannot learn. Raises
    ``ArgumentError`` for another shape.
    """
    _check_filters(w_depthwise, w_pointwise, spec)
    taps = w_depthwise.reshape(spec.depthwise.c, -1, *w_depthwise.shape[2:])  # (C, m, R, S)
    mixing = w_pointwise.reshape(spec.k, *taps.shape[:2])  # (K, C, m)
    product: Array = np.einsum("kcm,cmrs->kcrs", mixing, taps)
    return product


def _check_filters(w_depthwise: Array, w_pointwise: Array, spec: SeparableSpec) -> None:
    """What the two convolutions would call w."""
    wanted = (
        ("w_depthwise", w_depthwise, "(C·m, 1, R, S)", spec.depthwise.weight_shape),
        ("w_pointwise", w_pointwise, "(K, C·m, 1, 1)", spec.pointwise.weight_shape),
    )
    for name, array, letters, shape in wanted:
        fix = f"Reshape {name}, or make the spec with SeparableSpec.from_shapes"
        check_shape(name, array, letters, shape, spec, fix)
