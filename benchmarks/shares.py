"""Which parts of the emulator a call spends its time in, by cProfile.

What is not in the table below, such as NumPy's functions, counts for whoever calls it. The profiler itself makes calls
of Python dearer: the shares of scheduling and observing are rather too large than too small.
"""

from __future__ import annotations

import cProfile
import pstats
import time
from collections.abc import Callable
from typing import Any

__all__ = ["shares"]

# Where a function is defined → the group that it counts for; the first that fits.
GROUPS = {
    "emulator/observers/": "observers",
    "emulator/memory/": "gather and scatter",
    "emulator/lanes.py": "parting and joining lanes",
    "emulator/meetings.py": "scheduling",
    "emulator/schedule.py": "scheduling",
    "emulator/machine.py": "scheduling",
    "emulator/stack.py": "scheduling",
    "<kernel>": "arithmetic",
    "emulator/numerics/": "arithmetic",
    "emulator/vectorized.py": "arithmetic",
    "emulator/instructions/": "Tensor Cores",
    "emulator/fragments.py": "Tensor Cores",
}
REST = "launch"  # arguments, translation, the report

Function = tuple[str, int, str]


def shares(call: Callable[[], Any]) -> dict[str, int]:
    """The percentage of time for each group, largest first; what is below half a percent is left out."""
    profiler = cProfile.Profile(time.process_time)
    profiler.runcall(call)
    stats: dict[Function, Any] = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    total: dict[str, float] = {}
    for function, (_, _, own, _, callers) in stats.items():
        named = _group(function)
        if named or not callers:
            total[named or REST] = total.get(named or REST, 0) + own
            continue
        for caller, (_, _, part, _) in callers.items():
            group = _of(caller, stats)
            total[group] = total.get(group, 0) + part
    whole = sum(total.values())
    percent = {group: round(100 * seconds / whole) for group, seconds in total.items()}
    return dict(sorted(((g, p) for g, p in percent.items() if p), key=lambda item: -item[1]))


def _group(function: Function) -> str:
    """The group that the table names for a function, or an empty string."""
    file = function[0].replace("\\", "/")
    return next((group for part, group in GROUPS.items() if part in file), "")


def _of(function: Function, stats: dict[Function, Any], depth: int = 0) -> str:
    """The group of a function, or of whoever calls it most."""
    callers = stats[function][4] if function in stats else {}
    named = _group(function)
    if named or not callers or depth > 8:
        return named or REST
    return _of(max(callers, key=lambda caller: callers[caller][3]), stats, depth + 1)
