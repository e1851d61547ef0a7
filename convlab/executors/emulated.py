"""The emulator as an executor: a bound launch in, a `Run` out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import prod

from tqdm.auto import tqdm

from convlab.emulator import Buffer, run
from convlab.errors import LaunchError
from convlab.executors.arguments import Bound
from convlab.executors.module import Kernel
from convlab.executors.run import Run

__all__ = ["launch"]

MOST_THREADS = 1 << 33  # hours of work

# Nobody wants to see a bar that is gone before it is read.
_progress: Callable[[Iterable[int]], Iterable[int]] = partial(
    tqdm, delay=2, leave=False, unit="chunk", desc="emulating"
)


def launch(
    kernel: Kernel,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    bound: Sequence[Bound],
    shared: int,
    axes: Mapping[str, str],
    observe: bool,
    budget: int | None,
) -> Run:
    """Execute a kernel on the emulator; raises ``LaunchError`` for what it cannot hold, or not end this week."""
    threads = prod(grid) * prod(block)
    if threads > MOST_THREADS:
        raise LaunchError(
            f"grid={grid} and block={block} make {threads:,} threads, days of work for the emulator.\n"
            f"  Fix: launch at most {MOST_THREADS:,} of them, or use a GPU."
        )
    arguments = [_argument(each, axes) for each in bound]
    result = run(kernel.program_entry, grid, block, arguments, shared=shared, observe=observe, budget=budget, progress=_progress)
    return Run(
        kernel.name,
        "emulator",
        grid,
        block,
        result.counters,
        result.lines,
        result.faults,
        result.stdout,
        source=kernel.module.source,
        name=kernel.module.name,
    )


def _argument(bound: Bound, axes: Mapping[str, str]) -> Buffer | bytes | None:
    """A buffer for an array, bytes for a scalar or struct, ``None`` for a null pointer."""
    if bound.array is None:
        return bound.data
    name = bound.parameter.name
    return Buffer(name, bound.array, axes.get(name), bound.array.flags.writeable)
