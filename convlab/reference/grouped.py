"""Grouped convolution as G convolutions that know nothing of each other, and its extreme: depthwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from convlab.reference.checks import Array, argument_error, check_arrays
from convlab.reference.direct import direct
from convlab.reference.sums import rounded, sum_type, with_bias
from convlab.reference.taps import tap_slices
from convlab.spec import ConvSpec

__all__ = ["check_depthwise", "depthwise", "grouped"]


def grouped(x: Array, w: Array, bias: Array | None, spec: ConvSpec) -> Array:
    """Convolve each group of channels with its own filters, one group after the other.

    >>> spec = ConvSpec(n=1, c=4, h=1, w=2, k=2, r=1, s=1, groups=2)
    >>> x = np.arange(8).reshape(spec.input_shape)
    >>> grouped(x, np.ones(spec.weight_shape, int), None, spec)  # 0 + 2 and 1 + 3, then 4 + 6 and 5 + 7
    array([[[[ 2,  4]],
            [[10, 12]]]])

    Parameters, result and errors are those of ``direct``. Source: Krizhevsky, Sutskever and Hinton, ImageNet
    classification with deep convolutional neural networks (2012), section 3.2.
    """
    check_arrays(x, w, bias, spec)
    groups = spec.groups
    part = replace(spec, c=spec.c // groups, k=spec.k // groups, groups=1)
    biases = [None] * groups if bias is None else np.split(bias, groups)
    parts = zip(np.split(x, groups, axis=1), np.split(w, groups), biases, strict=True)
    return np.concatenate([direct(*arrays, part) for arrays in parts], axis=1)


def depthwise(x: Array, w: Array, bias: Array | None, spec: ConvSpec) -> Array:
    """Convolve each channel with filters of its own, tap by tap and without a matrix product.

    >>> spec = ConvSpec(n=1, c=2, h=1, w=3, k=4, r=1, s=2, groups=2)
    >>> x, w = np.arange(6).reshape(spec.input_shape), np.arange(8).reshape(spec.weight_shape)
    >>> depthwise(x, w, None, spec)[0, :, 0]
    array([[ 1,  2],
           [ 3,  8],
           [32, 41],
           [46, 59]])

    Parameters, result and errors are those of ``direct``; K/C filters belong to each channel, one after the
    other. The sums are kept in the type of ``x``, with at least 32 bits. Raises ``ArgumentError`` also where
    groups is not C. Each weight meets one channel only, so a matrix product would have one row: there is
    nothing to reuse, and the memory, not the multipliers, sets the pace.
    """
    check_depthwise(spec)
    check_arrays(x, w, bias, spec)
    accumulator = sum_type(x.dtype)
    top, bottom, left, right = spec.padding
    padded = np.pad(x.astype(accumulator), ((0, 0), (0, 0), (top, bottom), (left, right)))
    taps = w.astype(accumulator).reshape(spec.c, -1, 1, 1, spec.r, spec.s)  # (C, K/C, 1, 1, R, S)
    y = np.zeros((spec.n, spec.c, spec.k // spec.c, spec.p, spec.q), accumulator)
    for r, s in np.ndindex(spec.r, spec.s):
        pixels = padded[..., *tap_slices(spec, r, s)]  # (N, C, P, Q)
        y += taps[..., r, s] * pixels[:, :, np.newaxis]
    return rounded(with_bias(y.reshape(spec.output_shape), bias), x.dtype, spec)


def check_depthwise(spec: ConvSpec) -> None:
    """Check that each channel is a group of its own.

    >>> check_depthwise(ConvSpec(n=1, c=3, h=4, w=5, k=6, r=1, s=1, groups=3))

    Raises ``ArgumentError`` otherwise.
    """
    if spec.groups != spec.c:
        fact = f"the spec has groups={spec.groups}, but a depthwise convolution has as many as c={spec.c}"
        raise argument_error(fact, spec, f"Set groups={spec.c}, or use grouped")
