"""What the emulator is asked for beyond running a kernel, checked before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from convlab.emulator.lanes import WARP
from convlab.emulator.observers.cache import CacheSizes
from convlab.errors import LaunchError
from convlab.executors.shape import Dim3

__all__ = ["MOST_TRACES", "Options", "options"]

MOST_TRACES = 256  # warps that are traced in one launch


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `convlab.executors.launch.launch` that only the emulator has."""

    observe: bool = True
    budget: int | None = None
    seed: int | None = None
    trace: tuple[tuple[int, int], ...] = ()
    sample: int | None = None
    caches: CacheSizes | None = None
    observers: tuple[Any, ...] = ()


def options(
    grid: Dim3,
    block: Dim3,
    observe: Any,
    budget: Any,
    seed: Any,
    trace: Any,
    sample: Any,
    caches: Any,
    observers: Any = (),
) -> Options:
    """The options of a launch.

    Raises ``LaunchError`` for what is none, or names a block or warp that the launch lacks.
    """
    _number("budget", budget, 1, "10_000_000")
    _number("seed", seed, 0, "8")
    _number("sample", sample, 1, "8")
    sizes = CacheSizes() if caches is True else caches or None
    if sizes is not None and not isinstance(sizes, CacheSizes):
        raise LaunchError(f"caches={caches!r} are no sizes of caches.\n  Fix: pass caches=True, or CacheSizes(…).")
    traces = _warps(trace, prod(grid), prod(block))
    return Options(bool(observe), budget, seed, traces, sample, sizes, tuple(observers))


def _number(name: str, value: Any, least: int, example: str) -> None:
    """A whole number, or ``None``."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
        raise LaunchError(
            f"{name}={value!r} is no whole number from {least} on.\n  Fix: pass {name}={example}, or leave it out."
        )


def _warps(trace: Any, blocks: int, threads: int) -> tuple[tuple[int, int], ...]:
    """The blocks and warps that traces are asked of, in order."""
    if trace is None:
        return ()
    fix = "  Fix: pass trace=(block, warp), such as trace=(0, 0), with None for all blocks or all warps."
    if not isinstance(trace, tuple) or len(trace) != 2 or not all(_is_number(n) for n in trace):
        raise LaunchError(f"trace={trace!r} names no block and warp.\n{fix}")
    block, warp = trace
    warps = -(-threads // WARP)
    if block is not None and block >= blocks:
        raise LaunchError(f"trace={trace!r} names block {block}, but the grid has {blocks}.\n{fix}")
    if warp is not None and warp >= warps:
        raise LaunchError(f"trace={trace!r} names warp {warp}, but a block has {warps}.\n{fix}")
    which = list(product(range(blocks) if block is None else [block], range(warps) if warp is None else [warp]))
    if len(which) > MOST_TRACES:
        raise LaunchError(f"trace={trace!r} asks for {len(which):,} traces, more than {MOST_TRACES}.\n{fix}")
    return tuple(which)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int) and value >= 0)
