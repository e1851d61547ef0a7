"""Buffers of global memory, and where an address lies in the tensor that one holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convlab.emulator.code import Site
from convlab.emulator.program import Place  # noqa: F401 - for the example

__all__ = ["Buffer", "describe"]


@dataclass(slots=True)
class Buffer:
    """An array in global memory: a name for messages, C-contiguous data, and its axes where they are known.

    Args:
        name: what a message calls it, such as ``x``.
        data: a C-contiguous array of any shape and dtype, updated in place.
        axes: one letter for each axis, such as ``"nchw"``.
        writable: ``False`` for an array that must not change.
        written: a flag for each byte, kept up to date, where it matters who wrote it; ``None`` counts as all written.
        raw: the bytes of a variable whose element type nobody knows.
    """

    name: str
    data: NDArray[Any]
    axes: str | None = None
    writable: bool = True
    written: NDArray[np.bool_] | None = None
    raw: bool = False


def describe(buffer: Buffer, offset: int, site: Site, kind: str = "out_of_bounds") -> str:
    """What is wrong with an access at a place in a buffer, by the index of the tensor where its axes are known.

    >>> load = Site(0, Place("conv.cu", 7), "load", "global", np.dtype("f4"), 1)
    >>> describe(Buffer("x", np.zeros((1, 2, 4, 8), "f4"), "nchw"), -4, load)
    '[n=0, c=0, h=-1, w=7], which lies before the start of x, an array of shape (1, 2, 4, 8).'
    """
    data = buffer.data
    if kind == "misaligned":
        return f" at byte {offset}, which is no multiple of the access's {site.width} bytes."
    if 0 <= offset < data.nbytes and not buffer.writable:
        return ", an array that is read-only."
    if offset < data.nbytes < offset + site.width:
        offset = data.nbytes  # of a float4, the first float that is outside
    raw = buffer.raw and data.nbytes % site.dtype.itemsize == 0
    element = offset // (site.dtype.itemsize if raw else data.itemsize)
    shape = (data.nbytes // site.dtype.itemsize,) if raw else data.shape
    place = str(element)
    if buffer.axes is not None and data.ndim > 1 and data.size:
        index = _unravel(element, data.shape)
        place = ", ".join(f"{axis}={at}" for axis, at in zip(buffer.axes, index, strict=True))
    side = "before the start" if offset < 0 else "after the end"
    return f"[{place}], which lies {side} of {buffer.name}, an array of shape {shape}."


def _unravel(element: int, shape: tuple[int, ...]) -> list[int]:
    """The index of an element outside of an array, with the innermost axis but one that explains it off limits.

    Element −1 of rows of 8 is h=−1, w=7 and not n=−1, c=C−1, …: a kernel that runs off a picture does so by rows.
    """
    strides = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    total = int(np.prod(shape))
    base = 0 if element < 0 else total
    for axis in reversed(range(len(shape) - 1)):
        if abs(element - base) <= strides[axis] * shape[axis]:
            break
    inner = strides[axis] * shape[axis]
    origin = 0 if element < 0 else total - inner  # the first or the last slab along the outer axes
    index = [0 if element < 0 else shape[a] - 1 for a in range(axis)]
    rest = element - origin
    for a in range(axis, len(shape)):
        at, rest = divmod(rest, strides[a])
        index.append(at)
    return index
