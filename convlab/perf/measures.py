"""What rungs are compared by: counts of the runs of a plan, added up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from convlab.emulator.observers.requests import SECTOR
from convlab.executors.run import Run

__all__ = ["MEASURES", "measure"]

Runs = Sequence[Run]


def _total(*names: str) -> Callable[[Runs, Any], float]:
    return lambda runs, spec: sum(run.counters[name] for run in runs for name in names)


def _per_mac(name: str) -> Callable[[Runs, Any], float]:
    return lambda runs, spec: sum(run.counters[name] for run in runs) / spec.macs


def _of(array: str, name: str) -> Callable[[Runs, Any], float]:
    return lambda runs, spec: sum(run.arrays[array][name] for run in runs if array in run.arrays)


def _loaded(array: str) -> Callable[[Runs, Any], float]:
    """Elements of 4 bytes that threads load: of a float32 array, which is all that rungs are compared by."""
    return lambda runs, spec: _of(array, "thread_bytes_global_load")(runs, spec) / 4


def _bytes(runs: Runs, spec: Any) -> float:
    return SECTOR * sum(run.counters.sectors_global_load + run.counters.sectors_global_store for run in runs)


def _useful(runs: Runs, spec: Any) -> float:
    """The part of the Tensor Cores' products that has no zero as a factor; 0 where they do nothing."""
    total = sum(run.counters.tensor_flop for run in runs)
    return sum(run.counters.tensor_flop_useful for run in runs) / total if total else 0.0


MEASURES: Mapping[str, Callable[[Runs, Any], float]] = {
    "instructions": _total("instructions"),
    "instructions per MAC": _per_mac("instructions"),
    "input elements": _loaded("x"),
    "input sectors": _of("x", "sectors_global_load"),
    "load requests": _total("requests_global_load"),
    "load sectors": _total("sectors_global_load"),
    "store sectors": _total("sectors_global_store"),
    "global bytes": _bytes,
    "shared loads per MAC": _per_mac("requests_shared_load"),
    "shared bytes per MAC": _per_mac("thread_bytes_shared_load"),
    "shared wavefronts": _total("wavefronts_shared_load", "wavefronts_shared_store"),
    "bank conflicts": _total("conflicts_shared_load", "conflicts_shared_store"),
    "multiply-adds": lambda runs, spec: sum(run.counters.flop + run.counters.tensor_flop for run in runs) / 2,
    "tensor useful share": _useful,
    "barriers": _total("barriers"),
}


def measure(name: str, runs: Runs, spec: Any) -> float:
    """One measure of the runs of a plan.

    >>> from convlab.emulator import Counters
    >>> counters = Counters({"sectors_global_load": 3, "sectors_global_store": 1})
    >>> run = Run("f", "emulator", (1, 1, 1), (32, 1, 1), counters)
    >>> measure("global bytes", [run], None)
    128

    Raises ``KeyError`` for one that is not in the table.
    """
    return MEASURES[name](runs, spec)
