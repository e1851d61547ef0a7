"""Depthwise separable convolution: a filter for each channel, then a 1×1 convolution that mixes the channels."""

from __future__ import annotations

import numpy as np

from convlab.reference.checks import Array, check_shape
from convlab.reference.grouped import check_depthwise, depthwise
from convlab.reference.pointwise import pointwise
from convlab.spec import ConvSpec

__all__ = ["equivalent_filter", "separable"]


def separable(
    x: Array,
    w_depthwise: Array,
    bias_depthwise: Array | None,
    w_pointwise: Array,
    bias_pointwise: Array | None,
    spec: ConvSpec,
) -> Array:
    """Convolve each channel by itself, then mix the channels pixel by pixel.

    >>> spec = ConvSpec(n=1, c=3, h=8, w=9, k=6, r=3, s=2, groups=3)
    >>> x, w_pointwise = np.ones(spec.input_shape), np.ones((4, 6, 1, 1))
    >>> y = separable(x, np.ones(spec.weight_shape), None, w_pointwise, None, spec)
    >>> y.shape, float(y[0, 0, 0, 0])
    ((1, 4, 6, 8), 36.0)

    Parameters, all of one type: ``spec`` describes the depthwise convolution, which turns C channels into
    ``spec.k``; ``x`` of shape (N, C, H, W), ``w_depthwise`` (``spec.k``, 1, R, S), ``bias_depthwise``
    (``spec.k``,) or None; ``w_pointwise`` of shape (K, ``spec.k``, 1, 1), ``bias_pointwise`` (K,) or None.
    Returns an array of shape (N, K, P, Q). What lies between is rounded to the type of ``x``. Raises
    ``ArgumentError`` for another shape or type. Source: Howard and others, MobileNets (2017), section 3.1.
    """
    _check_pointwise(w_pointwise, spec)
    between = depthwise(x, w_depthwise, bias_depthwise, spec)  # (N, spec.k, P, Q)
    mixing = ConvSpec(spec.n, spec.k, spec.p, spec.q, len(w_pointwise), r=1, s=1)
    return pointwise(between, w_pointwise, bias_pointwise, mixing)


def equivalent_filter(w_depthwise: Array, w_pointwise: Array, spec: ConvSpec) -> Array:
    """Give the full filter that does in one convolution what the two do, without their biases.

    >>> spec = ConvSpec(n=1, c=2, h=4, w=4, k=2, r=1, s=2, groups=2)
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
    ``ArgumentError`` for another shape, and where groups is not C.
    """
    check_depthwise(spec)
    fix = "Reshape w_depthwise, or make the spec that belongs to it"
    check_shape("w_depthwise", w_depthwise, "(K, 1, R, S)", spec.weight_shape, spec, fix)
    _check_pointwise(w_pointwise, spec)
    taps = w_depthwise.reshape(spec.c, -1, spec.r, spec.s)  # (C, M, R, S) with M = spec.k / C
    mixing = w_pointwise.reshape(len(w_pointwise), *taps.shape[:2])  # (K, C, M)
    product: Array = np.einsum("kcm,cmrs->kcrs", mixing, taps)
    return product


def _check_pointwise(w_pointwise: Array, spec: ConvSpec) -> None:
    shape = (*np.shape(w_pointwise)[:1], spec.k, 1, 1)
    fix = f"Give w_pointwise one weight for each of the {spec.k} channels that the depthwise convolution makes"
    check_shape("w_pointwise", w_pointwise, "(K, spec.k, 1, 1)", shape, spec, fix)
