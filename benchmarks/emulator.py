"""The emulator against Numba's CUDA simulator: the same naive convolution, in the same run.

The simulator runs each CUDA thread as a Python thread, and is what people use today to run kernels without a GPU.
It gets one filter of the sixteen, since all sixteen take it ten seconds; both are compared by multiply-adds a second.

    uv run python benchmarks/emulator.py [--record]
"""

from __future__ import annotations

import os

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # before Numba is imported; its CPU compiler is not affected

import time
from typing import Any

import numpy as np
from numba import cuda
from record import main, seconds

from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.kernels.ladder import method
from convlab.reference.direct import oracle
from convlab.spec import ConvSpec

SPEC = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1)
PHOTO = ConvSpec(n=1, c=3, h=256, w=256, k=8, r=3, s=3, padding=1)


@cuda.jit
def simulated(x: Any, w: Any, y: Any, pad: int) -> None:
    """naive.cu, line by line, for stride, dilation and groups of one."""
    pixel = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if pixel >= y.shape[2] * y.shape[3]:
        return
    p, q = pixel // y.shape[3], pixel % y.shape[3]
    k, n = cuda.blockIdx.y, cuda.blockIdx.z
    total = np.float32(0)
    for c in range(x.shape[1]):
        for r in range(w.shape[2]):
            for s in range(w.shape[3]):
                h, col = p - pad + r, q - pad + s
                if 0 <= h < x.shape[2] and 0 <= col < x.shape[3]:
                    total += x[n, c, h, col] * w[k, c, r, s]
    y[n, k, p, q] = total


def tensors(spec: ConvSpec) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random input and filters, and an output that nobody wrote."""
    rng = np.random.default_rng(0)
    x, w = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in (spec.input_shape, spec.weight_shape))
    return x, w, np.full(spec.output_shape, np.nan, np.float32)


def check(y: np.ndarray, x: np.ndarray, w: np.ndarray, spec: ConvSpec) -> None:
    """Nothing is timed that is not right."""
    error = np.abs(y - oracle(x, w, None, spec)).max()
    if not error <= 1e-4:
        raise SystemExit(f"wrong by {error}: {spec}")


def emulator_seconds(spec: ConvSpec, observe: bool) -> float:
    """One launch of naive.cu on the emulator."""
    x, w, y = tensors(spec)
    (step,) = method("naive").plan(spec).launches
    kernel = compile(step.text(), step.source).kernels[step.entry]
    arguments = [x, w, None, y, step.arguments[-1]]

    def call() -> None:
        launch(kernel, step.grid, step.block, arguments, device="emulator", observe=observe)

    result = seconds(call)
    check(y, x, w, spec)
    return result


def simulator_seconds(spec: ConvSpec) -> float:
    """One launch on Numba's simulator."""
    x, w, y = tensors(spec)
    start = time.perf_counter()
    simulated[(-(-spec.p * spec.q // 256), spec.k, spec.n), 256](x, w, y, 1)
    result = time.perf_counter() - start
    check(y, x, w, spec)
    return result


def measure() -> dict[str, Any]:
    """Multiply-adds a second of each, and their ratios."""
    one = ConvSpec(n=1, c=16, h=32, w=32, k=1, r=3, s=3, padding=1)
    rates = {
        "emulator with counters": SPEC.macs / emulator_seconds(SPEC, observe=True),
        "emulator without observers": SPEC.macs / emulator_seconds(SPEC, observe=False),
        "Numba's CUDA simulator": one.macs / simulator_seconds(one),
    }
    peer = rates["Numba's CUDA simulator"]
    return {
        "layer": str(SPEC),
        "million MAC per second": {name: round(rate / 1e6, 3) for name, rate in rates.items()},
        "times the simulator": {name: round(rate / peer) for name, rate in rates.items() if rate is not peer},
        "seconds for eight filters over 3×256×256, with counters": round(emulator_seconds(PHOTO, observe=True), 3),
    }


if __name__ == "__main__":
    main("emulator", measure)
