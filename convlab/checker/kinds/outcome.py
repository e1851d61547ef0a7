"""What an attempt at a case came to, and how a mutant is recognised by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from convlab.checker.compare import Finding
from convlab.checker.record import Case, Exercise
from convlab.checker.verdict import Status

__all__ = ["ENDED", "PATIENCE", "Attempt", "Trial", "agrees", "alike"]

# How a guarded call ended, where it gave no value, and the status that this is.
ENDED: dict[str, Status] = {"raised": "error", "unwritten": "not_attempted", "timeout": "timeout"}
PATIENCE = 1.0  # seconds, for trying a case a few times more
_AGREEMENT = 1e-4  # relative and absolute: far above float32's rounding, far below any mistake in data near 1


class Attempt(NamedTuple):
    """The status of one case, what was found, and the class of the exception, if any."""

    status: Status
    finding: Finding
    error: str = ""


@dataclass(frozen=True)
class Trial:
    """One case, tried: the status, what was found, the exception's class, and what was printed meanwhile."""

    case: Case
    status: Status
    finding: Finding
    error: str = ""
    printed: str = ""
    omitted: int = 0


def agrees(
    imitate: Callable[[Exercise, Any, Case], Finding], exercise: Exercise, way: Any, trials: Sequence[Trial]
) -> bool:
    """Tell whether a mutant has the signature of an answer: outputs, faults and budgets together, on all cases.

    That both give nothing on a case agrees, yet something that is wrong must be the same.
    """
    right = any(trial.status == "ok" for trial in trials)
    if not any(_shows_itself(trial, right) for trial in trials):
        return False
    # The cases that are wrong come first, as most mutants part from the answer there.
    for trial in sorted(trials, key=lambda each: each.status == "ok"):
        mine, found = imitate(exercise, way, trial.case), trial.finding
        if (mine.faults, mine.over) != (found.faults, found.over):
            return False
        if mine.array is None or found.array is None:
            if mine.array is not found.array:
                return False
        elif not alike(mine.array, found.array):
            return False
    return True


def _shows_itself(trial: Trial, right: bool) -> bool:
    """Something that is wrong, and not only missing: all that gives nothing at all would look the same.

    Where other cases are right, an index that leaves an array says enough.
    """
    found = trial.finding
    return bool(found.problem) and (
        found.array is not None or bool(found.faults) or (right and trial.error == "IndexError")
    )


def alike(a: Any, b: Any) -> bool:
    """Tell whether two results are the same, but for rounding."""
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=_AGREEMENT, atol=_AGREEMENT, equal_nan=True))
