"""Names the likely misconception: that of the mutant which does the same, or what the errors share."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import NamedTuple

from convlab.checker.clues import clue
from convlab.checker.compare import Finding
from convlab.checker.kinds import KINDS
from convlab.checker.kinds.outcome import PATIENCE, Trial, alike
from convlab.checker.record import Case, Exercise

__all__ = ["Again", "Diagnosis", "diagnose"]

Again = Callable[[Case, int], Finding]

_ORDERS = (1, 2, 3)  # of the warps; two of them stay as they were in every second one


class Diagnosis(NamedTuple):
    """What a wrong answer looks like; ``name`` is the mutant's, and empty when none does the same."""

    name: str = ""
    misconception: str = ""
    hint: str = ""


def diagnose(exercise: Exercise, trials: Sequence[Trial], again: Again | None = None) -> Diagnosis:
    """Find the mutant whose signature on all the tried cases is that of the answer, or else a clue.

    Parameters: ``exercise``, whose mutants they are; ``trials`` of an answer of which at least one is not right;
    ``again`` tries a case once more, in an order of that number, to see whether the result is the same.
    """
    matches = KINDS[exercise.kind].matches
    for mutant in exercise.mutants:
        if any(matches(exercise, way, trials) for way in mutant.ways):
            return Diagnosis(mutant.name, mutant.misconception, mutant.hint)
    faulty = any(trial.finding.faults for trial in trials)  # which says more than that the result varies
    varies = again is not None and not faulty and _varies(trials, again)
    return Diagnosis("", *(KINDS[exercise.kind].varying if varies else clue(trials)))


def _varies(trials: Sequence[Trial], again: Again) -> bool:
    """Tell whether the last wrong result, that of the most warps, comes out otherwise another time."""
    trial = [trial for trial in trials if trial.finding.problem][-1]
    if trial.finding.array is None:
        return False
    deadline = time.monotonic() + PATIENCE
    orders = takewhile(lambda order: order == _ORDERS[0] or time.monotonic() < deadline, _ORDERS)
    others = (again(trial.case, order).array for order in orders)
    return not all(other is None or alike(trial.finding.array, other) for other in others)
