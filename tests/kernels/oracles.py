"""Each op in float64, by the shortest way there is: what every rung of the ladder is held against."""

from __future__ import annotations

import numpy as np

from convlab.reference.direct import oracle


def conv2d(spec, x, w, bias):
    return oracle(x, w, bias, spec)


def conv_transpose2d(spec, x, w, bias):
    """Each input element adds its filters to the output, of which padding is then cropped."""
    (u, v), (d, e) = spec.stride, spec.dilation
    top, bottom, left, right = spec.padding
    height, width = spec.p + top + bottom, spec.q + left + right
    full = np.zeros((spec.n, spec.groups, spec.k // spec.groups, height, width))
    x = x.reshape(spec.n, spec.groups, -1, spec.h, spec.w)
    w = w.reshape(spec.groups, -1, *w.shape[1:])
    for r in range(spec.r):
        for s in range(spec.s):
            here = np.s_[..., r * d : r * d + (spec.h - 1) * u + 1 : u, s * e : s * e + (spec.w - 1) * v + 1 : v]
            full[here] += np.einsum("ngchw,gck->ngkhw", x, w[..., r, s])
    y = full.reshape(spec.n, spec.k, height, width)[..., top : top + spec.p, left : left + spec.q]
    return y if bias is None else y + bias[:, None, None]


def gemm(spec, a, b):
    return a @ b


def layout(spec, x):
    return x.transpose([spec.source.index(letter) for letter in spec.target])


def separable(spec, x, w_depthwise, bias_depthwise, w_pointwise, bias_pointwise):
    middle = oracle(x, w_depthwise, bias_depthwise, spec.depthwise)
    return oracle(middle, w_pointwise, bias_pointwise, spec.pointwise)


def block(spec, x, w, bias, scale, shift):
    y = oracle(x, w, bias, spec.conv)
    y = y if scale is None else y * scale[:, None, None]
    y = y if shift is None else y + shift[:, None, None]
    y = np.maximum(y, 0) if spec.relu else y
    if spec.pool:
        n, k, p, q = spec.output_shape
        y = y[:, :, : 2 * p, : 2 * q].reshape(n, k, p, 2, q, 2).max(axis=(3, 5))
    return y


ORACLES = {f.__name__: f for f in (conv2d, conv_transpose2d, gemm, layout, separable, block)}

# How many roundings stand in a row behind one output element.
TERMS = {
    "conv2d": lambda spec: spec.gemm_shape.gemm_k + 1,
    "conv_transpose2d": lambda spec: spec.c // spec.groups * spec.r * spec.s + 1,
    "gemm": lambda spec: spec.gemm_k,
    "layout": lambda spec: 0,
    "separable": lambda spec: spec.depthwise.r * spec.depthwise.s + spec.depthwise.k + 2,
    "block": lambda spec: spec.conv.gemm_shape.gemm_k + 3,
}
