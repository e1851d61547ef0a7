"""A real GPU as an executor, through CuPy: arrays to the device, launch, time, arrays back.

CuPy compiles the source itself, for the GPU at hand and with the NVRTC that its driver accepts: PTX made by the newest
NVRTC does not load on an older driver. CuPy adds ``-ftz=true``: denormal floats count as zero there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import c_void_p
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from convlab.emulator.names import readable
from convlab.errors import CompileError, ConvlabError, KernelFault, LaunchError
from convlab.executors.arguments import Bound
from convlab.executors.diagnostics import compile_error
from convlab.executors.headers import flatten
from convlab.executors.module import Kernel, Module
from convlab.executors.run import Run
from convlab.executors.shape import Dim3
from convlab.executors.signature import without_comments

__all__ = [
    "available",
    "between",
    "capability",
    "in_words",
    "launch",
    "loaded",
    "mark",
    "matmul",
    "on_device",
    "values",
    "wait",
    "why_not",
    "words",
]

Span = tuple[int, int]

_modules = count(1)
_loaded: WeakKeyDictionary[Module, Any] = WeakKeyDictionary()
_lost: list[str] = []  # what made the GPU's context unusable: nothing runs on it any more in this process
_POLL_S = 0.0005
_NOT_READY = 600  # cudaErrorNotReady; Event.done would not tell an error from waiting


def available() -> bool:
    """Whether kernels can run on a GPU here."""
    return not why_not()


@lru_cache(maxsize=1)
def why_not() -> str:
    """Why kernels cannot run on a GPU here, as a sentence; empty where they can."""
    if find_spec("cupy") is None:
        return "CuPy is not installed (the package's extra `gpu` installs it)."
    try:
        cupy = import_module("cupy")
        found = bool(cupy.is_available())
    except Exception as error:  # a broken driver or wheel must not break the course
        return f"CuPy cannot be used: {str(error).partition(chr(10))[0]}."
    return "" if found else "CuPy finds no NVIDIA GPU, or its driver is too old."


def launch(kernel: Kernel, grid: Dim3, block: Dim3, bound: Sequence[Bound], shared: int) -> Run:
    """Execute a kernel on the GPU; ``milliseconds`` of the run is the kernel alone, by CUDA events.

    Args:
        kernel: the kernel.
        grid, block: x, y, z.
        bound: its checked arguments; NumPy arrays are copied to the GPU and back, CuPy arrays used in place.
        shared: bytes of dynamic shared memory for each block.

    Raises:
        LaunchError: the GPU does not take the launch.
        KernelFault: the kernel crashed; the GPU can then be used again only by a new process.
        CompileError: the source does not compile for this GPU.
    """
    cupy: Any = import_module("cupy")
    run = Run(kernel.name, "cuda", grid, block, source=kernel.module.source, name=kernel.module.name)
    with in_words(kernel, run):
        function = loaded(kernel, shared)
        with _OnDevice(cupy, bound) as addresses:
            packed = values(bound, addresses)
            elapsed = _timed(lambda: function(grid, block, packed, shared_mem=shared))
    return replace(run, milliseconds=elapsed)


@contextmanager
def in_words(kernel: Kernel, run: Run) -> Iterator[None]:
    """Give what CuPy, driver and runtime raise about a kernel as an error of ours; refuse a GPU that is lost."""
    if _lost:
        raise LaunchError(f"The GPU cannot be used any more: {_lost[0]}\n{_RESTART}")
    try:
        yield
    except ConvlabError:
        raise
    except Exception as error:
        raise translated(error, kernel, run) from error


def _timed(work: Callable[[], None]) -> float:
    """Milliseconds that work takes on the GPU, from its first launch to the end of its last."""
    start = mark()
    work()
    end = mark()
    wait(end)
    return between(start, end)


def mark() -> Any:
    """A moment on the GPU: when all that was queued until now is done."""
    cupy: Any = import_module("cupy")
    event = cupy.cuda.Event()
    event.record()
    return event


def wait(event: Any) -> None:
    """Wait in Python, where Ctrl-C is heard, for a moment on the GPU; raises what went wrong until then."""
    cupy: Any = import_module("cupy")
    while cupy.cuda.runtime.eventQuery(event.ptr) == _NOT_READY:
        time.sleep(_POLL_S)
    event.synchronize()


def between(start: Any, end: Any) -> float:
    """Milliseconds from one moment to another, both of which have come."""
    cupy: Any = import_module("cupy")
    return float(cupy.cuda.get_elapsed_time(start, end))


def loaded(kernel: Kernel, shared: int) -> Any:
    """The kernel on the GPU, with its variables sent and its shared memory granted, before it is timed."""
    cupy: Any = import_module("cupy")
    module = kernel.module
    if not module.source:
        raise LaunchError(
            f"{module.name} is PTX without CUDA C, which only the emulator runs.\n  Fix: pass device='emulator'."
        )
    if module not in _loaded:
        code = source_for_cupy(module, next(_modules))
        _loaded[module] = cupy.RawModule(code=code, options=("--std=c++17", "-lineinfo", *module.options))
    _send_variables(_loaded[module], module)
    function = _loaded[module].get_function(kernel.entry)
    if shared:
        function.max_dynamic_shared_size_bytes = shared
    _ = function.num_regs  # asking for an attribute loads the code
    return function


def _send_variables(loaded: Any, module: Module) -> None:
    """Give the GPU what `Module.write` put into variables since the last launch."""
    for variable in module.program.in_global_memory():
        name = readable(variable.name)
        if name in module.written:
            pointer = variable.data.ctypes.data_as(c_void_p)
            loaded.get_global(variable.name).copy_from_host(pointer, variable.data.nbytes)
            module.written.discard(name)


@contextmanager
def on_device(
    tensors: Mapping[str, Any], scratch: Mapping[str, tuple[tuple[int, ...], str]], written: str = "y"
) -> Iterator[dict[str, Any]]:
    """Tensors in GPU memory for the length of a ``with``: what came from NumPy is copied there.

    Only ``written`` is copied back. Scratch arrays, name → (shape, dtype), are made there, and nobody copies them:
    im2col's matrix may have gigabytes. Raises ``LaunchError`` where the GPU has no room.
    """
    cupy: Any = import_module("cupy")
    host = {name: array for name, array in tensors.items() if isinstance(array, np.ndarray)}
    with words("move the tensors to the GPU"):
        moved = {name: cupy.asarray(np.asarray(array)) for name, array in host.items()}
        made = {name: cupy.empty(shape, dtype) for name, (shape, dtype) in scratch.items()}
    yield {**tensors, **moved, **made}
    if written in host:
        with words("copy the result from the GPU"):
            host[written][...] = cupy.asnumpy(moved[written])


def matmul(a: Any, b: Any, out: Any) -> Run:
    """Multiply CuPy matrices with cuBLAS, and say how long it took."""
    cupy: Any = import_module("cupy")
    with words("multiply matrices with cuBLAS"):
        elapsed = _timed(lambda: cupy.matmul(a, b, out=out))
    return Run("cuBLAS", "cuda", (1, 1, 1), (1, 1, 1), milliseconds=elapsed)


def capability() -> int:
    """The compute capability of the GPU at hand, ten times: 75 for a T4, 90 for an H100."""
    return int(import_module("cupy").cuda.Device().compute_capability)


@contextmanager
def words(deed: str) -> Iterator[None]:
    """Say what could not be done, and the way out, where CuPy or CUDA raise an error of their own."""
    try:
        yield
    except ConvlabError:
        raise
    except Exception as error:
        raise LaunchError(f"The GPU could not {deed}: {error}\n  Fix: {_way_out(str(error))}.") from error


def source_for_cupy(module: Module, number: int) -> str:
    """The module's CUDA C as CuPy is to compile it.

    CuPy's caches know a program by its text alone. So headers of the course are pasted in; and a module with
    variables of its own gets its number written below, since two modules must not share them. Comments go, because
    CuPy writes the text to a file in the encoding of the machine.
    """
    text = without_comments(flatten(module.source, module.name, for_cupy=True))
    head = f'#line 1 "{module.name}"\n'
    return f"{head}{text}\n// module {number}\n" if module.program.variables else head + text


def spans(bound: Sequence[Bound]) -> list[Span]:
    """The pieces of host memory that the NumPy arguments cover, from address to address; overlapping ones merged.

    Two views of one array must stay one memory on the GPU too.
    """
    pieces = sorted(_piece(each.array) for each in bound if isinstance(each.array, np.ndarray))
    merged: list[Span] = []
    for start, end in pieces:
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        elif end > start:
            merged.append((start, end))
    return merged


def _piece(array: np.ndarray[Any, Any]) -> Span:
    return array.ctypes.data, array.ctypes.data + array.nbytes


def values(bound: Sequence[Bound], addresses: dict[Span, int]) -> tuple[np.ndarray[Any, Any], ...]:
    """What CuPy is to pass: each argument's exact bytes, as an array of one element, which goes by value.

    Args:
        bound: the arguments.
        addresses: where each of the `spans` lies on the GPU.
    """
    raw = [each.data if each.data is not None else _address(each.array, addresses) for each in bound]
    return tuple(np.frombuffer(data, dtype=f"V{len(data)}") for data in raw)


def _address(array: Any, addresses: dict[Span, int]) -> bytes:
    """A pointer's eight bytes."""
    address = 0
    if isinstance(array, np.ndarray):
        start = array.ctypes.data
        address = next((at + start - low for (low, high), at in addresses.items() if low <= start < high), 0)
    elif array is not None:
        address = array.__cuda_array_interface__["data"][0]
    return int(address).to_bytes(8, "little")


class _OnDevice:
    """NumPy arguments in GPU memory for the length of a ``with``, and back in host memory after it."""

    def __init__(self, cupy: Any, bound: Sequence[Bound]) -> None:
        self._memory = {span: cupy.cuda.alloc(span[1] - span[0]) for span in spans(bound)}
        writable = [_piece(each.array) for each in bound if _written(each)]
        self._back = [span for span in self._memory if any(span[0] <= low < span[1] for low, _ in writable)]

    def __enter__(self) -> dict[Span, int]:
        for (start, end), memory in self._memory.items():
            memory.copy_from_host(c_void_p(start), end - start)
        return {span: memory.ptr for span, memory in self._memory.items()}

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is None:
            for start, end in self._back:
                self._memory[start, end].copy_to_host(c_void_p(start), end - start)


def _written(bound: Bound) -> bool:
    return isinstance(bound.array, np.ndarray) and not bound.parameter.const


_RESTART = "  Fix: restart the notebook's kernel; device='emulator' finds the line of CUDA C that did it."

# A part of CUDA's error, in small letters without gaps, and what the kernel did. The runtime and the driver spell
# it differently: cudaErrorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS. After these nothing can run any more.
_CRASHES = {
    "illegaladdress": "read or wrote outside of its arrays",
    "misalignedaddress": "used an address that is not a multiple of the access's size",
    "errorassert": "failed an assert",
    "illegalinstruction": "executed a trap or an illegal instruction",
    "launchtimeout": "ran longer than the display's watchdog allows",
    "launchfail": "crashed",
}

# The same for what leaves the GPU usable, and the way out.
_REFUSALS = {
    "outofresources": "use a smaller block: its threads need more registers than the GPU has for one block",
    "invalidvalue": "ask for less shared memory, or for a smaller block",
    "invalidconfiguration": "ask for less shared memory, or for a smaller block",
    "nobinaryforgpu": "update the GPU's driver, or use device='emulator'",
    "unsupportedptxversion": "update the GPU's driver, or use device='emulator'",
    "outofmemory": "use smaller arrays, or free other programs' memory on the GPU",
}


def translated(error: Exception, kernel: Kernel, run: Run) -> ConvlabError:
    """CuPy's or CUDA's exception as one of ours: fact, context, fix."""
    said = str(error).strip()
    if type(error).__name__ == "CompileException":
        return _uncompiled(said, kernel)
    context = f"  In: {kernel.signature}, grid={run.grid}, block={run.block}"
    squeezed = _squeezed(said)
    for part, deed in _CRASHES.items():
        if part in squeezed:
            _lost.append(f"{kernel.name} {deed}.")
            return KernelFault(f"On the GPU, {kernel.name} {deed} ({said}).\n{context}\n{_RESTART}", run)
    return LaunchError(f"The GPU refused the launch: {said}\n{context}\n  Fix: {_way_out(said)}.")


def _squeezed(said: str) -> str:
    return said.lower().replace("_", "").replace(" ", "")


def _way_out(said: str) -> str:
    return next((fix for part, fix in _REFUSALS.items() if part in _squeezed(said)), "use device='emulator'")


def _uncompiled(log: str, kernel: Kernel) -> CompileError:
    """The source compiled for the PTX's architecture, but not for this GPU."""
    module = kernel.module
    error = compile_error(log, module.source, module.name)
    return CompileError(f"For this GPU, {error}", name=error.name, line=error.line)
