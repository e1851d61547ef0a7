"""One verb for both executors: check the launch, choose the device, run, and raise what went wrong."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from convlab.emulator.faults import summary
from convlab.emulator.launch import MOST_SHARED
from convlab.emulator.observers.cache import CacheSizes
from convlab.errors import ArgumentError, KernelFault, KernelWarning, LaunchError
from convlab.executors import cuda, emulated
from convlab.executors.arguments import Bound, bind
from convlab.executors.module import Kernel, Module
from convlab.executors.options import options
from convlab.executors.run import Run
from convlab.executors.shape import Dim, Dim3, block_shape, grid_shape

__all__ = ["choose", "launch", "report"]

DEVICES = ("auto", "cuda", "emulator")


def launch(
    kernel: Kernel,
    grid: Dim,
    block: Dim,
    args: Sequence[Any],
    shared: int = 0,
    device: str = "auto",
    observe: bool = True,
    faults: str = "raise",
    budget: int | None = None,
    axes: Mapping[str, str] | None = None,
    seed: int | None = None,
    trace: tuple[int | None, int | None] | None = None,
    sample: int | None = None,
    caches: CacheSizes | bool = False,
    observers: Sequence[Any] = (),
) -> Run:
    """Run a kernel on a grid of blocks; arrays given for pointers are updated in place.

    >>> import numpy as np
    >>> from convlab.executors.compile import compile
    >>> source = 'extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2.0f; }'
    >>> x = np.arange(4, dtype=np.float32)
    >>> run = launch(compile(source).kernels["twice"], grid=1, block=4, args=[x], device="emulator")
    >>> x, run.counters.requests_global_load
    (array([0., 2., 4., 6.], dtype=float32), 1)

    Args:
        kernel: one of a module's kernels.
        grid: blocks along x, y, z: an int or a tuple of one to three.
        block: threads of a block along x, y, z: an int or a tuple of one to three.
        args: one for each parameter: NumPy arrays or ``None`` for pointers, numbers for scalars.
        shared: bytes of dynamic shared memory for each block.
        device: "auto" (a GPU where there is one), "cuda" or "emulator".
        observe: count, and look for races in shared memory and for unwritten memory (on the emulator).
        faults: "raise" (milder ones only warn), or "record" to get the run back with its faults.
        budget: instructions after which a launch counts as an endless loop (on the emulator).
        axes: names of the axes of arrays, such as ``{"x": "nchw"}``: faults then name tensor indices.
        seed: let chance decide which warps go first, to show what a race does (on the emulator).
        trace: (block, warp) whose steps ``run.trace`` shall hold, by their linear numbers (on the emulator); None
            stands for all blocks, or all warps, and ``run.traces`` holds one trace for each.
        sample: run only so many blocks and scale the counters; the outputs are then incomplete (on the emulator).
        caches: also model L1, L2 and DRAM, of an A100 or of the sizes given; ``run.traffic`` (on the emulator).
        observers: further ones that shall see what the launch does; docs/emulator.md has an example (on the emulator).

    Raises:
        ArgumentError: an argument does not fit the kernel's signature.
        LaunchError: no such grid, block or device.
        UnsupportedInstruction: the emulator lacks an instruction of the kernel.
        KernelFault: the kernel did something wrong; its ``.run`` holds everything.
    """
    if not isinstance(kernel, Kernel):
        name = next(iter(kernel.kernels), "") if isinstance(kernel, Module) else ""
        fix = f".kernels[{name!r}] of it" if name else "one of a module's kernels"
        raise ArgumentError(f"launch takes a kernel, but got {type(kernel).__name__}.\n  Fix: pass {fix}.")
    if faults not in ("raise", "record"):
        raise LaunchError(f"faults={faults!r} is neither 'raise' nor 'record'.")
    grid3, block3 = grid_shape(grid), block_shape(block)
    _check_lists(args, axes)
    _check_block(kernel, block3, shared)
    asked = options(grid3, block3, observe, budget, seed, trace, sample, caches, observers)
    chosen = choose(device)
    bound = bind(kernel, args, device_arrays=chosen == "cuda")
    axes = axes or {}
    _check_axes(bound, axes)
    if chosen == "cuda":
        return cuda.launch(kernel, grid3, block3, bound, shared)
    run = emulated.launch(kernel, grid3, block3, bound, shared, axes, asked)
    if faults == "raise":
        report(run, kernel)
    return run


def report(run: Run, kernel: Kernel) -> None:
    """Raise ``KernelFault`` for the errors that a run found; of milder faults only warn."""
    errors = [fault for fault in run.faults if fault.severity == "error"]
    if errors:
        raise KernelFault(f"{kernel.signature}\n{summary(errors)}", run)
    if run.faults:
        warnings.warn(f"{kernel.signature}\n{summary(run.faults)}", KernelWarning, stacklevel=3)


def choose(device: str) -> str:
    """The executor that a device name stands for: "cuda" or "emulator"."""
    if device not in DEVICES:
        raise LaunchError(f"device={device!r} is none of {', '.join(map(repr, DEVICES))}.")
    if device == "cuda" and not cuda.available():
        raise LaunchError(f"device='cuda' is not to be had here: {cuda.why_not()} Use device='emulator'.")
    if device == "auto":
        return "cuda" if cuda.available() else "emulator"
    return device


def _check_lists(args: Any, axes: Any) -> None:
    """What would fail later, with a message that names something else."""
    if not isinstance(args, list | tuple):
        raise ArgumentError(f"args is {type(args).__name__}, not a list of arguments.\n  Fix: pass args=[…].")
    if axes is not None and not isinstance(axes, Mapping):
        raise ArgumentError(f"axes={axes!r} is no mapping of names.\n  Fix: write it as axes={{'x': 'nchw'}}.")


def _check_block(kernel: Kernel, block: Dim3, shared: Any) -> None:
    """What the kernel itself says about its blocks, and the shared memory that every GPU's block has at most."""
    limits, threads = kernel.program_entry.limits, prod(block)
    most = prod(limits.get("maxntid", (threads,)))
    if threads > most:
        raise LaunchError(
            f"block={block} has {threads} threads, and {kernel.name} is compiled for at most {most}.\n"
            "  Fix: make the block smaller, or change the kernel's __launch_bounds__."
        )
    wanted = limits.get("reqntid")
    if wanted is not None and (*wanted, 1, 1)[:3] != block:
        raise LaunchError(f"block={block}, and {kernel.name} needs blocks of {wanted}.\n  Fix: pass block={wanted}.")
    if isinstance(shared, bool) or not isinstance(shared, int) or not 0 <= shared <= MOST_SHARED:
        raise LaunchError(
            f"shared={shared!r} is no number of bytes from 0 to {MOST_SHARED:,}, the most that a block can have.\n"
            "  Fix: pass the bytes of dynamic shared memory, such as shared=4 * 256."
        )


def _check_axes(bound: Sequence[Bound], axes: Mapping[str, str]) -> None:
    """Axes must name array parameters, with one letter for each axis."""
    arrays = {each.parameter.name: each.array for each in bound if each.array is not None}
    pointers = {each.parameter.name for each in bound if each.data is None}
    for name, letters in axes.items():
        if name not in pointers:
            raise ArgumentError(f"axes names {name!r}, but the kernel's arrays are {', '.join(arrays)}.")
        if not isinstance(letters, str):
            raise ArgumentError(
                f"axes={{{name!r}: {letters!r}}} has no letters.\n  Fix: write it as {{{name!r}: 'nchw'}}."
            )
        if name in arrays and arrays[name].ndim != len(letters):
            raise ArgumentError(
                f"axes={{{name!r}: {letters!r}}} names {len(letters)} axes, but {name} has shape {arrays[name].shape}."
            )
