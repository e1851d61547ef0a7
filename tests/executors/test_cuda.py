"""The GPU executor: its marshalling against a stand-in for CuPy everywhere, the real thing where there is a GPU."""

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from convlab.errors import CompileError, KernelFault, LaunchError
from convlab.executors import cuda
from convlab.executors.arguments import bind
from convlab.executors.compile import compile
from convlab.executors.module import load_ptx

SOURCE = """#include "common.cuh"
struct Sizes { int n; double by; };
extern "C" __global__ void scale(const float* x, float* y, Sizes s, int n, const float* none) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * s.by;  // 乘
}
"""
SIZES = np.dtype([("n", "i4"), ("by", "f8")], align=True)


class Memory:
    """A piece of the stand-in's device memory, at an address like a GPU's."""

    def __init__(self, size: int, address: int) -> None:
        self.ptr, self.bytes = address, np.zeros(size, "u1")

    def copy_from_host(self, source, size):
        self.bytes[:] = np.frombuffer(ctypes.string_at(source, size), "u1")

    def copy_to_host(self, target, size):
        ctypes.memmove(target, self.bytes.tobytes(), size)


class Cupy:
    """What the executor uses of CuPy; ``kernel`` stands for the GPU's work, ``error`` for what comes of it."""

    def __init__(self, kernel=lambda cupy, args: None, error=None, waits=2) -> None:
        self.memory, self.modules, self.launches = [], [], []
        self.kernel, self.error, self.waits = kernel, error, waits
        self.cuda = SimpleNamespace(
            alloc=self.alloc,
            Event=lambda: SimpleNamespace(record=lambda: None, synchronize=self.synchronize, ptr=1),
            get_elapsed_time=lambda start, end: 0.25,
            runtime=SimpleNamespace(eventQuery=self.query),
        )

    def alloc(self, size):
        self.memory.append(Memory(size, 0x7F0000000000 + 0x100000 * len(self.memory)))
        return self.memory[-1]

    def query(self, event):
        self.waits -= 1
        return 600 if self.waits >= 0 else 0

    def synchronize(self):
        if self.error:
            raise self.error

    def RawModule(self, code, options):  # noqa: N802 - CuPy's name
        self.modules.append(SimpleNamespace(code=code, options=options))
        return SimpleNamespace(get_function=self.get_function)

    def get_function(self, name):
        outer = self

        class Function:
            num_regs = 16
            max_dynamic_shared_size_bytes = None

            def __call__(self, grid, block, args, shared_mem):
                asked = self.max_dynamic_shared_size_bytes
                outer.launches.append((name, grid, block, [a.tobytes() for a in args], shared_mem, asked))
                assert all(a.size == 1 for a in args)  # CuPy passes such arrays by value
                outer.kernel(outer, [a.tobytes() for a in args])

        return Function()

    def floats(self, address: bytes, count: int) -> np.ndarray:
        at = int.from_bytes(address, "little")
        piece = next(m for m in self.memory if m.ptr <= at < m.ptr + m.bytes.size)
        return piece.bytes[at - piece.ptr :][: 4 * count].view("f4")


def scale(cupy, args):
    """What the kernel of SOURCE does, on the stand-in."""
    sizes, n = np.frombuffer(args[2], SIZES)[0], int.from_bytes(args[3], "little")
    cupy.floats(args[1], n)[:] = cupy.floats(args[0], n) * sizes["by"]


def destroy(cupy, args):
    for memory in cupy.memory:
        memory.bytes[:] = 0


@pytest.fixture(autouse=True)
def _usable(monkeypatch):
    monkeypatch.setattr(cuda, "_lost", [])


def launched(monkeypatch, cupy, kernel, args, grid=(2, 1, 1), block=(32, 1, 1), shared=0):
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    return cuda.launch(kernel, grid, block, bind(kernel, args), shared)


def test_a_launch_copies_arrays_there_and_back_and_passes_exact_bytes(monkeypatch):
    kernel = compile(SOURCE, "scale.cu").kernels["scale"]
    x, y = np.arange(40, dtype="f4"), np.full(40, np.nan, "f4")
    x.flags.writeable = False
    sizes, cupy = np.array((40, 2.5), SIZES)[()], Cupy(scale)
    run = launched(monkeypatch, cupy, kernel, [x, y, sizes, 40, None])
    assert cupy.waits == -1  # it waited until the event had come
    assert (y == 2.5 * np.arange(40)).all()
    assert (run.device, run.milliseconds, run.kernel, run.name) == ("cuda", 0.25, "scale", "scale.cu")
    assert run.grid == (2, 1, 1)
    name, grid, block, args, shared, asked = cupy.launches[0]
    assert (name, grid, block, shared, asked) == ("scale", (2, 1, 1), (32, 1, 1), 0, None)
    assert [len(arg) for arg in args] == [8, 8, 16, 4, 8]
    assert args[2:] == [sizes.tobytes(), (40).to_bytes(4, "little"), bytes(8)]


def test_views_of_one_array_stay_one_memory(monkeypatch):
    kernel = compile(SOURCE, "scale.cu").kernels["scale"]
    whole = np.arange(12, dtype="f4")
    cupy = Cupy(scale)
    launched(monkeypatch, cupy, kernel, [whole[:8], whole[4:], np.array((0, 10.0), SIZES), 4, None])
    assert [memory.bytes.size for memory in cupy.memory] == [48]
    assert whole.tolist() == [0, 1, 2, 3, 0, 10, 20, 30, 8, 9, 10, 11]
    cupy = Cupy()
    launched(monkeypatch, cupy, kernel, [whole, whole[2:4], np.array((0, 10.0), SIZES), 4, None])
    assert [memory.bytes.size for memory in cupy.memory] == [48]


def test_only_what_a_kernel_may_write_comes_back(monkeypatch):
    kernel = compile(SOURCE, "scale.cu").kernels["scale"]
    x, y = np.ones(8, "f4"), np.ones(8, "f4")
    launched(monkeypatch, Cupy(destroy), kernel, [x, y, np.zeros((), SIZES), 8, None])
    assert x.all()
    assert not y.any()


def test_empty_arrays_and_null_pointers_need_no_memory(monkeypatch):
    kernel = compile(SOURCE, "scale.cu").kernels["scale"]
    empty = np.zeros(0, "f4")
    cupy = Cupy()
    launched(monkeypatch, cupy, kernel, [empty, empty, np.zeros((), SIZES), 0, None])
    assert cupy.memory == []
    assert cupy.launches[0][3][0] == bytes(8)


def test_arrays_of_cupy_are_passed_as_they_are(monkeypatch):
    kernel = compile('extern "C" __global__ void f(float* x) { x[0] = 1; }').kernels["f"]
    array = SimpleNamespace(
        dtype=np.dtype("f4"), flags=SimpleNamespace(c_contiguous=True), __cuda_array_interface__={"data": (0x7000, 0)}
    )
    cupy = Cupy()
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    cuda.launch(kernel, (1, 1, 1), (1, 1, 1), bind(kernel, [array], device_arrays=True), 0)
    assert cupy.launches[0][3] == [(0x7000).to_bytes(8, "little")]
    assert cupy.memory == []


def test_dynamic_shared_memory_is_asked_for(monkeypatch):
    kernel = compile('extern "C" __global__ void f() { }').kernels["f"]
    cupy = Cupy()
    launched(monkeypatch, cupy, kernel, [], shared=100_000)
    assert cupy.launches[0][4:] == (100_000, 100_000)


def test_cupy_gets_one_text_without_comments_that_counts_the_learners_lines(monkeypatch):
    module = compile(SOURCE, "scale.cu", options=["-DA=1"])
    cupy = Cupy()
    for _ in range(2):
        launched(monkeypatch, cupy, module.kernels["scale"], [None, None, np.zeros((), SIZES), 0, None])
    (given,) = cupy.modules
    assert given.options == ("--std=c++17", "-lineinfo", "-DA=1")
    assert given.code.startswith('#line 1 "scale.cu"\n#line 1 "common.cuh"\n')
    assert "struct Conv : ConvSizes {" in given.code
    assert given.code.isascii()
    # NVRTC itself agrees that the text is whole, and where its lines are.
    again = compile(given.code, "given.cu")
    assert {str(i.place) for i in again.kernels["scale"].program_entry.instructions} <= {
        f"scale.cu:{line}" for line in (3, 4, 5, 6)
    }


def test_modules_with_variables_of_their_own_do_not_share_them():
    source = "__device__ int counter;\n__global__ void f(int* x) { *x = counter++; }"
    first, second = (cuda.source_for_cupy(compile(source), number) for number in (1, 2))
    assert first != second
    assert compile(first).kernels["f"]
    plain = 'extern "C" __global__ void f(int* x) { *x = 1; }'
    assert cuda.source_for_cupy(compile(plain), 1) == cuda.source_for_cupy(compile(plain), 2)


def test_variables_that_were_written_go_to_the_gpu_once(monkeypatch):
    module = compile('__constant__ float w[3]; extern "C" __global__ void f(float* x) { *x = w[1]; }', "w.cu")
    module.write("w", np.array([1, 2, 3], "f4"))
    cupy, sent = Cupy(), []
    globals_ = SimpleNamespace(copy_from_host=lambda source, size: sent.append(ctypes.string_at(source, size)))
    module_of = cupy.RawModule

    def raw_module(code, options):
        loaded = module_of(code, options)
        loaded.get_global = lambda name: sent.append(name) or globals_
        return loaded

    cupy.RawModule = raw_module
    for _ in range(2):
        launched(monkeypatch, cupy, module.kernels["f"], [np.zeros(1, "f4")])
    assert sent == ["w", np.array([1, 2, 3], "f4").tobytes()]


CONTEXT = "  In: f(float* x), grid=(2, 1, 1), block=(32, 1, 1)"
REFUSALS = [
    ("cudaErrorInvalidValue: invalid argument", "ask for less shared memory, or for a smaller block"),
    (
        "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources requested for launch",
        "use a smaller block: its threads need more registers than the GPU has for one block",
    ),
    ("Out of memory allocating 9,000 bytes", "use smaller arrays, or free other programs' memory on the GPU"),
    (
        "CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image is available",
        "update the GPU's driver, or use device='emulator'",
    ),
    ("something new", "use device='emulator'"),
]


@pytest.mark.parametrize(("said", "fix"), REFUSALS)
def test_a_refused_launch_says_what_to_do(monkeypatch, said, fix):
    kernel = compile('extern "C" __global__ void f(float* x) { }').kernels["f"]
    with pytest.raises(LaunchError) as caught:
        launched(monkeypatch, Cupy(error=RuntimeError(said)), kernel, [None])
    assert str(caught.value) == f"The GPU refused the launch: {said}\n{CONTEXT}\n  Fix: {fix}."
    launched(monkeypatch, Cupy(), kernel, [None])


RESTART = "  Fix: restart the notebook's kernel; device='emulator' finds the line of CUDA C that did it."


@pytest.mark.parametrize(
    ("said", "deed"),
    [
        ("cudaErrorIllegalAddress: an illegal memory access was encountered", "read or wrote outside of its arrays"),
        ("CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access", "read or wrote outside of its arrays"),
        (
            "cudaErrorMisalignedAddress: misaligned address",
            "used an address that is not a multiple of the access's size",
        ),
        ("cudaErrorAssert: device-side assert triggered", "failed an assert"),
        ("cudaErrorIllegalInstruction: an illegal instruction", "executed a trap or an illegal instruction"),
        ("cudaErrorLaunchTimeout: the launch timed out", "ran longer than the display's watchdog allows"),
        ("CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure", "crashed"),
    ],
)
def test_a_crash_names_the_deed_and_the_gpu_is_lost_until_a_restart(monkeypatch, said, deed):
    kernel = compile('extern "C" __global__ void f(float* x) { x[0] = 1; }').kernels["f"]
    x = np.ones(4, "f4")
    with pytest.raises(KernelFault) as caught:
        launched(monkeypatch, Cupy(destroy, RuntimeError(said)), kernel, [x])
    assert str(caught.value) == f"On the GPU, f {deed} ({said}).\n{CONTEXT}\n{RESTART}"
    assert caught.value.run.device == "cuda"
    assert x.all()
    with pytest.raises(LaunchError) as refused:
        launched(monkeypatch, Cupy(), kernel, [x])
    assert str(refused.value) == f"The GPU cannot be used any more: f {deed}.\n{RESTART}"


def test_a_source_that_this_gpu_does_not_take_is_a_compile_error(monkeypatch):
    kernel = compile('extern "C" __global__ void f() {\n    asm("");\n}', "mine.cu").kernels["f"]
    error = type("CompileException", (Exception,), {})('mine.cu(2): error: no such thing\n      asm("");\n      ^\n')
    with pytest.raises(CompileError) as caught:
        launched(monkeypatch, Cupy(error=error), kernel, [])
    assert str(caught.value) == 'For this GPU, mine.cu:2:5: no such thing\n  2 |     asm("");\n    |     ^'


def test_ptx_alone_runs_on_the_emulator_only(monkeypatch):
    kernel = load_ptx(compile('extern "C" __global__ void f() { }').ptx, "f.ptx").kernels["f"]
    with pytest.raises(LaunchError) as caught:
        launched(monkeypatch, Cupy(), kernel, [])
    assert str(caught.value) == (
        "f.ptx is PTX without CUDA C, which only the emulator runs.\n  Fix: pass device='emulator'."
    )


def interrupt(event):
    raise KeyboardInterrupt


def test_waiting_for_a_kernel_can_be_interrupted(monkeypatch):
    kernel = compile('extern "C" __global__ void f() { }').kernels["f"]
    cupy = Cupy()
    cupy.cuda.runtime.eventQuery = interrupt
    with pytest.raises(KeyboardInterrupt):
        launched(monkeypatch, cupy, kernel, [])


class Broken:
    @staticmethod
    def is_available():
        raise RuntimeError("libcuda.so: cannot open\nmore")


@pytest.mark.parametrize(
    ("spec", "module", "reason"),
    [
        (None, None, "CuPy is not installed (the package's extra `gpu` installs it)."),
        (
            "cupy",
            SimpleNamespace(is_available=lambda: False),
            "CuPy finds no NVIDIA GPU, or its driver is too old.",
        ),
        ("cupy", Broken, "CuPy cannot be used: libcuda.so: cannot open."),
        ("cupy", SimpleNamespace(is_available=lambda: True), ""),
    ],
)
def test_the_reason_why_there_is_no_gpu(monkeypatch, spec, module, reason):
    monkeypatch.setattr(cuda, "find_spec", lambda name: spec)
    monkeypatch.setitem(sys.modules, "cupy", module)
    cuda.why_not.cache_clear()
    try:
        assert (cuda.why_not(), cuda.available()) == (reason, not reason)
    finally:
        cuda.why_not.cache_clear()


needs_gpu = pytest.mark.skipif(not cuda.available(), reason=cuda.why_not() or "there is a GPU")


@pytest.mark.gpu
@needs_gpu
def test_a_kernel_runs_on_a_real_gpu():
    kernel = compile(SOURCE, "scale.cu").kernels["scale"]
    x = np.random.default_rng(0).random(1000, "f4")
    y = np.full(1000, np.nan, "f4")
    bound = bind(kernel, [x, y, np.array((1000, 2.5), SIZES)[()], 1000, None])
    run = cuda.launch(kernel, (4, 1, 1), (256, 1, 1), bound, 0)
    np.testing.assert_allclose(y, x * 2.5, rtol=1e-6)
    assert run.milliseconds is not None
    assert run.milliseconds > 0


@pytest.mark.gpu
@needs_gpu
def test_tensor_cores_and_variables_work_on_a_real_gpu():
    source = """#include <mma.h>
    using namespace nvcuda;
    __device__ int launches;
    extern "C" __global__ void tile(const half* a, const half* b, float* c, int* count) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
        wmma::fill_fragment(fc, 0.0f);
        wmma::load_matrix_sync(fa, a, 16);
        wmma::load_matrix_sync(fb, b, 16);
        wmma::mma_sync(fc, fa, fb, fc);
        wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
        if (threadIdx.x == 0) *count = ++launches;
    }"""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((16, 16)).astype("f2") for _ in range(2))
    c, count = np.zeros((16, 16), "f4"), np.zeros(1, "i4")
    for _ in range(2):  # each module has its own variable
        kernel = compile(source, "tile.cu").kernels["tile"]
        for expected in (1, 2):
            cuda.launch(kernel, (1, 1, 1), (32, 1, 1), bind(kernel, [a, b, c, count]), 0)
            assert count[0] == expected
    np.testing.assert_allclose(c, a.astype("f8") @ b.astype("f8"), rtol=1e-3, atol=1e-3)
