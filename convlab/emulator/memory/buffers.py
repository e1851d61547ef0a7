"""Buffers of global memory, and where an address lies in the tensor that one holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convlab.emulator.code import Site

__all__ = ["Buffer", "describe", "place_of"]


@dataclass(slots=True)
class Buffer:
    """An array in global memory: a name for messages, C-contiguous data, and its axes where they are known.

    Args:
        name: what a message calls it, such as ``x``.
        data: a C-contiguous array of any shape and dtype, updated in place.
        axes: one letter for each axis, such as ``"nchw"``.
        writable: ``False`` for an array that must not change.
        written: a flag for each byte, kept up to date, where an output must be written; ``None``: it need not.
        strict: whether reading what nobody wrote is a fault.
        raw: the bytes of a variable whose element type nobody knows.
    """

    name: str
    data: NDArray[Any]
    axes: str | None = None
    writable: bool = True
    written: NDArray[np.bool_] | None = None
    strict: bool = False
    raw: bool = False


def describe(buffer: Buffer, offset: int, site: Site, kind: str = "out_of_bounds") -> str:
    """What is wrong with an access at a place in a buffer, by the index of the tensor where its axes are known.

    >>> from convlab.emulator.program import Place
    >>> load = Site(0, Place("conv.cu", 7), "load", "global", np.dtype("f4"), 1)
    >>> describe(Buffer("x", np.zeros((1, 2, 4, 8), "f4"), "nchw"), -4, load)
    '[n=0, c=0, h=-1, w=7], which lies before the start of x, an array of shape (1, 2, 4, 8).'
    """
    data = buffer.data
    if kind == "misaligned":
        return f" at byte {offset}, which is no multiple of the access's {site.width} bytes."
    if 0 <= offset < data.nbytes and not buffer.writable:
        return ", which is constant." if buffer.raw else ", an array that is read-only."
    if offset < data.nbytes < offset + site.width:
        offset = data.nbytes  # of a float4, the first float that is outside
    side = "before the start" if offset < 0 else "after the end"
    size = _itemsize(buffer, site)
    shape = data.shape if size == data.itemsize else (data.nbytes // size,)
    return f"{place_of(buffer, offset, site)}, which lies {side} of {buffer.name}, an array of shape {shape}."


def place_of(buffer: Buffer, offset: int, site: Site | None = None) -> str:
    """The index of the element at a byte of a buffer, ``[n=0, c=1, h=2, w=3]`` or ``[7]``."""
    element = offset // _itemsize(buffer, site)
    if buffer.axes is None or buffer.data.ndim < 2 or not buffer.data.size:
        return f"[{element}]"
    index = _unravel(element, buffer.data.shape)
    return f"[{', '.join(f'{axis}={at}' for axis, at in zip(buffer.axes, index, strict=True))}]"


def _itemsize(buffer: Buffer, site: Site | None) -> int:
    """Bytes of an element; those of the access where nobody knows what the bytes are."""
    unknown = buffer.raw and site is not None and buffer.data.nbytes % site.dtype.itemsize == 0
    return site.dtype.itemsize if unknown and site is not None else int(buffer.data.itemsize)


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
