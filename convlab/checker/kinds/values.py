"""Answers that are values: a number, or a few numbers or words under their names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from convlab.checker import guard
from convlab.checker.compare import Finding
from convlab.checker.kinds.outcome import Attempt, Trial
from convlab.checker.record import Case, Exercise

__all__ = ["attempt", "matches", "unusable"]

# Exact types: a subclass may lie about its value.
_KINDS = {kind for kind in np.sctypeDict.values() if issubclass(kind, np.integer | np.floating)}
_NUMBERS = {int, float} | _KINDS - {np.timedelta64}
_UNANSWERED = (None, Ellipsis, "")


def unusable(exercise: Exercise, answer: Any) -> str:
    """Say why a thing is no set of values; empty when it is one.

    >>> from convlab.checker.record import Case
    >>> _problem({"a": 1, "b": 2}, {"a": 1})
    'lacks the name b; its names are a, b'
    """
    wanted = _wanted(exercise.cases(np.random.default_rng(0))[0])
    if type(answer) is not dict:
        return f"was expected, a dictionary with the names {', '.join(wanted)}, but it is {_kind(answer)}"
    return _problem(wanted, [name for name in answer if type(name) is str])


def attempt(exercise: Exercise, answer: Any, case: Case, seconds: float, log: guard.Printed) -> Attempt:
    """Compare each value with the right one, which is a number with a tolerance, or one of some words."""
    wanted = _wanted(case)
    if all(_is_unanswered(answer[name]) for name in wanted):
        return Attempt("not_attempted", Finding("is not written yet"))
    verdicts = {name: _one(name, right, answer[name]) for name, right in wanted.items()}
    wrong = {name: sentence for name, sentence in verdicts.items() if sentence}
    more = f" ({len(wrong)} of {len(wanted)} are not right)" if len(wanted) > 1 else ""
    problem = f"{next(iter(wrong.values()))}{more}" if wrong else ""
    return Attempt("wrong" if wrong else "ok", Finding(problem, said={name: answer[name] for name in wanted}))


def matches(exercise: Exercise, way: Mapping[str, Any], trials: Sequence[Trial]) -> bool:
    """Tell whether the values that a mutant names are what the answer says, the first one that is wrong among them.

    That one is told; what another slip did to another value would read as if it were about it.
    """
    said, wanted = trials[-1].finding.said, _wanted(trials[-1].case)
    first = next((name for name, right in wanted.items() if said and _one(name, right, said[name])), None)
    same = (not _one(name, _as_wide(value, wanted[name]), said[name]) for name, value in way.items())
    return first in way and all(same)


def _as_wide(value: Any, right: Any) -> Any:
    """A mutant's number, with the width of the right one: learners round a wrong number as they would a right one."""
    if not isinstance(right, tuple):
        return value
    least, most = right
    spread = abs(value) * (most - least) / (most + least)
    return value - spread, value + spread


def _wanted(case: Case) -> Mapping[str, Any]:
    """The right values by name: numbers, ranges of numbers (least, most), or words."""
    return case.arguments


def _problem(wanted: Mapping[str, Any], names: Collection[str]) -> str:
    missing = [name for name in wanted if name not in names]
    return f"lacks the name {missing[0]}; its names are {', '.join(wanted)}" if missing else ""


def _kind(thing: Any) -> str:
    return f"of type {guard.class_of(thing)}"


def _is_unanswered(value: Any) -> bool:
    return any(value is each for each in _UNANSWERED)


def _one(name: str, right: Any, value: Any) -> str:
    """What is wrong with one value, as the rest of a sentence."""
    if _is_unanswered(value):
        return f"has nothing yet under {name}"
    if isinstance(right, str):
        if type(value) is not str:
            return f"has no word under {name}, but something {_kind(value)}"
        said, same = repr(guard.in_one_line(value, 40)), value.strip().lower() == right.lower()
    elif type(value) not in _NUMBERS:
        return f"has no number under {name}, but something {_kind(value)}"
    else:
        number, (least, most) = _float(value), right if isinstance(right, tuple) else (right, right)
        said, same = f"{number:g}", least - 1e-9 * abs(least) <= number <= most + 1e-9 * abs(most)
    if same:
        return ""
    rounded = isinstance(right, tuple) and _is_rounded(float(said), sum(right) / 2)
    return f"says {said} for {name}, which is {'near, but rounded too far' if rounded else 'not right'}"


def _is_rounded(said: float, right: float) -> bool:
    """Tell whether a number of two digits or fewer is the right one, rounded or cut off there."""
    if float(f"{said:.1e}") != said or not np.isfinite(said) or not said:
        return False
    return bool(abs(said - right) < 10.0 ** (np.floor(np.log10(abs(said))) - 1))


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # ints have no end
        return np.inf if value > 0 else -np.inf
