"""Arrays that count as never written, as memory on a GPU is before anybody writes to it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from convlab.emulator.memory.rows import POISON

__all__ = ["Empty", "empty", "written"]


class Empty(np.ndarray[Any, Any]):
    """An array with a flag for each byte: whether a kernel wrote it. What is derived from it is a plain array."""

    _flags: NDArray[np.bool_] | None = None

    def __array_finalize__(self, parent: Any) -> None:
        """A piece of an array's own memory has that piece of its flags."""
        flags = getattr(parent, "flags_written", None)
        if flags is not None and self.flags.c_contiguous:
            start = self.ctypes.data - parent.ctypes.data
            if 0 <= start <= flags.size - self.nbytes:
                self._flags = flags[start : start + self.nbytes]

    @property
    def flags_written(self) -> NDArray[np.bool_] | None:
        """A flag for each byte; ``None`` where its order is not that of the elements, as in a transpose."""
        return self._flags if self.flags.c_contiguous else None

    def __setitem__(self, key: Any, value: Any) -> None:
        """What NumPy assigns is written, too."""
        super().__setitem__(key, value)
        flags = self.flags_written
        if flags is not None:
            marks = flags.view(f"V{self.itemsize}").reshape(self.shape)
            marks[... if isinstance(key, str) else key] = np.void(b"\1" * self.itemsize)


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
    array._flags = np.zeros(array.nbytes, np.bool_)
    return array


def written(array: NDArray[Any]) -> tuple[NDArray[np.bool_] | None, bool]:
    """The flags of an array whose elements must be written, and whether reading it before that is a fault.

    A floating-point array that is all NaN has flags for the one launch: somebody wants to see what is written.
    """
    flags = getattr(array, "flags_written", None)
    if flags is not None:
        return flags, True
    if array.dtype.kind == "f" and array.size and np.isnan(array.flat[0]) and np.isnan(array).all():
        return np.zeros(array.nbytes, np.bool_), False
    return None, False
