"""The zero-padded input as one row of pixels, of which a tile of output pixels needs one run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from convlab.kernels.tiling import ceil_div
from convlab.spec import ConvSpec

__all__ = ["PADDED_DTYPE", "Padded", "padded_input"]

APART = 8  # pixels whose pieces of a row fill the banks of shared memory: an ldmatrix reads so many at a time


class Padded(NamedTuple):
    """Pixels from row to row, from image to image, and of a run: the first tap of its first window to its last's."""

    slots: int
    pitch: int
    image: int


PADDED_DTYPE = np.dtype([(name, np.int32) for name in Padded._fields])  # struct Padded of tensor_core_mma.cu


def padded_input(spec: ConvSpec, bn: int, level: bool = True) -> Padded:
    """Lay the input out so that one distance leads from any window of stride 1 to its pixel under a tap.

    >>> spec = ConvSpec(n=1, c=16, h=28, w=28, k=16, r=3, s=3, padding=1)
    >>> padded_input(spec, 64, level=False)
    Padded(slots=156, pitch=29, image=841)

    Rows share the zeros between them: those right of one are those left of the next; so do images.

    Parameters: ``bn`` is the tile's number of output pixels, counted on through rows and images; ``level`` makes rows
    and images longer where the next of eight output pixels would otherwise lie in a bank that another has taken.
    """
    area = spec.p * spec.q
    down, across = ((size - 1) * step for size, step in zip((spec.r, spec.s), spec.dilation, strict=True))
    top, _, left, _ = spec.padding
    # Never less than the outputs: the last window's slot is the highest.
    pitch = _levelled(max(spec.q, spec.w + left, spec.q + across - left), spec.q, level)
    image = _levelled(max(spec.p, spec.h + top, spec.p + down - top) * pitch, area, level)
    rows, images = ceil_div(bn - 1, spec.q), ceil_div(bn - 1, area)  # that can begin inside a tile
    slots = bn + rows * (pitch - spec.q) + images * (image - spec.p * pitch) + down * pitch + across
    return Padded(slots, pitch, image)


def _levelled(length: int, outputs: int, level: bool) -> int:
    """The next length that leaves eights in step, where outputs are none, as the last begins in one row and ends below.

    >>> _levelled(29, 28, True), _levelled(33, 32, True)
    (36, 33)
    """
    return length + (outputs - length) % APART if level and outputs % APART else length
