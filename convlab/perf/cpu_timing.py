"""Measure what runs on the CPU of this machine: reference methods, and what people use instead."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from convlab.kernels.method import Method
from convlab.perf.stopwatch import PATIENCE, Samples
from convlab.perf.times import Time
from convlab.perf.trial import check, random_inputs

__all__ = ["measure_reference", "processor", "sample_cpu"]

_REPEATS = 7
_BUDGET_S = 3.0  # of calls; at least one counts
_STEADY = 1.25  # times the least that half of the repeats take at most, where nothing else is running
_ASLEEP_S = 0.1  # after which idle threads of other libraries no longer wait in a busy loop
_CPUINFO = Path("/proc/cpuinfo")


def measure_reference(spec: Any, method: Method, dtype: str = "float32") -> Time:
    """Time a reference method on this CPU: the median of calls, after one whose output is checked.

    Parameters: ``spec`` is one that the method supports; ``dtype`` the type of the inputs, where it takes any. Raises
    ``ConvlabError`` where the output is wrong.
    """
    assert method.reference is not None
    inputs = random_inputs(method.op, spec, lambda name: dtype if method.dtype == "any" else method.dtype)
    reference = method.reference
    y = reference(*inputs.values(), spec)
    check(f"Method {method.name!r}", method.op, spec, inputs, np.asarray(y))
    return sample_cpu(lambda: reference(*inputs.values(), spec), method.name).time(processor())


def sample_cpu(call: Callable[[], Any], what: str = "timing") -> Samples:
    """Time a call that was made before, once for nothing and then some times: fewer where it takes long.

    The note says where the median is far above the least: somebody else was at work, too.
    """
    time.sleep(_ASLEEP_S)
    longest = _seconds(call)
    repeats = max(1, min(_REPEATS, int(_BUDGET_S / longest)))
    bar = tqdm(range(repeats), desc=what, disable=repeats * longest < PATIENCE, leave=False)
    times = [1000 * _seconds(call) for _ in bar]
    found = Samples.of(times, f"{len(times)} {'repeat' if len(times) == 1 else 'repeats'}, {os.cpu_count()} cores")
    slower = found.milliseconds / found.low
    busy = f"; a busy machine: the median is {slower:.2g} times the least"
    return found if slower < _STEADY else replace(found, note=found.note + busy)


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return max(time.perf_counter() - start, 1e-9)


def processor() -> str:
    """The name of this machine's processor."""
    lines = _CPUINFO.read_text(encoding="utf-8").splitlines() if _CPUINFO.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(filter(None, [*names, platform.processor(), platform.machine()]), "this CPU")
