"""Global memory: buffers far apart in one 64-bit address space, and loads and stores that cannot leave them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from convlab.emulator.code import Report, Site
from convlab.emulator.lanes import Lanes
from convlab.emulator.local import LocalMemory
from convlab.emulator.printing import Printer

__all__ = ["Buffer", "Memory"]

# Buffers lie 1 TiB apart, so that every wrong 32-bit index, of elements up to 128 bytes, still has one nearest buffer:
# the one that the kernel meant. The first half belongs to none: a null pointer with an index.
SPACING_BITS = 40
HALF = 1 << (SPACING_BITS - 1)


@dataclass(slots=True)
class Buffer:
    """An array in global memory: a name for messages, C-contiguous data, and its axes where they are known.

    Args:
        name: what a message calls it, such as ``x``.
        data: a C-contiguous array of any shape and dtype, updated in place.
        axes: one letter for each axis, such as ``"nchw"``.
        writable: ``False`` for an array that must not change.
    """

    name: str
    data: NDArray[Any]
    axes: str | None = None
    writable: bool = True


class Memory:
    """The address space of one launch: parameters and buffers.

    ``observers`` see each access before it happens; ``report`` receives what is wrong with it.
    """

    def __init__(self, buffers: Sequence[Buffer], parameters: bytes, sites: Sequence[Site]) -> None:
        self.buffers = list(buffers)
        self.parameters = parameters
        self.sites = sites
        self.observers: list[Any] = []
        self.report: Report | None = None
        self.local = LocalMemory(0, 0, sites, None)
        self.printer = Printer()
        self._bytes = [buffer.data.reshape(-1).view(np.uint8) for buffer in self.buffers]
        self._views: dict[tuple[int, np.dtype[Any]], NDArray[Any]] = {}

    @staticmethod
    def address(index: int) -> int:
        """Where the buffer of this index begins."""
        return (index + 1) << SPACING_BITS

    def parameter(self, offset: int, dtype: np.dtype[Any]) -> Any:
        """A kernel parameter, as a scalar."""
        return np.frombuffer(self.parameters, dtype, 1, offset)[0]

    def print(self, text: Any, arguments: Any, lanes: Lanes) -> Any:
        """``printf``: what each lane prints, lane after lane; returns the number of arguments, as CUDA does."""
        rows = self.local.rows(arguments, lanes)
        if not text.ndim:
            return np.int32(self.printer.print(self.string(int(text)), rows, self.string, lanes.size))
        for address, row in zip(text.tolist(), rows, strict=True):  # a format for each lane
            self.printer.print(self.string(address), [row], self.string, 1)
        return np.zeros(lanes.size, np.int32)

    def string(self, address: int) -> bytes:
        """The bytes at an address up to the next zero; nothing when the address belongs to no buffer."""
        index: int = _nearest(address)
        if not 0 <= index < len(self.buffers):
            return b"(null)"
        start = address - self.address(index)
        return self._bytes[index][start:].tobytes().partition(b"\0")[0]

    def load(self, site: int, address: Any, lanes: Lanes) -> tuple[Any, ...]:
        """The elements at each lane's address; scalars when all lanes read the same address."""
        where = self.sites[site]
        for observer in self.observers:
            observer.access(where, address, lanes)
        first = int(address.flat[0]) if address.ndim else int(address)
        index = _nearest(first)
        if 0 <= index < len(self.buffers):
            view, low = self._view(index, where.dtype), self.address(index)
            if not address.ndim:
                if _inside(first, low, view.nbytes, where.width):
                    at = (first - low) // where.dtype.itemsize
                    return tuple(view[at : at + where.count])
            else:
                out = np.empty((where.count, address.size), where.dtype)
                if _gather(address, low, where.width, where.shift, _as_unsigned(view), _as_unsigned(out)):
                    return tuple(out)
        return self._load_carefully(where, np.broadcast_to(address, lanes.size), lanes)

    def store(self, site: int, address: Any, values: tuple[Any, ...], lanes: Lanes) -> None:
        """Write each lane's elements; of several lanes at one address the last one wins."""
        where = self.sites[site]
        for observer in self.observers:
            observer.access(where, address, lanes)
        address = address if address.ndim else np.full(lanes.size, address)
        index = _nearest(int(address[0]))
        if 0 <= index < len(self.buffers) and self.buffers[index].writable:
            view, low = self._view(index, where.dtype), self.address(index)
            rows = np.empty((where.count, lanes.size), where.dtype)
            for row, value in zip(rows, values, strict=True):
                row[:] = value
            if _scatter(address, low, where.width, where.shift, _as_unsigned(view), _as_unsigned(rows)):
                return
        self._store_carefully(where, address, values, lanes)

    def _view(self, index: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """A buffer's bytes as elements of the instruction's type; a last incomplete element is left out."""
        key = (index, dtype)
        if key not in self._views:
            data = self._bytes[index]
            self._views[key] = data[: data.size - data.size % dtype.itemsize].view(dtype)
        return self._views[key]

    def _load_carefully(self, site: Site, address: NDArray[np.int64], lanes: Lanes) -> tuple[Any, ...]:
        """Several buffers in one access, or bad lanes: these read zero."""
        out = np.zeros((site.count, lanes.size), site.dtype)
        for index, good in self._sort_out(site, address, lanes):
            at = (address[good] - self.address(index)) // site.dtype.itemsize
            for n in range(site.count):
                out[n, good] = self._view(index, site.dtype)[at + n]
        return tuple(out)

    def _store_carefully(self, site: Site, address: NDArray[np.int64], values: tuple[Any, ...], lanes: Lanes) -> None:
        """Several buffers in one access, or bad lanes: these write nothing."""
        for index, good in self._sort_out(site, address, lanes):
            at = (address[good] - self.address(index)) // site.dtype.itemsize
            for n, value in enumerate(values):
                self._view(index, site.dtype)[at + n] = np.broadcast_to(value, lanes.size)[good]

    def _sort_out(self, site: Site, address: NDArray[np.int64], lanes: Lanes) -> list[tuple[int, NDArray[np.intp]]]:
        """The good lanes by buffer; the bad ones are reported."""
        nearest = _nearest(address)
        result = []
        for index in np.unique(nearest).tolist():
            here = np.flatnonzero(nearest == index)
            kinds = self._judge(site, address[here], index)
            for kind in np.unique(kinds[kinds != ""]).tolist():
                bad = here[kinds == kind]
                self._complain(site, kind, int(address[bad[0]]), index, lanes, bad)
            if (kinds == "").any():
                result.append((index, here[kinds == ""]))
        return result

    def _judge(self, site: Site, address: NDArray[np.int64], index: int) -> NDArray[np.str_]:
        """For each lane the kind of fault, or an empty string."""
        kinds = np.full(address.size, "", dtype="U16")
        kinds[address % site.width != 0] = "misaligned"
        if 0 <= index < len(self.buffers):
            offset = address - self.address(index)
            outside = (offset < 0) | (offset + site.width > self._bytes[index].size)
            kinds[outside] = "out_of_bounds"
            if site.action == "store" and not self.buffers[index].writable:
                kinds[:] = "out_of_bounds"
        else:
            kinds[:] = "out_of_bounds"
        return kinds

    def _complain(self, site: Site, kind: str, address: int, index: int, lanes: Lanes, bad: NDArray[np.intp]) -> None:
        """Put a bad access into words, by the name of the nearest buffer."""
        if self.report is None:
            return
        verb = {"load": "reads", "store": "writes"}[site.action]
        if not 0 <= index < len(self.buffers):
            what = f"{verb} {site.width} bytes"
            rest = f" at address {address:#x}, through a null pointer or one that is none."
        else:
            what = f"{verb} {self.buffers[index].name}"
            offset = address - self.address(index)
            rest = describe(self.buffers[index], offset, site.width if kind == "misaligned" else 0)
        self.report(site, kind, what, rest, lanes, bad)


def _nearest(address: Any) -> Any:
    """The index of the buffer that an address, or each of many, belongs to or lies next to; −1 for none."""
    return ((address + HALF) >> SPACING_BITS) - 1


def describe(buffer: Buffer, offset: int, misaligned: int = 0) -> str:
    """What is wrong with a place in a buffer, by the index of the tensor where its axes are known.

    >>> describe(Buffer("x", np.zeros((1, 2, 4, 8), "f4"), "nchw"), -4)
    '[n=0, c=0, h=-1, w=7], which lies before the start of x, an array of shape (1, 2, 4, 8).'
    """
    data = buffer.data
    if misaligned:
        return f" at byte {offset}, which is no multiple of the access's {misaligned} bytes."
    if 0 <= offset < data.nbytes and not buffer.writable:
        return ", an array that is read-only."
    element = offset // data.itemsize
    place = str(element)
    if buffer.axes is not None and data.ndim > 1 and data.size:
        index = _unravel(element, data.shape)
        place = ", ".join(f"{axis}={at}" for axis, at in zip(buffer.axes, index, strict=True))
    side = "before the start" if offset < 0 else "after the end"
    return f"[{place}], which lies {side} of {buffer.name}, an array of shape {data.shape}."


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


def _inside(address: int, low: int, size: int, width: int) -> bool:
    """Whether one access lies in a buffer, and is aligned."""
    return low <= address <= low + size - width and address % width == 0


def _as_unsigned(array: NDArray[Any]) -> NDArray[Any]:
    """The same bytes as unsigned integers: one compiled loop for each size, not for each type."""
    return array.view(f"u{array.itemsize}")


@njit(cache=True, nogil=True)
def _all_inside(address: Any, low: int, size: int, width: int) -> bool:
    """Whether all accesses lie in a buffer and are aligned; without an early exit, so that the loop vectorises."""
    high = low + size - width
    bad = False
    for lane in range(address.size):
        at = address[lane]
        bad |= (at < low) | (at > high) | ((at & (width - 1)) != 0)
    return not bad


@njit(cache=True, nogil=True)
def _gather(address: Any, low: int, width: int, shift: int, data: Any, out: Any) -> bool:
    """Copy elements of ``1 << shift`` bytes to lanes; false, and nothing is read, when any address is bad."""
    if not _all_inside(address, low, data.size << shift, width):
        return False
    for n in range(out.shape[0]):
        row = out[n]
        for lane in range(address.size):
            row[lane] = data[np.uint64(((address[lane] - low) >> shift) + n)]  # unsigned: no check for negatives
    return True


@njit(cache=True, nogil=True)
def _scatter(address: Any, low: int, width: int, shift: int, data: Any, rows: Any) -> bool:
    """Copy lanes to elements of ``1 << shift`` bytes; false, and nothing is written, when any address is bad."""
    if not _all_inside(address, low, data.size << shift, width):
        return False
    for n in range(rows.shape[0]):
        row = rows[n]
        for lane in range(address.size):
            data[np.uint64(((address[lane] - low) >> shift) + n)] = row[lane]
    return True
