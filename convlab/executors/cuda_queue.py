"""What timing needs of a real GPU: memory that stays there, launches that only queue, moments, and CUDA graphs.

All of it goes to CuPy's current stream, as `convlab.executors.cuda` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from ctypes import c_void_p
from dataclasses import dataclass
from importlib import import_module
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.executors.arguments import bind
from convlab.executors.cuda import between, loaded, mark, values, wait
from convlab.executors.module import Kernel
from convlab.executors.shape import Dim3

__all__ = [
    "Device",
    "DeviceArray",
    "allocate",
    "between",
    "capture",
    "device",
    "download",
    "free",
    "mark",
    "ready",
    "ready_matmul",
    "upload",
    "wait",
]

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Device:
    """What the GPU at hand says of itself: L2, the most that its clock runs at, its place on the bus."""

    name: str
    l2_bytes: int
    clock_mhz: float
    pci: str


@dataclass(frozen=True, slots=True)
class DeviceArray:
    """An array in GPU memory, row by row, of any type that NumPy knows, whether CuPy does or not."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    memory: Any

    @property
    def flags(self) -> SimpleNamespace:
        """What kernel arguments are checked for."""
        return SimpleNamespace(c_contiguous=True)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The protocol by which arrays on a GPU are known."""
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (int(self.memory.ptr), False), "version": 3}


def device() -> Device:
    """The GPU at hand."""
    cupy: Any = import_module("cupy")
    runtime, current = cupy.cuda.runtime, cupy.cuda.Device()
    name = runtime.getDeviceProperties(current.id)["name"]
    attributes = runtime.cudaDevAttrL2CacheSize, runtime.cudaDevAttrClockRate  # CUDA 13's properties lack the clock
    l2, kilohertz = (runtime.deviceGetAttribute(attribute, current.id) for attribute in attributes)
    return Device(name.decode(), int(l2), kilohertz / 1000, current.pci_bus_id)


def allocate(shape: tuple[int, ...], dtype: npt.DTypeLike) -> DeviceArray:
    """An array in GPU memory that counts as unwritten: every float of it is a NaN."""
    cupy: Any = import_module("cupy")
    size = np.dtype(dtype).itemsize * prod(shape)
    memory = cupy.cuda.alloc(size)
    memory.memset(0xFF, size)
    return DeviceArray(shape, np.dtype(dtype), memory)


def upload(array: Array) -> DeviceArray:
    """A copy of a contiguous array in GPU memory."""
    copy = allocate(array.shape, array.dtype)
    copy.memory.copy_from_host(c_void_p(array.ctypes.data), array.nbytes)
    return copy


def download(array: DeviceArray) -> Array:
    """A copy of an array in host memory."""
    copy = np.empty(array.shape, array.dtype)
    array.memory.copy_to_host(c_void_p(copy.ctypes.data), copy.nbytes)
    return copy


def free() -> None:
    """Give memory that nobody holds any more back to the GPU, where other libraries can have it."""
    cupy: Any = import_module("cupy")
    cupy.get_default_memory_pool().free_all_blocks()


def ready(kernel: Kernel, grid: Dim3, block: Dim3, args: Sequence[Any], shared: int) -> Callable[[], None]:
    """A launch with its code loaded, its variables sent and its arguments packed: a call only queues it.

    Arrays among ``args`` are of `DeviceArray`; whoever calls keeps them.
    """
    bound = bind(kernel, args, device_arrays=True)
    function, packed = loaded(kernel, shared), values(bound, {})
    return lambda: function(grid, block, packed, shared_mem=shared)


def ready_matmul(*operands: tuple[DeviceArray, tuple[int, ...]]) -> Callable[[], None]:
    """The product a · b → out by cuBLAS, each an array and the shape to see it in: a call only queues it."""
    cupy: Any = import_module("cupy")
    a, b, out = (cupy.ndarray(shape, array.dtype, array.memory) for array, shape in operands)
    return lambda: cupy.matmul(a, b, out=out)


def capture(work: Callable[[], None]) -> Callable[[], None]:
    """What ``work`` queues as one CUDA graph, which a call queues; raises where CUDA or CuPy cannot capture it."""
    cupy: Any = import_module("cupy")
    stream = cupy.cuda.Stream(non_blocking=True)  # the default stream cannot be captured
    with stream:
        stream.begin_capture()
        try:
            work()
        except BaseException:
            with suppress(Exception):  # ending a capture that failed raises, too
                stream.end_capture()
            raise
        graph = stream.end_capture()
    launch: Callable[[], None] = graph.launch  # on the stream that is current then
    return launch
