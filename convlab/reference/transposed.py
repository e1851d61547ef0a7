"""Transposed convolution two ways: by the transposed filter matrix, and as a convolution of a spread-out input."""

from __future__ import annotations

import numpy as np

from convlab.reference.checks import Array, check_shape, check_types, named
from convlab.reference.direct import direct
from convlab.reference.im2col import fold
from convlab.reference.sums import rounded, sum_type, with_bias
from convlab.spec import ConvSpec, ConvTransposeSpec

__all__ = ["flipped_filters", "spread", "transposed_matrix", "zero_insertion"]

_RESHAPE = "Reshape {}, or make the spec with ConvTransposeSpec.from_shapes(x.shape, w.shape)"


def transposed_matrix(x: Array, w: Array, bias: Array | None, spec: ConvTransposeSpec) -> Array:
    """Multiply by the transposed filter matrix and fold the columns back: im2col's two steps, transposed, in reverse.

    >>> spec = ConvTransposeSpec(n=1, c=1, h=1, w=3, k=1, r=1, s=3, stride=(1, 2))
    >>> x, w = np.array([1, 10, 100]).reshape(spec.input_shape), np.array([1, 2, 3]).reshape(spec.weight_shape)
    >>> transposed_matrix(x, w, None, spec)
    array([[[[  1,   2,  13,  20, 130, 200, 300]]]])

    Parameters, all of one type: ``x`` of shape (N, C, H, W); ``w`` of shape (C, K/G, R, S), as in PyTorch and ONNX;
    ``bias`` of shape (K,) or None. Returns an array of shape (N, K, P, Q). The sums are kept in the type of ``x``,
    with at least 32 bits. Raises ``ArgumentError`` for another shape or type, and for an integer result that does not
    fit the type. Source: Dumoulin and Visin, A guide to convolution arithmetic for deep learning (2016), section 4.
    """
    _check(x, w, bias, spec)
    accumulator, groups = sum_type(x.dtype), spec.groups
    w = w.astype(accumulator).reshape(groups, spec.c // groups, -1)  # (G, C/G, K/G·R·S): rows are columns of Wᵀ
    pixels = x.astype(accumulator).reshape(spec.n, groups, -1, spec.h * spec.w)  # (N, G, C/G, H·W)
    columns = (w.transpose(0, 2, 1) @ pixels).reshape(spec.n, -1, spec.h * spec.w)  # (N, K·R·S, H·W)
    y = _cropped(fold(columns, _uncropped(spec)), spec)
    return rounded(with_bias(y, bias), x.dtype, spec)


def zero_insertion(x: Array, w: Array, bias: Array | None, spec: ConvTransposeSpec) -> Array:
    """Put zeros between the pixels and around them, and convolve with flipped filters: the zeros are multiplied too.

    >>> spec = ConvTransposeSpec(n=2, c=4, h=5, w=6, k=6, r=3, s=2, stride=2, padding=1, groups=2)
    >>> x, w = np.ones(spec.input_shape), np.ones(spec.weight_shape)
    >>> bool((zero_insertion(x, w, None, spec) == transposed_matrix(x, w, None, spec)).all())
    True

    Parameters, result and errors are those of ``transposed_matrix``; sums are those of ``direct``. At stride 2 three
    of four products have a factor that was inserted.
    """
    _check(x, w, bias, spec)
    canvas, filters = spread(x, spec), flipped_filters(w, spec.groups)
    ordinary = ConvSpec.from_shapes(canvas.shape, filters.shape, dilation=spec.dilation, groups=spec.groups)
    return direct(canvas, filters, bias, ordinary)


def spread(x: Array, spec: ConvTransposeSpec) -> Array:
    """Put a stride's zeros between the pixels, and around them what the flipped window needs.

    >>> spec = ConvTransposeSpec(n=1, c=1, h=1, w=3, k=1, r=1, s=3, stride=(1, 2), padding=(0, 0, 1, 0))
    >>> spread(np.array([7, 8, 9]).reshape(spec.input_shape), spec)
    array([[[[0, 7, 0, 8, 0, 9, 0, 0]]]])

    Parameters: ``x`` of shape (N, C, H, W), any type. Returns an array of shape (N, C, P + dilation·(R − 1),
    Q + dilation·(S − 1)). Where padding crops more than the window reaches, pixels are missing from it.
    """
    top, _, left, _ = spec.padding
    axes = zip(
        (spec.h, spec.w), (spec.p, spec.q), spec.stride, spec.dilation, (spec.r, spec.s), (top, left), strict=True
    )
    sizes, places, kept = [], [], []
    for size, outputs, stride, dilation, window, cropped in axes:
        reach = dilation * (window - 1)
        at = np.arange(size) * stride + reach - cropped
        sizes.append(outputs + reach)
        kept.append(np.flatnonzero((at >= 0) & (at < sizes[-1])))
        places.append(at[kept[-1]])
    canvas = np.zeros((*x.shape[:2], *sizes), x.dtype)
    canvas[:, :, places[0][:, np.newaxis], places[1]] = x[:, :, kept[0][:, np.newaxis], kept[1]]
    return canvas


def flipped_filters(w: Array, groups: int) -> Array:
    """Turn the filters by 180° and swap their channels, within each group: those of the convolution back.

    >>> flipped_filters(np.array([[1, 2], [3, 4]]).reshape(1, 1, 2, 2), groups=1)
    array([[[[4, 3],
             [2, 1]]]])

    Parameters: ``w`` of shape (C, K/G, R, S), any type. Returns an array of shape (K, C/G, R, S).
    """
    c, filters, r, s = w.shape
    swapped = w[..., ::-1, ::-1].reshape(groups, c // groups, filters, r, s).swapaxes(1, 2)  # (G, K/G, C/G, R, S)
    return swapped.reshape(groups * filters, c // groups, r, s)


def _uncropped(spec: ConvTransposeSpec) -> ConvSpec:
    """The convolution whose H × W windows cover the whole output, before padding crops it."""
    p, q = (
        (size - 1) * stride + dilation * (window - 1) + 1
        for size, stride, dilation, window in zip(
            (spec.h, spec.w), spec.stride, spec.dilation, (spec.r, spec.s), strict=True
        )
    )
    return ConvSpec(spec.n, spec.k, p, q, spec.c, spec.r, spec.s, spec.stride, 0, spec.dilation, spec.groups)


def _cropped(full: Array, spec: ConvTransposeSpec) -> Array:
    """Crop by the padding; what output padding adds below and to the right stays zero where no window reached."""
    top, _, left, _ = spec.padding
    part = full[..., top : top + spec.p, left : left + spec.q]
    y = np.zeros(spec.output_shape, full.dtype)
    y[..., : part.shape[2], : part.shape[3]] = part
    return y


def _check(x: Array, w: Array, bias: Array | None, spec: ConvTransposeSpec) -> None:
    wanted = {
        "x": ("(N, C, H, W)", spec.input_shape),
        "w": ("(C, K/G, R, S)", spec.weight_shape),
        "bias": ("(K,)", (spec.k,)),
    }
    for name, array in named(x, w, bias).items():
        check_shape(name, array, *wanted[name], spec, _RESHAPE.format(name))
    check_types(named(x, w, bias), spec)
