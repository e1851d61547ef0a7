"""A convolution taken apart into its products, so that a mutant can bend a single index."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "Edge", "Indices", "gather", "positions", "products", "random_values"]

Array = npt.NDArray[Any]
Indices = npt.NDArray[np.int64]
Edge = Literal["zero", "wrap", "repeat"]


def positions(outputs: int, window: int, stride: int, start: int) -> Indices:
    """Give the input row (or column) of each tap of each output: output·stride + tap + start.

    >>> positions(outputs=2, window=3, stride=2, start=-1)
    array([[-1,  0,  1],
           [ 1,  2,  3]])

    Returns an array of shape (outputs, window); the padding is a negative ``start``.
    """
    return stride * np.arange(outputs)[:, np.newaxis] + np.arange(window) + start


def gather(x: Array, rows: Indices, columns: Indices, edge: Edge = "zero") -> Array:
    """Read all taps of all windows, in float64, of shape (N, C, P, R, Q, S).

    >>> x = np.arange(4.0).reshape(1, 1, 2, 2)
    >>> gather(x, positions(1, 2, 1, -1), positions(1, 2, 1, 0))[0, 0, 0, :, 0]
    array([[0., 0.],
           [0., 1.]])

    Parameters: ``x`` (N, C, H, W); ``rows`` (P, R) and ``columns`` (Q, S), which may lie outside; ``edge``,
    what is there: "zero"; "wrap", the far side for negative indices, as in Python, and zero for others;
    "repeat", the nearest pixel.
    """
    height, width = x.shape[2:]
    inside = _inside(rows, height, edge)[:, :, None, None] & _inside(columns, width, edge)
    i = rows % height if edge == "wrap" else np.clip(rows, 0, height - 1)
    j = columns % width if edge == "wrap" else np.clip(columns, 0, width - 1)
    pixels = x.astype(np.float64)[:, :, i[:, :, None, None], j]
    return np.where(inside, pixels, 0.0)


def products(x: Array, w: Array, rows: Indices, columns: Indices, edge: Edge = "zero") -> Array:
    """Give every product of weight and pixel that the outputs sum up: (N, K, P, Q, C, R, S) in float64.

    >>> x, w = np.ones((2, 3, 5, 6)), np.ones((4, 3, 3, 2))
    >>> products(x, w, positions(3, 3, 2, -1), positions(5, 2, 1, 0)).sum(axis=(-3, -2, -1))[1, 3]
    array([[12., 12., 12., 12., 12.],
           [18., 18., 18., 18., 18.],
           [12., 12., 12., 12., 12.]])

    Parameters: as in ``gather``, and ``w`` (K, C, R, S).
    """
    taps = gather(x, rows, columns, edge).transpose(0, 2, 4, 1, 3, 5)  # (N, P, Q, C, R, S)
    weights = w.astype(np.float64)[:, np.newaxis, np.newaxis]  # (K, 1, 1, C, R, S)
    return taps[:, np.newaxis] * weights


def random_values(rng: np.random.Generator, *shape: int) -> npt.NDArray[np.float32]:
    """Make float32 data of either sign whose size is between ¼ and 1, so that no term of a sum can hide.

    >>> values = random_values(np.random.default_rng(0), 2, 3)
    >>> values.shape, bool(np.abs(values).min() >= 0.25)
    ((2, 3), True)
    """
    return (rng.choice([-1, 1], shape) * rng.uniform(0.25, 1.0, shape)).astype(np.float32)


def _inside(indices: Indices, size: int, edge: Edge) -> npt.NDArray[np.bool_]:
    lowest = {"zero": 0, "wrap": -size, "repeat": np.iinfo(np.int64).min}[edge]
    return (indices >= lowest) & ((indices < size) | (edge == "repeat"))
