"""Padding as a map of indices: for each padded cell, the pixel that it shows, so that no padded copy is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from convlab.reference.checks import Array, check_arrays, check_shape
from convlab.reference.sums import rounded, sum_type
from convlab.reference.taps import sum_over_taps, tap_slices
from convlab.spec import ConvSpec
from convlab.spec.values import UnfitError, call_text, shown

__all__ = ["MODES", "Index", "Mode", "convolve_padded", "gathered", "index_maps", "padded", "source_index"]

Mode = Literal["zero", "reflect", "replicate", "circular"]
Index = npt.NDArray[np.int64]

# The pixel that each place −before … size + after − 1 shows.
_SOURCES: Mapping[str, Callable[[Index, int], Any]] = {
    "zero": lambda place, size: np.where((place >= 0) & (place < size), place, -1),
    "reflect": lambda place, size: size - 1 - abs(size - 1 - abs(place)),
    "replicate": lambda place, size: place.clip(0, size - 1),
    "circular": lambda place, size: place % size,
}
MODES = tuple(_SOURCES)

# How many pixels an axis lacks for padding of a given width: reflect never shows the border itself twice.
_BEYOND_THE_WIDTH = {"reflect": 1, "circular": 0}


def source_index(size: int, before: int, after: int, mode: Mode) -> Index:
    """Give, for each cell of a padded axis, the pixel that it shows, or −1 for a zero.

    >>> for mode in MODES:
    ...     print(f"{mode:9}", source_index(size=4, before=2, after=3, mode=mode))
    zero      [-1 -1  0  1  2  3 -1 -1 -1]
    reflect   [2 1 0 1 2 3 2 1 0]
    replicate [0 0 0 1 2 3 3 3 3]
    circular  [2 3 0 1 2 3 0 1 2]

    Parameters: ``size`` of the axis, and the padding ``before`` and ``after`` it, in pixels. Returns an int64
    array of shape (before + size + after,). Raises ``ValueError`` for another mode, and where reflect or
    circular padding would need more pixels than there are.
    """
    try:
        return _index(size, before, after, mode, "pixels")
    except UnfitError as unfit:
        given = {"size": size, "before": before, "after": after, "mode": mode}
        raise unfit.within(call_text("source_index", given)) from None


def index_maps(spec: ConvSpec, mode: Mode) -> tuple[Index, Index]:
    """Give the pixel that each row and that each column of the padded input shows.

    >>> index_maps(ConvSpec(n=1, c=1, h=2, w=3, k=1, r=1, s=1, padding=(1, 0, 0, 2)), "replicate")
    (array([0, 0, 1]), array([0, 1, 2, 2, 2]))

    Errors are those of ``source_index``.
    """
    try:
        rows, columns = (_index(axis.size, axis.before, axis.after, mode, axis.lines) for axis in spec.axes)
    except UnfitError as unfit:
        raise unfit.within(repr(spec)) from None
    return rows, columns


def gathered(x: Array, rows: Index, columns: Index) -> Array:
    """Read the pixels where rows and columns cross, and zeros where one of the two is −1.

    >>> gathered(np.array([[1, 2, 3], [4, 5, 6]]), np.array([1, -1, 0]), np.array([2, 2, -1]))
    array([[6, 6, 0],
           [0, 0, 0],
           [3, 3, 0]])

    Parameters: ``x`` of shape (…, H, W), any type. Returns an array of shape (…, rows, columns).
    """
    pixels: Array = x[..., rows[:, np.newaxis], columns]
    pixels[..., rows < 0, :] = 0
    pixels[..., columns < 0] = 0
    return pixels


def padded(x: Array, spec: ConvSpec, mode: Mode = "zero") -> Array:
    """Give the padded input as the windows see it, to be looked at.

    >>> spec = ConvSpec(n=1, c=1, h=2, w=3, k=1, r=3, s=3, padding=1)
    >>> padded(np.arange(1, 7).reshape(spec.input_shape), spec, "reflect")[0, 0]
    array([[5, 4, 5, 6, 5],
           [2, 1, 2, 3, 2],
           [5, 4, 5, 6, 5],
           [2, 1, 2, 3, 2]])

    Parameters: ``x`` of shape (N, C, H, W), any type. Returns an array of shape
    (N, C, H + top + bottom, W + left + right). Raises ``ArgumentError`` for another shape; further errors are
    those of ``source_index``.
    """
    check_shape("x", x, "(N, C, H, W)", spec.input_shape, spec, "Reshape x, or make the spec that belongs to it")
    return gathered(x, *index_maps(spec, mode))


def convolve_padded(x: Array, w: Array, bias: Array | None, spec: ConvSpec, mode: Mode = "zero") -> Array:
    """Convolve with any padding mode, and no padded copy: each tap reads through the maps.

    >>> spec = ConvSpec(n=1, c=1, h=1, w=4, k=1, r=1, s=3, padding=(0, 1))
    >>> x, w = np.arange(1, 5).reshape(spec.input_shape), np.array([1, 10, 100]).reshape(spec.weight_shape)
    >>> convolve_padded(x, w, None, spec, "circular")
    array([[[[214, 321, 432, 143]]]])

    Parameters, result and errors are those of ``direct``, and further errors those of ``source_index``; the
    sums are kept in the type of ``x``, with at least 32 bits.
    """
    check_arrays(x, w, bias, spec)
    accumulator = sum_type(x.dtype)
    wide, (rows, columns) = x.astype(accumulator), index_maps(spec, mode)

    def pixels(r: int, s: int) -> Array:
        down, right = tap_slices(spec, r, s)
        return gathered(wide, rows[down], columns[right])

    return rounded(sum_over_taps(pixels, w.astype(accumulator), bias, spec), x.dtype, spec)


def _index(size: int, before: int, after: int, mode: Mode, lines: str) -> Index:
    if mode not in _SOURCES:
        raise UnfitError(f"mode={shown(mode)} is not a padding mode", f"Use one of {', '.join(MODES)}")
    width = max(before, after)
    needed = width + _BEYOND_THE_WIDTH.get(mode, 0)
    if mode in _BEYOND_THE_WIDTH and needed > size:
        fact = f"{mode} padding of {width} {lines} needs {needed}, but the input has {size}"
        raise UnfitError(fact, f"Pad at most {size + width - needed} {lines}, or use replicate, which needs but one")
    index: Index = _SOURCES[mode](np.arange(-before, size + after), size)
    return index
