"""Arrays that count as never written, as memory on a GPU is before anybody writes to it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["Empty", "empty", "written"]

POISON = 0xFF  # NaN for floating-point numbers, −1 for signed integers: nobody takes that for a result


class Empty(np.ndarray[Any, Any]):
    """An array with a flag for each byte: whether a kernel wrote it. Slices and copies of it are plain arrays."""

    flags_written: NDArray[np.bool_] | None = None

    def __array_finalize__(self, parent: Any) -> None:
        """What is derived from it has no flags of its own."""
        self.flags_written = None


def empty(shape: int | tuple[int, ...], dtype: DTypeLike = np.float32) -> NDArray[Any]:
    """An output for a kernel: reading it before a kernel has written it is a fault, and so is leaving it unwritten.

    >>> y = empty((2, 3), "float32")
    >>> y.shape, bool(np.isnan(y).all())
    ((2, 3), True)

    Args:
        shape: the sizes of the axes.
        dtype: the type of the elements.
    """
    array = np.full(np.empty(shape, dtype).nbytes, POISON, np.uint8).view(dtype).reshape(shape).view(Empty)
    array.flags_written = np.zeros(array.nbytes, np.bool_)
    return array


def written(array: NDArray[Any]) -> tuple[NDArray[np.bool_] | None, bool]:
    """The flags of an array whose elements must be written, and whether reading it before that is a fault.

    A floating-point array that is all NaN has flags for the one launch: somebody wants to see what is written.
    """
    if isinstance(array, Empty) and array.flags_written is not None:
        return array.flags_written, True
    if array.dtype.kind == "f" and array.size and np.isnan(array.flat[0]) and np.isnan(array).all():
        return np.zeros(array.nbytes, np.bool_), False
    return None, False
