"""Answers that are functions of Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from convlab.checker import guard
from convlab.checker.budgets import judged
from convlab.checker.compare import Finding, compare
from convlab.checker.kinds.outcome import ENDED, PATIENCE, Attempt, Trial, agrees
from convlab.checker.memory import measured
from convlab.checker.record import Case, Exercise

__all__ = ["VARYING", "again", "attempt", "came_to", "matches", "unusable"]

VARYING = (
    "The same call gives another result the second time.",
    "What is left over from one call to the next, or used before it is set: a global, np.empty, random numbers?",
)


def unusable(exercise: Exercise, answer: Any) -> str:
    """Say why a thing cannot be called with a case's arguments; empty when it can.

    >>> from convlab.checker.exercises import exercise
    >>> unusable(exercise("01-loops"), lambda x, w: 0)
    'takes (x, w), but is called with (x, w, bias, stride, padding)'
    """
    name = exercise.function
    if not callable(answer):
        kind = guard.class_of(answer)
        return f"was expected, the function itself, but the answer is of type {kind}; pass {name}, not {name}(…)"
    arguments = exercise.cases(np.random.default_rng(0))[0].arguments
    try:
        parameters = inspect.signature(answer)
    except Exception:  # many callables have no signature, and a learner's class may break its own
        return ""
    try:
        parameters.bind(*arguments)
    except TypeError:
        own = guard.in_one_line(", ".join(parameters.parameters))
        return f"takes ({own}), but is called with ({', '.join(arguments)})"
    return ""


def attempt(exercise: Exercise, answer: Any, case: Case, seconds: float, log: guard.Printed) -> Attempt:
    """Call the function on a case, and hold what it returns against the oracle."""
    arguments = {name: _copy(value) for name, value in case.arguments.items()}
    outcome = guard.call(measured(answer) if exercise.budgets else answer, list(arguments.values()), seconds, log)
    used = {}
    if exercise.budgets and outcome.ended == "returned":
        value, used["memory"] = outcome.value
        outcome = replace(outcome, value=value)
    return came_to(exercise, case, outcome, _changed(arguments, case.arguments), used, log)


def again(exercise: Exercise, answer: Any, case: Case, order: int) -> Finding:
    """What the same call gives once more."""
    return attempt(exercise, answer, case, PATIENCE, guard.Printed()).finding


def came_to(
    exercise: Exercise,
    case: Case,
    outcome: guard.Outcome,
    changed: str,
    used: Mapping[str, float],
    log: guard.Printed,
) -> Attempt:
    """What a call came to: ``changed`` names an input that it changed, ``used`` is what it used by measure."""
    if outcome.ended != "returned":
        return Attempt(ENDED[outcome.ended], Finding(outcome.sentence), outcome.error)
    if outcome.value is None and log.text.strip():
        return Attempt("wrong", Finding("printed something but returned None; end it with return instead of print"))
    if outcome.value is None:
        return Attempt("not_attempted", Finding("returned None: its return is missing, or still to be written"))
    if changed:
        return Attempt("wrong", Finding(f"changed its input {changed}; leave the inputs as they are"))
    finding = compare(case, outcome.value, exercise.oracle(*case.known), exercise.tolerance(*case.known))
    finding = judged(finding, exercise, case, used)
    return Attempt("wrong" if finding.problem else "ok", finding)


def matches(exercise: Exercise, way: Callable[..., Any], trials: Sequence[Trial]) -> bool:
    """Tell whether the trials look like those of a mutant's function."""
    return agrees(_imitate, exercise, way, trials)


def _imitate(exercise: Exercise, way: Callable[..., Any], case: Case) -> Finding:
    try:
        value, peak = measured(way)(*case.arguments.values())
    except (ArithmeticError, IndexError):  # such as a stride of 0, or an index that leaves the image
        return Finding()
    finding = Finding(array=np.asarray(value, np.float64))
    return replace(finding, over=judged(finding, exercise, case, {"memory": peak}).over)


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _changed(after: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    """Name the first array that is no longer what it was; the numbers among the arguments cannot change."""
    arrays = (name for name, value in before.items() if isinstance(value, np.ndarray))
    return next((name for name in arrays if not np.array_equal(after[name], before[name])), "")
