"""The values that pictures of tensors show: those given, or small whole numbers where none are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.spec import ConvSpec
from convlab.views.grid import number_text

__all__ = ["Array", "Pixels", "check_index", "filter_of", "image", "numbers", "sample_filter", "sample_image"]

Array = npt.NDArray[Any]
Pixels = Callable[[Array, Array, Array], Array]  # indices c, h, w, broadcast together, to the values there

_WEIGHTS = np.array([2, -1, 1, 3, -2, 4, -3])  # never 0, so that every tap shows


def image(x: npt.ArrayLike | None, n: int, spec: ConvSpec) -> Pixels:
    """Give the pixels of image ``n`` of ``x``, or digits where that is None.

    >>> spec = ConvSpec(n=2, c=1, h=2, w=2, k=1, r=1, s=1)
    >>> image(None, 0, spec)(0, np.arange(2), np.arange(2)).tolist()
    [3, 6]

    Raises ``ValueError`` for an array of another shape than (N, C, H, W).
    """
    if x is None:
        return sample_image(n)
    pixels = _shaped("x", x, spec.input_shape, spec)[n]
    return lambda c, h, w: pixels[c, h, w]


def sample_image(n: int) -> Pixels:
    """Give digits without a pattern that the eye would follow, another image for each ``n``."""
    return lambda c, h, w: (17 * h + 43 * w + 3 * h * h + 17 * w * w + 20 * h * w + 23 * c + 41 * n + 3) % 97 % 10


def filter_of(w: npt.ArrayLike | None, k: int, spec: ConvSpec) -> Array:
    """Give filter ``k`` of ``w``, of shape (C/G, R, S), or small numbers where that is None.

    Raises ``ValueError`` for an array of another shape than (K, C/G, R, S).
    """
    _, channels, r, s = spec.weight_shape
    return sample_filter(k, channels, r, s) if w is None else _shaped("w", w, spec.weight_shape, spec)[k]


def sample_filter(k: int, channels: int, r: int, s: int) -> Array:
    """Give small numbers, none of them 0, of shape (channels, r, s), another filter for each ``k``."""
    c, i, j = np.ix_(np.arange(channels), np.arange(r), np.arange(s))
    weights: Array = _WEIGHTS[(3 * i + 2 * j + 4 * c + k) % len(_WEIGHTS)]
    return weights


def check_index(spec: ConvSpec, indices: Mapping[str, tuple[int, int]]) -> None:
    """Raise ``ValueError`` for the first index, given with how many there are, that is not there."""
    for name, (index, count) in indices.items():
        if not 0 <= index < count:
            raise ValueError(
                f"{name}={index} is not there: {name} runs from 0 to {count - 1}.\n  In: {spec}\n"
                f"  Fix: choose {name} in this range."
            )


def numbers(values: Array) -> list[str]:
    """Write numbers, row by row, the way that cells show them."""
    return [number_text(value) for value in values.ravel().tolist()]


def _shaped(name: str, array: npt.ArrayLike, shape: tuple[int, ...], spec: ConvSpec) -> Array:
    values = np.asarray(array)
    if values.shape != shape:
        raise ValueError(f"{name} has shape {values.shape}.\n  In: {spec}\n  Fix: give {name} the shape {shape}.")
    return values
