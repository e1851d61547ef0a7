"""What the emulator is asked for beyond running a kernel, checked before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from convlab.emulator.lanes import WARP
from convlab.emulator.observers.cache import CacheSizes
from convlab.errors import LaunchError
from convlab.executors.shape import Dim3

__all__ = ["Options", "options"]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `convlab.executors.launch.launch` that only the emulator has."""

    observe: bool = True
    budget: int | None = None
    seed: int | None = None
    trace: tuple[int, int] | None = None
    sample: int | None = None
    caches: CacheSizes | None = None


def options(
    grid: Dim3, block: Dim3, observe: Any, budget: Any, seed: Any, trace: Any, sample: Any, caches: Any
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
    return Options(bool(observe), budget, seed, _warp(trace, prod(grid), prod(block)), sample, sizes)


def _number(name: str, value: Any, least: int, example: str) -> None:
    """A whole number, or ``None``."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
        raise LaunchError(
            f"{name}={value!r} is no whole number from {least} on.\n  Fix: pass {name}={example}, or leave it out."
        )


def _warp(trace: Any, blocks: int, threads: int) -> tuple[int, int] | None:
    """The block and the warp that a trace is asked of."""
    if trace is None:
        return None
    fix = "  Fix: pass trace=(block, warp), such as trace=(0, 0)."
    if not isinstance(trace, tuple) or len(trace) != 2 or not all(isinstance(n, int) and n >= 0 for n in trace):
        raise LaunchError(f"trace={trace!r} names no block and warp.\n{fix}")
    block, warp = trace
    warps = -(-threads // WARP)
    if block >= blocks:
        raise LaunchError(f"trace={trace!r} names block {block}, but the grid has {blocks}.\n{fix}")
    if warp >= warps:
        raise LaunchError(f"trace={trace!r} names warp {warp}, but a block has {warps}.\n{fix}")
    return block, warp
