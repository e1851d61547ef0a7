"""Runs an answer on the cases of an exercise and notes what came of each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from convlab.checker import guard
from convlab.checker.kinds import KINDS
from convlab.checker.kinds.outcome import Trial
from convlab.checker.record import Case, Exercise

__all__ = ["run_trials"]


def run_trials(exercise: Exercise, answer: Any, cases: Sequence[Case]) -> list[Trial]:
    """Try the cases in turn, all of them unless time runs out or the answer is not written yet."""
    deadline = time.monotonic() + exercise.seconds
    attempt = KINDS[exercise.kind].attempt
    trials: list[Trial] = []
    for case in cases:
        log = guard.Printed()
        status, finding, error = attempt(exercise, answer, case, max(0.0, deadline - time.monotonic()), log)
        if trials and status == "not_attempted":
            status = "wrong"  # an answer for some cases is an attempt
        trials.append(Trial(case, status, finding, error, log.text, log.omitted))
        if status in ("timeout", "not_attempted"):
            break
    return trials
