"""Runs an answer on the cases of an exercise and notes what came of each."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from convlab.checker import guard
from convlab.checker.compare import Finding, compare
from convlab.checker.record import Case, Exercise
from convlab.checker.verdict import Status

__all__ = ["Trial", "run_trials", "unusable"]

_STATUS: dict[str, Status] = {"raised": "error", "unwritten": "not_attempted", "timeout": "timeout"}


@dataclass(frozen=True)
class Trial:
    """One case, tried: the status, what was found, the exception's class, and what was printed meanwhile."""

    case: Case
    status: Status
    finding: Finding
    error: str = ""
    printed: str = ""
    omitted: int = 0


def unusable(exercise: Exercise, answer: Any) -> str:
    """Say why a thing cannot be called with a case's arguments; empty when it can.

    >>> from convlab.checker.exercises import exercise
    >>> unusable(exercise("01-loops"), lambda x, w: 0)
    'takes (x, w), but is called with (x, w, bias, stride, padding)'
    """
    name = exercise.function
    if not callable(answer):
        kind = type(answer).__name__
        return f"was expected, the function itself, but the answer is of type {kind}; pass {name}, not {name}(…)"
    arguments = exercise.cases(np.random.default_rng(0))[0].arguments
    try:
        parameters = inspect.signature(answer)
    except Exception:  # many callables have no signature, and a learner's class may break its own
        return ""
    try:
        parameters.bind(*arguments)
    except TypeError:
        return f"takes ({', '.join(parameters.parameters)}), but is called with ({', '.join(arguments)})"
    return ""


def run_trials(exercise: Exercise, answer: Any, cases: Sequence[Case]) -> list[Trial]:
    """Try the cases in turn, all of them unless time runs out or the answer is not written yet."""
    deadline = time.monotonic() + exercise.seconds
    trials: list[Trial] = []
    for case in cases:
        log = guard.Printed()
        status, finding, error = _try(exercise, answer, case, max(0.0, deadline - time.monotonic()), log)
        if trials and status == "not_attempted":
            status = "wrong"  # an answer for some cases is an attempt
        trials.append(Trial(case, status, finding, error, log.text, log.omitted))
        if status in ("timeout", "not_attempted"):
            break
    return trials


def _try(
    exercise: Exercise, answer: Any, case: Case, seconds: float, log: guard.Printed
) -> tuple[Status, Finding, str]:
    arguments = {name: _copy(value) for name, value in case.arguments.items()}
    outcome = guard.call(answer, list(arguments.values()), seconds, log)
    if outcome.ended != "returned":
        return _STATUS[outcome.ended], Finding(outcome.sentence), outcome.error
    if outcome.value is None and log.text.strip():
        return "wrong", Finding("printed something but returned None; end it with return instead of print"), ""
    if outcome.value is None:
        return "not_attempted", Finding("returned None: its return is missing, or still to be written"), ""
    changed = _changed(arguments, case.arguments)
    if changed:
        return "wrong", Finding(f"changed its input {changed}; leave the inputs as they are"), ""
    given = case.arguments.values()
    finding = compare(case, outcome.value, exercise.oracle(*given), exercise.tolerance(*given))
    return "wrong" if finding.problem else "ok", finding, ""


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _changed(after: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    """Name the first array that is no longer what it was; the numbers among the arguments cannot change."""
    arrays = (name for name, value in before.items() if isinstance(value, np.ndarray))
    return next((name for name in arrays if not np.array_equal(after[name], before[name])), "")
