"""The GPU and the versions that a time depends on, what is missing here, and what the GPU reaches at best."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import import_module
from typing import Any

import numpy as np
from record import machine, version_of

from convlab.errors import CompileError
from convlab.executors import cuda, cuda_queue
from convlab.executors.compile import compile
from convlab.kernels.ladder import method
from convlab.kernels.layers import supported
from convlab.perf.clocks import clock_reader
from convlab.perf.peers import peers
from convlab.perf.stopwatch import sample
from on_gpu.counters import ncu
from on_gpu.sheet import Sheet

__all__ = ["describe", "free", "measure_ceilings"]

GIGABYTE = 1 << 30
SIZE = 8192  # of the matrices, whose product keeps all Tensor Cores busy


def describe(sheet: Sheet, dry: bool) -> None:
    """Fill in the machine, and say of everything that is missing why."""
    sheet.data["machine"] = machine() | ({"gpu": "none: the emulator"} if dry else _gpu())
    for each in peers():
        if each.device == "cuda" and each.available():
            sheet.say("why_not", each.name, each.available())
    if ncu() is None:
        sheet.say("why_not", "ncu", "Nsight Compute is not installed.")
    why = prefer_shipped_ptx()
    if why:
        sheet.say("why_not", "NVRTC", why)
    sheet.save()


def free() -> None:
    """Give all memory back that libraries keep for later: the next one may need it."""
    cuda_queue.free()
    if "torch" in sys.modules:
        sys.modules["torch"].cuda.empty_cache()


def prefer_shipped_ptx() -> str:
    """Read the kernels' signatures from the PTX in the package, where NVRTC is here but its headers are not."""
    record = method("tensor_core")  # needs the most headers
    assert record.plan is not None
    (step,) = record.plan(supported(record)["standard"]).launches
    try:
        compile(step.text(), step.source)
    except CompileError as error:
        os.environ["CONVLAB_HIDE_NVRTC"] = "1"
        return str(error).partition("\n")[0]
    return ""


def _gpu() -> dict[str, Any]:
    cupy: Any = import_module("cupy")
    runtime, device = cupy.cuda.runtime, cuda_queue.device()
    free, total = runtime.memGetInfo()
    multiprocessors = runtime.deviceGetAttribute(runtime.cudaDevAttrMultiProcessorCount, cupy.cuda.Device().id)
    return {
        "gpu": device.name,
        "driver": _driver(),
        "cuda": f"{runtime.runtimeGetVersion()} (the driver has {runtime.driverGetVersion()})",
        "compute capability": cuda.capability(),
        "multiprocessors": multiprocessors,
        "memory": f"{free / GIGABYTE:.1f} of {total / GIGABYTE:.1f} GiB free",
        "L2 bytes": device.l2_bytes,
        "clocks": clock_reader(device)(),
        **{name: version_of(name) for name in ("cupy-cuda13x", "cupy-cuda12x", "torch", "nvidia-cudnn-cu13")},
        "ncu": ncu() or "not installed",
    }


def _driver() -> str:
    """The driver's version, by nvidia-smi."""
    if shutil.which("nvidia-smi") is None:
        return "unknown: there is no nvidia-smi"
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    return (done.stdout or done.stderr).strip().partition("\n")[0]


def measure_ceilings(sheet: Sheet) -> None:
    """A large copy and a large product by cuBLAS: what this GPU reaches today, whatever its data sheet says."""
    cupy: Any = import_module("cupy")
    source, target = (cuda_queue.allocate((GIGABYTE,), "uint8") for _ in range(2))

    def copy(_: int) -> None:
        stream = cupy.cuda.get_current_stream().ptr
        cupy.cuda.runtime.memcpyAsync(target.memory.ptr, source.memory.ptr, GIGABYTE, 3, stream)

    copied = sample(copy, 1, cuda_queue, what="copy")
    sheet.say("ceilings", "copy, GB/s read and written", round(2 * GIGABYTE / copied.milliseconds / 1e6))
    numbers = np.random.default_rng(0).uniform(-1, 1, (SIZE, SIZE))
    for dtype in ("float16", "float32"):
        matrix, shape = cuda_queue.upload(numbers.astype(dtype)), (SIZE, SIZE)
        product = cuda_queue.ready_matmul((matrix, shape), (matrix, shape), (cuda_queue.allocate(shape, dtype), shape))
        multiplied = sample(lambda _, queue=product: queue(), 1, cuda_queue, what="product")
        sheet.say("ceilings", f"cuBLAS {dtype}, TFLOP/s", round(2 * SIZE**3 / multiplied.milliseconds / 1e9, 1))
