"""The overlap-tile strategy: an image of any size, one tile of the output at a time, each with its halo of input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from convlab.reference.checks import Array, check_arrays
from convlab.reference.direct import direct
from convlab.reference.padding import Mode, gathered, index_maps
from convlab.spec import ConvSpec, PairLike
from convlab.spec.axis import Axis
from convlab.spec.values import UnfitError, integers, shown

__all__ = ["overlap_tile", "tiles"]

Area = tuple[slice, slice]


def overlap_tile(x: Array, w: Array, bias: Array | None, spec: ConvSpec, tile: PairLike, mode: Mode = "zero") -> Array:
    """Convolve tile by tile; glued together, the tiles show no seam.

    >>> spec = ConvSpec(n=2, c=3, h=20, w=30, k=4, r=3, s=5, padding=(1, 2))
    >>> x, w = np.ones(spec.input_shape), np.ones(spec.weight_shape)
    >>> bool((overlap_tile(x, w, None, spec, tile=(8, 9)) == direct(x, w, None, spec)).all())
    True

    Parameters: ``tile`` is the height and width of a tile of the output, as one number or a pair; tiles at
    the bottom and right may be smaller; ``mode`` is one of ``padding.MODES``. Others, result and errors are
    those of ``direct``; raises ``ValueError`` also for another tile, and for a mode that
    ``padding.source_index`` refuses. Source: Ronneberger, Fischer and Brox, U-Net (2015), figure 2.
    """
    check_arrays(x, w, bias, spec)
    rows, columns = index_maps(spec, mode)
    y = np.empty(spec.output_shape, x.dtype)
    for outputs, (down, right) in tiles(spec, tile):
        halo_and_all = gathered(x, rows[down], columns[right])
        _, _, h, width = halo_and_all.shape
        y[..., *outputs] = direct(halo_and_all, w, bias, replace(spec, h=h, w=width, padding=(0, 0, 0, 0)))
    return y


def tiles(spec: ConvSpec, tile: PairLike) -> Iterator[tuple[Area, Area]]:
    """Give the tiles of the output, and for each the part of the padded input that it is made from.

    >>> for outputs, inputs in tiles(ConvSpec(n=1, c=1, h=4, w=9, k=1, r=3, s=3, padding=(1, 0)), tile=4):
    ...     print(outputs, inputs)
    (slice(0, 4, None), slice(0, 4, None)) (slice(0, 6, None), slice(0, 6, None))
    (slice(0, 4, None), slice(4, 7, None)) (slice(0, 6, None), slice(4, 9, None))

    Neighbours share the halo: effective R − stride rows, or effective S − stride columns, of the input.
    Parameters and errors are those of ``overlap_tile``.
    """
    try:
        height, width = integers("tile", tile, least=1, lengths=(2,))
    except UnfitError as unfit:
        raise unfit.within(f"{spec!r}, tile={shown(tile)}") from None
    vertical, horizontal = spec.axes
    for rows, down in _pieces(vertical, height):
        for columns, right in _pieces(horizontal, width):
            yield (rows, columns), (down, right)


def _pieces(axis: Axis, length: int) -> Iterator[tuple[slice, slice]]:
    for first in range(0, axis.outputs, length):
        end = min(first + length, axis.outputs)
        yield slice(first, end), slice(first * axis.stride, (end - 1) * axis.stride + axis.effective)
