"""Has Numba compile, once and outside of workers, what the emulator needs: a worker could not keep it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from convlab.checker.exercises import EXERCISES
from convlab.checker.kinds.kernel import launch_of
from convlab.checker.launched import launched
from convlab.emulator.observers.shadow import mark
from convlab.executors.compile import compile

__all__ = ["caches"]

PACKAGE = Path(__file__).resolve().parents[1]


@lru_cache(maxsize=1)
def caches() -> Path | None:
    """Launch one kernel of each exercise, so that all is compiled; gives the folder of what was compiled.

    That is ``None`` where it lies beside the source, as it does unless the package's folder cannot be written to.
    """
    for record in EXERCISES.values():
        if record.kind == "kernel":
            case = record.cases(np.random.default_rng(0))[0]
            launched(compile(record.mutants[0].ways[0]), launch_of(record, case))
    place = Path(mark.stats.cache_path or PACKAGE)
    return None if place.is_relative_to(PACKAGE) else place.parent
