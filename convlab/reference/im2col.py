"""Convolution as one matrix product: im2col lays every window out as a column, and BLAS does the rest."""

from __future__ import annotations

import numpy as np

from convlab.reference.checks import Array, argument_error, check_arrays, check_shape
from convlab.reference.sums import rounded, sum_type, with_bias
from convlab.reference.taps import tap_slices
from convlab.spec import ConvSpec

__all__ = ["fold", "im2col", "im2col_chunked", "unfold"]

MEBIBYTE = 2**20


def unfold(x: Array, spec: ConvSpec) -> Array:
    """Copy every window of ``x`` into a column of its own.

    >>> spec = ConvSpec(n=1, c=1, h=3, w=3, k=1, r=2, s=2)
    >>> unfold(np.arange(9).reshape(spec.input_shape), spec)
    array([[[0, 1, 3, 4],
            [1, 2, 4, 5],
            [3, 4, 6, 7],
            [4, 5, 7, 8]]])

    Parameters: ``x`` of shape (N, C, H, W), any type. Returns an array of shape (N, C·R·S, P·Q), zeros where
    a window meets padding; groups share it, each with its own C/G·R·S rows. Raises ``ArgumentError`` for
    another shape. Source: Chellapilla, Puri and Simard, High performance convolutional neural networks for
    document processing (2006), section 2.
    """
    _check("x", x, "(N, C, H, W)", spec.input_shape, spec)
    return _windows(x, spec).reshape(_columns_shape(spec))


def fold(columns: Array, spec: ConvSpec) -> Array:
    """Add every column back to the pixels that its window came from: the adjoint of ``unfold``.

    >>> spec = ConvSpec(n=1, c=1, h=3, w=3, k=1, r=2, s=2)
    >>> fold(np.ones((1, 4, 4)), spec)
    array([[[[1., 2., 1.],
             [2., 4., 2.],
             [1., 2., 1.]]]])

    Parameters: ``columns`` of shape (N, C·R·S, P·Q), any type, which the sums keep. Returns an array of shape
    (N, C, H, W); what falls on padding is dropped. Raises ``ArgumentError`` for another shape.
    """
    _check("columns", columns, "(N, C·R·S, P·Q)", _columns_shape(spec), spec)
    columns = columns.reshape(spec.n, spec.c, spec.r, spec.s, spec.p, spec.q)
    vertical, horizontal = spec.axes
    padded = np.zeros((spec.n, spec.c, vertical.padded, horizontal.padded), columns.dtype)
    for r, s in np.ndindex(spec.r, spec.s):
        padded[..., *tap_slices(spec, r, s)] += columns[:, :, r, s]
    return padded[..., vertical.before : vertical.before + spec.h, horizontal.before : horizontal.before + spec.w]


def im2col(x: Array, w: Array, bias: Array | None, spec: ConvSpec) -> Array:
    """Convolve by one matrix product for each image and group: filters times columns.

    >>> spec = ConvSpec(n=2, c=4, h=5, w=6, k=6, r=3, s=2, groups=2)
    >>> im2col(np.ones(spec.input_shape), np.ones(spec.weight_shape), np.ones(6), spec)[0, 0, 0]
    array([13., 13., 13., 13., 13.])

    Parameters, result and errors are those of ``direct``, but the sums are kept in the type of ``x``, with at
    least 32 bits. It holds the whole matrix of N·C·R·S·P·Q numbers; ``im2col_chunked`` does not.
    """
    check_arrays(x, w, bias, spec)
    accumulator = sum_type(x.dtype)
    y = _multiply(w.astype(accumulator), unfold(x.astype(accumulator), spec), spec.groups)
    return rounded(with_bias(y.reshape(spec.output_shape), bias), x.dtype, spec)


def im2col_chunked(x: Array, w: Array, bias: Array | None, spec: ConvSpec, limit: int = 64 * MEBIBYTE) -> Array:
    """Convolve as ``im2col`` does, with a matrix that never takes more than ``limit`` bytes.

    >>> spec = ConvSpec(n=1, c=3, h=8, w=9, k=2, r=3, s=3)
    >>> x, w = np.ones(spec.input_shape), np.ones(spec.weight_shape)
    >>> bool((im2col_chunked(x, w, None, spec, limit=1000) == im2col(x, w, None, spec)).all())
    True

    It lays out as many rows of the output at a time as the limit allows, part of a row where it must. Other
    parameters and the result are those of ``im2col``. Raises ``ArgumentError`` also where not even one column
    fits the limit.
    """
    check_arrays(x, w, bias, spec)
    accumulator = sum_type(x.dtype)
    rows, columns = _chunk(spec, accumulator.itemsize, limit)
    windows, w = _windows(x.astype(accumulator), spec), w.astype(accumulator)
    y = np.empty(spec.output_shape, accumulator)
    for n, p, q in np.ndindex(spec.n, -(-spec.p // rows), -(-spec.q // columns)):
        tile = n, slice(None), slice(p * rows, (p + 1) * rows), slice(q * columns, (q + 1) * columns)
        chunk = windows[n, ..., *tile[2:]]  # (C, R, S, rows, columns), still a view
        y[tile] = _multiply(w, chunk.reshape(1, -1, chunk[0, 0, 0].size), spec.groups).reshape(y[tile].shape)
    return rounded(with_bias(y, bias), x.dtype, spec)


def _windows(x: Array, spec: ConvSpec) -> Array:
    """Give all windows as a view of the padded input, in which pixels that windows share are the same memory."""
    top, bottom, left, right = spec.padding
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    extent = spec.effective_r, spec.effective_s
    windows = np.lib.stride_tricks.sliding_window_view(padded, extent, axis=(2, 3))
    (down, right), (down_tap, right_tap) = spec.stride, spec.dilation
    windows = windows[:, :, ::down, ::right, ::down_tap, ::right_tap]  # (N, C, P, Q, R, S)
    return windows.transpose(0, 1, 4, 5, 2, 3)  # (N, C, R, S, P, Q)


def _multiply(w: Array, columns: Array, groups: int) -> Array:
    """Multiply (G, K/G, C/G·R·S) by (N, G, C/G·R·S, positions), and give (N, K, positions)."""
    images, _, positions = columns.shape
    y = w.reshape(groups, len(w) // groups, -1) @ columns.reshape(images, groups, -1, positions)
    return y.reshape(images, len(w), positions)


def _chunk(spec: ConvSpec, item_bytes: int, limit: int) -> tuple[int, int]:
    """Give the most rows and columns of one image's output whose matrix fits the limit."""
    column_bytes = spec.c * spec.r * spec.s * item_bytes
    positions = limit // column_bytes
    if positions < 1:
        fact = f"one column of the im2col matrix takes {column_bytes} bytes, but the limit is {limit}"
        raise argument_error(fact, spec, f"Set limit to at least {column_bytes}")
    return max(1, min(spec.p, positions // spec.q)), min(spec.q, positions)


def _columns_shape(spec: ConvSpec) -> tuple[int, int, int]:
    return spec.n, spec.c * spec.r * spec.s, spec.p * spec.q


def _check(name: str, array: Array, letters: str, shape: tuple[int, ...], spec: ConvSpec) -> None:
    check_shape(name, array, letters, shape, spec, f"Reshape {name}, or make the spec that belongs to it")
