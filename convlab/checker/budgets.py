"""Holds what an answer used against its budgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from convlab.checker.compare import Finding
from convlab.checker.record import Case, Exercise

__all__ = ["judged"]


def judged(finding: Finding, exercise: Exercise, case: Case, used: Mapping[str, float]) -> Finding:
    """Add to a finding which budgets were exceeded; an answer that is right otherwise gets a sentence on the first.

    Parameters: ``used``, by measure; what is not measured is not judged.
    """
    over = {}
    for budget in exercise.budgets:
        if budget.measure in used and used[budget.measure] > budget.most(*case.known):
            most = budget.most(*case.known)
            over[budget.measure] = f"needs {used[budget.measure]:,.0f} {budget.words}; {most:,.0f} are {budget.why}"
    problem = finding.problem or next(iter(over.values()), "")
    return replace(finding, problem=problem, over=frozenset(over))
