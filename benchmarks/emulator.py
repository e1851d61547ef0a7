"""The emulator, with and without observers, and Numba's CUDA simulator where it can: the same kernels, in one run.

The simulator runs each CUDA thread as a Python thread, and is what people use today to run kernels without a GPU.
It gets a part of the work, since all of it takes it minutes; both are compared by multiply-adds a second. Both keep one
core busy, so all times are processor time: what else the machine does at the moment does not count.

    uv run python benchmarks/emulator.py [--record]
"""

from __future__ import annotations

import os

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # before Numba is imported; its CPU compiler is not affected

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import simulated
from record import main
from shares import shares

from convlab.emulator import Buffer, Result, machine, run
from convlab.emulator.observers.counters import Counter
from convlab.executors.arguments import bind
from convlab.executors.compile import compile
from convlab.executors.empty import empty
from convlab.executors.launch import launch
from convlab.executors.module import Kernel
from convlab.executors.run import Run
from convlab.executors.shape import block_shape, grid_shape
from convlab.kernels.ladder import method
from convlab.reference.direct import oracle
from convlab.spec import ConvSpec

PROGRAMS = Path(__file__).parents[1] / "tests" / "programs"
SPEC = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1)
RESNET = ConvSpec(n=1, c=64, h=56, w=56, k=64, r=3, s=3, padding=1)
PHOTO = ConvSpec(n=1, c=3, h=256, w=256, k=8, r=3, s=3, padding=1)
LIMIT = 6  # seconds for RESNET

BY_CHUNK = "million MAC per second of that layer, by lanes in a chunk (few: Python limits it, many: caches)"
MODES = ("no observers", "counters", "counters and sanitizer")


@dataclass(frozen=True)
class Work:
    """A kernel with its launch and arguments, the result that it must have, and its multiply-adds."""

    what: str
    kernel: Kernel
    grid: Any
    block: Any
    arguments: list[Any]
    output: np.ndarray
    expected: np.ndarray
    macs: int

    def call(self, mode: str) -> Result | Run:
        """One launch on the emulator."""
        if mode == "counters":  # alone: the executors take all observers or none
            bound = bind(self.kernel, self.arguments, device_arrays=False)
            arguments = [each.data if each.array is None else Buffer(each.parameter.name, each.array) for each in bound]
            shape = grid_shape(self.grid), block_shape(self.block)
            return run(self.kernel.program_entry, *shape, arguments, observe=False, observers=[Counter()])
        observe = mode != "no observers"
        return launch(self.kernel, self.grid, self.block, self.arguments, device="emulator", observe=observe)

    def check(self) -> None:
        """Nothing is timed that is not right."""
        error = np.abs(self.output - self.expected).max()
        if not error <= 1e-3:
            raise SystemExit(f"{self.what} is wrong by {error}.")

    def seconds(self, mode: str, repeats: int = 7) -> float:
        """The median processor time of a launch, after one to warm up."""
        self.call(mode)
        times = [processor_seconds(lambda: self.call(mode)) for _ in range(repeats)]
        self.check()
        return statistics.median(times)


def processor_seconds(call: Callable[[], Any]) -> float:
    """The time that a call keeps processors busy."""
    start = time.process_time()
    call()
    return time.process_time() - start


def convolution(spec: ConvSpec) -> Work:
    """naive.cu on random input and filters."""
    rng = np.random.default_rng(0)
    x, w = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in (spec.input_shape, spec.weight_shape))
    y = empty(spec.output_shape)
    (step,) = method("naive").plan(spec).launches
    kernel = compile(step.text(), step.source).kernels[step.entry]
    arguments = [x, w, None, y, step.arguments[-1]]
    expected = oracle(x, w, None, spec)
    return Work(f"naive convolution, {spec}", kernel, step.grid, step.block, arguments, y, expected, spec.macs)


def product(what: str, file: str, entry: str, dtype: str, grid: Any, block: Any, size: int) -> Work:
    """A matrix product of one of the test programs."""
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(-1, 1, (size, size)).astype(dtype) for _ in range(2))
    c = empty((size, size))
    kernel = compile((PROGRAMS / file).read_text(encoding="utf-8"), file).kernels[entry]
    expected = a.astype(np.float64) @ b.astype(np.float64)
    arguments = [a, b, c, size, size, size]
    return Work(f"{what}, {size}×{size}×{size}", kernel, grid, block, arguments, c, expected, size**3)


def simulate_naive() -> float:
    """Multiply-adds a second of one of the sixteen filters."""
    one = ConvSpec(n=1, c=16, h=32, w=32, k=1, r=3, s=3, padding=1)
    work = convolution(one)
    x, w, _, y, _ = work.arguments
    return _rate(work, lambda: simulated.naive[(-(-one.p * one.q // 256), one.k, one.n), 256](x, w, y, 1))


def simulate_tiled() -> float:
    """Multiply-adds a second of four tiles, two deep."""
    size, tile = 2 * simulated.TILE, (simulated.TILE, simulated.TILE)
    work = product("tiled matmul", "matmul.cu", "matmul_tiled", "f4", (2, 2), tile, size)
    a, b, c, *_ = work.arguments
    return _rate(work, lambda: simulated.matmul_tiled[(2, 2), tile](a, b, c))


def _rate(work: Work, call: Callable[[], Any]) -> float:
    rate = work.macs / processor_seconds(call)
    work.check()
    return rate


KERNELS: dict[str, tuple[Callable[[], Work], Callable[[], float] | None]] = {
    "naive": (lambda: convolution(SPEC), simulate_naive),
    "tiled": (
        lambda: product("tiled matmul", "matmul.cu", "matmul_tiled", "f4", (8, 8), (16, 16), 128),
        simulate_tiled,
    ),
    "Tensor Cores": (
        lambda: product("WMMA matmul", "wmma_matmul.cu", "multiply_f32", "f2", 64, 128, 256),
        None,
    ),
}


def measure_kernel(work: Work, simulate: Callable[[], float] | None) -> dict[str, Any]:
    """Rates in each mode, how they compare with the simulator's, and where the time goes."""
    threads = work.call("counters and sanitizer").counters.thread_instructions
    times = {mode: work.seconds(mode) for mode in MODES}
    peer = simulate() if simulate else None
    parts = {mode: shares(lambda mode=mode: work.call(mode)) for mode in MODES}
    return {
        "what": work.what,
        "million thread-instructions per second": {m: round(threads / t / 1e6) for m, t in times.items()},
        "million MAC per second": {m: round(work.macs / t / 1e6, 1) for m, t in times.items()},
        "simulator, million MAC per second": round(peer / 1e6, 3) if peer else "cannot run it: it has no Tensor Cores",
        "times the simulator": {m: round(work.macs / t / peer) for m, t in times.items()} if peer else "no peer",
        "percent of the time": parts,
        "limit": {mode: _limit(part) for mode, part in parts.items()},
    }


def _limit(part: dict[str, int]) -> str:
    """The largest shares, in a sentence."""
    largest = ", ".join(f"{percent} % {group}" for group, percent in list(part.items())[:3])
    return f"one thread, busy with {largest}"


def measure_chunks() -> dict[str, float]:
    """The rate of the naive convolution by how many lanes go at a time: do their registers fit a cache?"""
    work, usual, rates = convolution(RESNET), machine.CHUNK, {}
    for lanes in (1024, 4096, 16384, 65536, 262144):
        machine.CHUNK = lanes
        rates[f"{lanes:,} lanes"] = round(work.macs / work.seconds("no observers", 1) / 1e6, 1)
    machine.CHUNK = usual
    return rates


def measure() -> dict[str, Any]:
    """All kernels, then single figures."""
    return {
        **{name: measure_kernel(make(), simulate) for name, (make, simulate) in KERNELS.items()},
        f"seconds for a ResNet layer, {RESNET}": {
            **{mode: round(convolution(RESNET).seconds(mode, 1), 2) for mode in MODES},
            "limit without observers": LIMIT,
        },
        BY_CHUNK: measure_chunks(),
        "seconds for eight filters over 3×256×256, with counters": round(convolution(PHOTO).seconds("counters"), 3),
    }


if __name__ == "__main__":
    main("emulator", measure)
