"""Exercises: their records, the check, and what it says."""

from __future__ import annotations

from convlab.checker.check import check
from convlab.checker.exercises import EXERCISES, UnknownExerciseError, exercise
from convlab.checker.verdict import Verdict

__all__ = ["EXERCISES", "UnknownExerciseError", "Verdict", "check", "exercise"]
