"""Names the likely misconception: that of the mutant which computes the same, or what the errors share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from convlab.checker.clues import clue
from convlab.checker.record import Floats, Mutant
from convlab.checker.trials import Trial

__all__ = ["Diagnosis", "diagnose"]

_AGREEMENT = 1e-4  # relative and absolute: far above float32's rounding, far below any mistake in data near 1


class Diagnosis(NamedTuple):
    """What a wrong answer looks like; ``name`` is the mutant's, and empty when none computes the same."""

    name: str = ""
    misconception: str = ""
    hint: str = ""


def diagnose(mutants: Sequence[Mutant], trials: Sequence[Trial]) -> Diagnosis:
    """Find the mutant whose outputs on all the tried cases are those of the answer.

    Parameters: ``mutants`` of the exercise, ``trials`` of an answer of which at least one is not right.
    """
    for mutant in mutants:
        if any(_agrees(function, trials) for function in mutant.functions):
            return Diagnosis(mutant.name, mutant.misconception, mutant.hint)
    return Diagnosis("", *clue(trials))


def _agrees(function: Callable[..., npt.ArrayLike], trials: Sequence[Trial]) -> bool:
    """Compare on all cases; that both fail on a case agrees, yet some wrong result must be the same."""
    shared = 0
    for trial in trials:
        array, found = _output(function, trial), trial.finding.array
        if array is None or found is None:
            if array is not found:
                return False
            continue
        if array.shape != found.shape or not np.allclose(array, found, rtol=_AGREEMENT, atol=_AGREEMENT):
            return False
        shared += bool(trial.finding.problem)
    return shared > 0


def _output(function: Callable[..., npt.ArrayLike], trial: Trial) -> Floats | None:
    try:
        return np.asarray(function(*trial.case.arguments.values()), np.float64)
    except ArithmeticError:  # such as a stride of 0
        return None
