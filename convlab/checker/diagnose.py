"""Names the likely misconception: that of the mutant which does the same, or what the errors share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from convlab.checker.clues import clue
from convlab.checker.kinds import KINDS
from convlab.checker.kinds.outcome import Trial
from convlab.checker.record import Exercise

__all__ = ["Diagnosis", "diagnose"]


class Diagnosis(NamedTuple):
    """What a wrong answer looks like; ``name`` is the mutant's, and empty when none does the same."""

    name: str = ""
    misconception: str = ""
    hint: str = ""


def diagnose(exercise: Exercise, trials: Sequence[Trial]) -> Diagnosis:
    """Find the mutant whose signature on all the tried cases is that of the answer.

    Parameters: ``exercise``, whose mutants they are; ``trials`` of an answer of which at least one is not right.
    """
    matches = KINDS[exercise.kind].matches
    for mutant in exercise.mutants:
        if any(matches(exercise, way, trials) for way in mutant.ways):
            return Diagnosis(mutant.name, mutant.misconception, mutant.hint)
    return Diagnosis("", *clue(trials))
