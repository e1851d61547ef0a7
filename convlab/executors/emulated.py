"""The emulator as an executor: a bound launch in, a `Run` out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from math import prod
from time import monotonic

from tqdm.auto import tqdm

from convlab.emulator import Buffer, Progress, run
from convlab.emulator.observers.cache import CacheModel
from convlab.emulator.observers.trace import Tracer
from convlab.errors import LaunchError
from convlab.executors.arguments import Bound
from convlab.executors.empty import written
from convlab.executors.module import Kernel
from convlab.executors.options import Options
from convlab.executors.run import Run
from convlab.executors.shape import Dim3

__all__ = ["launch"]

MOST_THREADS = 1 << 33  # hours of work
PATIENCE = 2  # seconds: nobody wants to see a bar that is gone before it is read


class Bar(Progress):
    """A progress bar over the blocks of a launch, and over the instructions of those at hand."""

    def __init__(self, blocks: int) -> None:
        self.due = monotonic() + PATIENCE
        self.bar = tqdm(total=blocks, delay=PATIENCE, leave=False, unit="block", desc="emulating")

    def done(self, blocks: int) -> None:
        """So many more blocks have run to their end."""
        self.bar.update(blocks)

    def pulse(self, instructions: int) -> None:
        """Blocks that run for long show what they are doing."""
        if monotonic() > self.due:
            self.due = monotonic() + 0.5
            self.bar.set_postfix_str(f"{instructions:,} instructions in those at hand")


def launch(
    kernel: Kernel,
    grid: Dim3,
    block: Dim3,
    bound: Sequence[Bound],
    shared: int,
    axes: Mapping[str, str],
    options: Options,
) -> Run:
    """Execute a kernel on the emulator; raises ``LaunchError`` for what it cannot hold, or not end this week."""
    _check_size(grid, block)
    arguments = [_argument(each, axes) for each in bound]
    tracers = [Tracer(block, warp) for block, warp in options.trace]
    caches = CacheModel(options.caches) if options.caches is not None else None
    bar = Bar(prod(grid) if options.sample is None else min(options.sample, prod(grid)))
    with closing(bar.bar):
        result = run(
            kernel.program_entry,
            grid,
            block,
            arguments,
            shared=shared,
            observe=options.observe,
            observers=[*tracers, *([caches] if caches is not None else []), *options.observers],
            budget=options.budget,
            seed=options.seed,
            sample=options.sample,
            files=(kernel.module.name,),
            progress=bar,
        )
    return Run(
        kernel.name,
        "emulator",
        grid,
        block,
        result.counters,
        result.lines,
        result.faults,
        result.stdout,
        arrays=result.arrays,
        source=kernel.module.source,
        name=kernel.module.name,
        traces=tuple(tracer.trace for tracer in tracers),
        traffic=caches.traffic() if caches is not None else None,
    )


def _check_size(grid: Dim3, block: Dim3) -> None:
    """Nobody waits that long."""
    threads = prod(grid) * prod(block)
    if threads > MOST_THREADS:
        raise LaunchError(
            f"grid={grid} and block={block} make {threads:,} threads, days of work for the emulator.\n"
            f"  Fix: launch at most {MOST_THREADS:,} of them, or use a GPU."
        )


def _argument(bound: Bound, axes: Mapping[str, str]) -> Buffer | bytes | None:
    """A buffer for an array, bytes for a scalar or struct, ``None`` for a null pointer."""
    if bound.array is None:
        return bound.data
    name, array = bound.parameter.name, bound.array
    flags, strict = written(array)
    return Buffer(name, array, axes.get(name), array.flags.writeable, flags, strict)
