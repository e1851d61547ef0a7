"""What a convolution computes, as far as it is drawn."""

from __future__ import annotations

import numpy as np

from convlab.reference.direct import oracle
from convlab.spec import ConvSpec
from convlab.views.grid import Ids
from convlab.views.samples import Array, Pixels
from convlab.views.side import Side

__all__ = ["Sides", "padded", "sums"]

Sides = tuple[Side, Side]

_CHANNELS_AT_ONCE = 64  # bounds the memory that the sums take


def padded(pixels: Pixels, channels: Array, sides: Sides, places: tuple[Ids, Ids]) -> Array:
    """Take the pixels at the given rows and columns of the padded input, of shape (channels, rows, columns)."""
    h, w = (side.sources[place] for side, place in zip(sides, places, strict=True))
    values: Array = pixels(*np.ix_(channels, h.clip(0), w.clip(0)))
    return np.where((h < 0)[:, np.newaxis] | (w < 0), 0, values)


def sums(pixels: Pixels, first: int, weights: Array, sides: Sides) -> Array:
    """Convolve as far as drawn: the rows that the windows read are put one below the other, then it is R steps.

    Parameters: ``weights`` of shape (channels, R, S) meet the channels from ``first`` on. Returns an array of shape
    (outputs drawn along H, outputs drawn along W).
    """
    rows, cols = sides
    places = rows.windows().ravel(), cols.windows().ravel()
    total = np.zeros((rows.outputs, cols.outputs))
    for start in range(0, len(weights), _CHANNELS_AT_ONCE):
        some = weights[start : start + _CHANNELS_AT_ONCE]
        x = padded(pixels, first + start + np.arange(len(some)), sides, places)
        spec = ConvSpec.from_shapes((1, *x.shape), (1, *some.shape), stride=some.shape[1:])
        total += oracle(x[np.newaxis], some[np.newaxis], None, spec)[0, 0]
    return total
