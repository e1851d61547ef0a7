"""The part of a column matrix that is drawn: which pixel each cell holds, and whether it is a copy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from convlab.spec import ConvSpec
from convlab.spec.axis import Axis
from convlab.views.drawn import Sides
from convlab.views.grid import Ids, number_text
from convlab.views.samples import Array, Pixels
from convlab.views.side import Side

__all__ = ["ColumnMatrix", "copies", "size", "value_text"]

_SIDE = 7  # rows and columns of the padded input that are drawn, unless one window spans more
_ROWS = 25  # of the matrix that are drawn


@dataclass(frozen=True, eq=False)
class ColumnMatrix:
    """The first rows and columns of the matrix for filter ``k``; arrays have the shape (rows, columns).

    >>> spec = ConvSpec(n=1, c=1, h=3, w=3, k=1, r=2, s=2)
    >>> ColumnMatrix(spec, 0, lambda c, h, w: 3 * h + w).values
    [['0', '1', '3', '4'], ['1', '2', '4', '5'], ['3', '4', '6', '7'], ['4', '5', '7', '8']]
    """

    spec: ConvSpec
    k: int
    pixels: Pixels

    @cached_property
    def sides(self) -> Sides:
        """The drawn part of the two axes."""
        rows, cols = self.spec.axes
        return Side(rows, whole=_SIDE, part=_SIDE), Side(cols, whole=_SIDE, part=_SIDE)

    @cached_property
    def taps(self) -> Ids:
        """The channel of the filter, r and s of each row, of shape (3, rows)."""
        _, channels, r, s = self.spec.weight_shape
        drawn = min(channels, max(1, _ROWS // (r * s)))
        return np.indices((drawn, r, s)).reshape(3, -1)[:, :_ROWS]

    @cached_property
    def outputs(self) -> Ids:
        """The p and q of each column, of shape (2, columns)."""
        return np.indices([side.outputs for side in self.sides]).reshape(2, -1)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns that are drawn."""
        return self.taps.shape[1], self.outputs.shape[1]

    @property
    def channels(self) -> int:
        """The channels of the input that are drawn."""
        return int(self.taps[0, -1]) + 1

    @property
    def first(self) -> int:
        """The first channel that the filter reads."""
        return self.k // (self.spec.k // self.spec.groups) * (self.spec.c // self.spec.groups)

    @property
    def numbers(self) -> Ids:
        """The number of each drawn column in the whole matrix of its image."""
        p, q = self.outputs
        numbers: Ids = p * self.spec.q + q
        return numbers

    @property
    def index(self) -> list[str]:
        """What stands above the columns: their numbers, or, where these are long, that of each output row's first."""
        crowded = int(self.numbers[-1]) > 99
        return ["" if crowded and q else str(number) for number, q in zip(self.numbers, self.outputs[1], strict=True)]

    @cached_property
    def places(self) -> tuple[Ids, Ids]:
        """The row and the column of the padded input that each cell is read from."""
        (_, r, s), (p, q) = self.taps[:, :, np.newaxis], self.outputs
        rows, cols = self.sides
        return rows.windows()[p, r], cols.windows()[q, s]

    @cached_property
    def sources(self) -> tuple[Ids, Ids]:
        """The h and the w of the pixel that each cell holds; one of the two is −1 where it holds padding."""
        rows, cols = self.sides
        return rows.sources[self.places[0]], cols.sources[self.places[1]]

    @cached_property
    def kinds(self) -> Array:
        """The kind of each cell: "padding", "copy" where an earlier column holds the same pixel, or else "input"."""
        (_, r, s), (p, q) = self.taps[:, :, np.newaxis], self.outputs
        again = _again(self.sides[0].windows())[p, r] | _again(self.sides[1].windows())[q, s]
        return np.where(np.minimum(*self.sources) < 0, "padding", np.where(again, "copy", "input"))

    @cached_property
    def values(self) -> list[list[str]]:
        """What each cell shows."""
        h, w = self.sources
        pixels = self.pixels(self.first + self.taps[0][:, np.newaxis], h.clip(0), w.clip(0))
        texts = [list(map(value_text, row)) for row in pixels.tolist()]
        return [
            ["0" if kind == "padding" else text for kind, text in zip(kinds, row, strict=True)]
            for kinds, row in zip(self.kinds.tolist(), texts, strict=True)
        ]

    @property
    def left_out(self) -> str:
        """What is drawn of the matrix, as a sentence; empty where it is all."""
        whole = self.spec.gemm_shape.gemm_k, self.spec.p * self.spec.q
        if self.shape == whole:
            return ""
        (rows, columns), (all_rows, all_columns) = self.shape, whole
        return (
            f"Too large to draw whole: {rows:,} of {all_rows:,} rows, {columns:,} of {all_columns:,} columns are shown."
        )


def value_text(value: str | float) -> str:
    """Write a value of the input: texts as they are."""
    return value if isinstance(value, str) else number_text(value)


def size(spec: ConvSpec) -> int:
    """Count the values of the matrices of all images and groups: N·P·Q windows of C·R·S values.

    >>> size(ConvSpec(n=1, c=128, h=112, w=112, k=128, r=3, s=3, padding=1)) == 1152 * 12544
    True
    """
    return spec.groups * prod(spec.im2col_shape)


def copies(spec: ConvSpec) -> tuple[int, int]:
    """Count the values of the matrices that stand in an earlier column already, and those that are padding.

    >>> copies(ConvSpec(n=1, c=1, h=3, w=3, k=1, r=2, s=2, padding=1))
    (27, 28)
    """
    (readings, pixels), (more_readings, more_pixels) = (_pixels_read(axis) for axis in spec.axes)
    images = spec.n * spec.c
    inside = images * readings * more_readings
    return inside - images * pixels * more_pixels, size(spec) - inside


def _pixels_read(axis: Axis) -> tuple[int, int]:
    """How often windows read a pixel along an axis, and how many pixels these are."""
    places = np.arange(axis.outputs)[:, np.newaxis] * axis.stride + np.arange(axis.window) * axis.dilation
    inside = places[(places >= axis.before) & (places < axis.before + axis.size)]
    return inside.size, np.unique(inside).size


def _again(windows: Ids) -> Array:
    """Tell which places of windows, of shape (outputs, window), an earlier output reads as well."""
    again = np.ones(windows.size, bool)
    again[np.unique(windows, return_index=True)[1]] = False
    return again.reshape(windows.shape)
