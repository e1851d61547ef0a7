"""Queued work on a GPU, against a stand-in for CuPy: memory at addresses, streams that capture, events."""

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

from convlab.executors import cuda_queue
from convlab.executors.compile import compile
from convlab.executors.cuda_queue import Device

SOURCE = """extern "C" __global__ void scale(const float* x, float* y, float by) {
    y[threadIdx.x] = by * x[threadIdx.x];
}"""


class Memory:
    def __init__(self, size: int, address: int) -> None:
        self.ptr, self.bytes = address, np.zeros(size, "u1")

    def memset(self, value, size):
        self.bytes[:size] = value

    def copy_from_host(self, source, size):
        self.bytes[:size] = np.frombuffer(ctypes.string_at(source, size), "u1")

    def copy_to_host(self, target, size):
        ctypes.memmove(target, self.bytes[:size].tobytes(), size)


class Stream:
    """A stream of the stand-in, which takes down what is launched while it captures."""

    def __init__(self, cupy, non_blocking):
        assert non_blocking
        self.cupy, self.graph = cupy, None
        cupy.streams.append(self)

    def __enter__(self):
        self.cupy.current.append(self)

    def __exit__(self, *_):
        self.cupy.current.pop()

    def begin_capture(self):
        self.graph = []

    def end_capture(self):
        graph, self.graph = self.graph, None
        if self.cupy.fails:
            raise RuntimeError("the capture was invalidated")
        return SimpleNamespace(launch=lambda: [work() for work in graph])


class Cupy:
    def __init__(self) -> None:
        self.memory, self.current, self.launches, self.fails, self.freed = [], [], [], False, 0
        self.streams = []
        runtime = SimpleNamespace(
            cudaDevAttrL2CacheSize=38,
            cudaDevAttrClockRate=13,
            getDeviceProperties=lambda number: {"name": b"NVIDIA H200"},
            deviceGetAttribute=lambda attribute, number: {38: 52_428_800, 13: 1_980_000}[attribute],
            eventQuery=lambda event: 0,
        )
        self.cuda = SimpleNamespace(
            alloc=self.alloc,
            runtime=runtime,
            Device=lambda: SimpleNamespace(id=0, pci_bus_id="0000:19:00.0"),
            Stream=lambda non_blocking: Stream(self, non_blocking),
        )
        self.RawModule = lambda code, options: SimpleNamespace(get_function=self.function)

    def alloc(self, size):
        self.memory.append(Memory(size, 0x7F0000000000 + 0x100000 * len(self.memory)))
        return self.memory[-1]

    def do(self, work):
        capturing = self.current and self.current[-1].graph is not None
        self.current[-1].graph.append(work) if capturing else work()

    def function(self, name):
        class Function:
            num_regs = 16

            def __call__(_, grid, block, args, shared_mem):  # noqa: N805
                raw = [arg.tobytes() for arg in args]
                self.do(lambda: self.launches.append((name, grid, block, raw, shared_mem)))

        return Function()

    def ndarray(self, shape, dtype, memory):
        return memory.bytes.view(dtype).reshape(shape)

    def matmul(self, a, b, out):
        self.do(lambda: np.matmul(a, b, out=out))

    def get_default_memory_pool(self):
        def free_all_blocks():
            self.freed += 1

        return SimpleNamespace(free_all_blocks=free_all_blocks)


@pytest.fixture
def cupy(monkeypatch):
    stand_in = Cupy()
    monkeypatch.setitem(sys.modules, "cupy", stand_in)
    return stand_in


def test_a_device_says_name_l2_clock_and_place(cupy):
    assert cuda_queue.device() == Device("NVIDIA H200", 52_428_800, 1980.0, "0000:19:00.0")


@pytest.mark.parametrize("dtype", ["float32", "float16", ml_dtypes.bfloat16])
def test_memory_starts_as_nan_and_arrays_come_back_as_they_went(cupy, dtype):
    assert np.isnan(cuda_queue.download(cuda_queue.allocate((2, 3), dtype)).astype("f4")).all()
    array = np.arange(15).reshape(5, 3).astype(dtype)
    copy = cuda_queue.upload(array)
    assert (copy.shape, copy.dtype) == ((5, 3), np.dtype(dtype))
    back = cuda_queue.download(copy)
    assert back.dtype == array.dtype
    assert (back == array).all()


def test_a_ready_launch_passes_addresses_and_bytes_each_time_it_is_called(cupy):
    kernel = compile(SOURCE, "scale.cu").kernels["scale"]
    x, y = cuda_queue.upload(np.ones(32, "f4")), cuda_queue.allocate((32,), "float32")
    queue = cuda_queue.ready(kernel, (2, 1, 1), (32, 1, 1), [x, y, 2.5], 64)
    assert cupy.launches == []
    queue()
    queue()
    addresses = [array.memory.ptr.to_bytes(8, "little") for array in (x, y)]
    assert cupy.launches == [("scale", (2, 1, 1), (32, 1, 1), [*addresses, np.float32(2.5).tobytes()], 64)] * 2


def test_a_ready_product_sees_its_arrays_in_the_shapes_of_the_step(cupy):
    rng = np.random.default_rng(0)
    a, b = rng.random(6, dtype="f4"), rng.random((2, 3, 5), dtype="f4")
    out = cuda_queue.allocate((20,), "float32")
    cuda_queue.ready_matmul((cuda_queue.upload(a), (2, 3)), (cuda_queue.upload(b), (2, 3, 5)), (out, (2, 2, 5)))()
    np.testing.assert_allclose(cuda_queue.download(out).reshape(2, 2, 5), a.reshape(2, 3) @ b, rtol=1e-6)


def test_a_capture_takes_work_down_and_a_call_does_it(cupy):
    kernel = compile(SOURCE, "scale.cu").kernels["scale"]
    y = cuda_queue.allocate((32,), "float32")
    queue = cuda_queue.ready(kernel, (1, 1, 1), (32, 1, 1), [None, y, 1.0], 0)
    graph = cuda_queue.capture(lambda: [queue() for _ in range(3)] and None)
    assert cupy.launches == []
    assert cupy.current == []
    graph()
    assert len(cupy.launches) == 3


def test_a_capture_that_fails_is_ended_and_says_the_first_reason(cupy):
    def work():
        raise NotImplementedError("no cuBLAS while a stream is captured")

    cupy.fails = True
    with pytest.raises(NotImplementedError, match="no cuBLAS"):
        cuda_queue.capture(work)
    assert cupy.current == []
    assert cupy.streams[0].graph is None


def test_memory_goes_back(cupy):
    cuda_queue.free()
    assert cupy.freed == 1
