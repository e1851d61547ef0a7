"""Judges one answer of a student: it runs in an isolated worker, and its verdict is formed here."""

from __future__ import annotations

from collections.abc import Sequence

from convlab.grader.isolation import Isolation, Limits
from convlab.grader.mark import Mark

__all__ = ["judge"]


def judge(
    exercise_id: str, answer: str, seed: int, limits: Limits, isolation: Isolation, earlier: Sequence[str] = ()
) -> Mark:
    """Judge an answer on the data of one seed.

    Parameters: ``answer``, the text of the student's cell, the line with ``%%cuda`` included; ``earlier``, the texts
    of the student's other answers of the same notebook: what the answer uses of them is run before it.
    """
    return Mark(exercise_id, "grader_error", 0.0, "The judge is not built yet.")
