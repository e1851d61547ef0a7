"""Checks an answer to an exercise and says what is wrong, where, and what the likely misconception is."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np

from convlab.checker.compare import Elements
from convlab.checker.diagnose import Diagnosis, diagnose
from convlab.checker.exercises import exercise
from convlab.checker.kinds import KINDS
from convlab.checker.kinds.outcome import Trial
from convlab.checker.record import Case, Exercise
from convlab.checker.trials import run_trials
from convlab.checker.verdict import Verdict
from convlab.errors import ConvlabError

__all__ = ["PUBLIC_SEED", "CheckFailedError", "check", "judge"]

PUBLIC_SEED = 1


class CheckFailedError(ConvlabError, AssertionError):
    """An answer that is not right, where nbgrader marks: it takes points off for exceptions alone."""


def check(exercise_id: str, answer: Any, *, seed: int = PUBLIC_SEED) -> Verdict:
    """Check an answer to an exercise.

    >>> def one_output(x, w, bias, k, p, q):
    ...     raise NotImplementedError
    >>> verdict = check("01-one-output", one_output)
    >>> verdict.passed, verdict.message
    (False, 'one_output is not written yet.')

    Parameters: ``exercise_id``, as the notebook names it; ``answer``, the function that the exercise asks
    for; ``seed``, of the data, so that an instructor may check with other data than the learner sees.

    The answer may raise, print, run for ever or return anything: the verdict says so in one sentence. Raises
    ``UnknownExerciseError`` for an id that does not exist, and, when nbgrader executes the notebook,
    ``CheckFailedError`` in place of a verdict that is not "ok".
    """
    verdict = judge(exercise(exercise_id), answer, seed)
    if not verdict and "NBGRADER_EXECUTION" in os.environ:
        raise CheckFailedError(str(verdict))
    return verdict


def judge(record: Exercise, answer: Any, seed: int) -> Verdict:
    """Form the verdict on an answer from its trials on the cases of one seed."""
    problem = KINDS[record.kind].unusable(record, answer)
    if problem:
        return _verdict(record, status="error", message=f"{record.function} {problem}.")
    cases = record.cases(np.random.default_rng(seed))
    trials = run_trials(record, answer, cases)
    first = next((trial for trial in trials if trial.status != "ok"), None)
    told = first or trials[0]
    right = sum(trial.status == "ok" for trial in trials)
    shared = {"right": right, "total": len(cases), "printed": told.printed, "omitted": told.omitted}
    if first is None:
        message = f"{record.function} is right" + (f" in all {len(cases)} cases." if len(cases) > 1 else ".")
        return _verdict(record, status="ok", message=message, **shared)
    if first.status == "not_attempted":
        return _verdict(record, status=first.status, message=_unwritten(record, first), **shared)
    return _failed(record, first, shared, Diagnosis() if first.status == "timeout" else _likely(record, answer, trials))


def _likely(record: Exercise, answer: Any, trials: list[Trial]) -> Diagnosis:
    again = KINDS[record.kind].again
    return diagnose(record, trials, partial(again, record, answer) if again else None)


def _failed(record: Exercise, first: Trial, shared: dict[str, Any], likely: Diagnosis) -> Verdict:
    return _verdict(
        record,
        status=first.status,
        message=f"{record.function} {first.finding.problem}.",
        diagnosis=likely.name,
        misconception=likely.misconception,
        hint=likely.hint,
        case="" if record.kind == "values" else str(first.case),  # the case of values is the right answer
        **shared,
        **_first_element(first.case, first.finding.elements),
    )


def _first_element(case: Case, elements: Elements | None) -> dict[str, Any]:
    if elements is None or not elements.wrong.any():  # right, with a fault, or over a budget
        return {}
    index = elements.first
    found, expected = float(elements.found[index]), float(elements.expected[index])
    details = {"where": case.element(index), "found": found, "expected": expected}
    return {**details, "errors": elements if elements.wrong.ndim == 4 else None}


def _unwritten(record: Exercise, trial: Trial) -> str:
    problem = trial.finding.problem
    return f"{record.function} {problem}." if not trial.error else f"{record.function} is not written yet."


def _verdict(record: Exercise, **details: Any) -> Verdict:
    return Verdict(exercise=record.id, title=record.title, points=record.points, hints=record.hints, **details)
