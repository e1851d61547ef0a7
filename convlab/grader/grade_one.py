"""Grades one submission: what runs in a process of the pool, or on a worker of the cluster."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from convlab.grader import isolation
from convlab.grader.extract import Answer
from convlab.grader.judge import judge
from convlab.grader.mark import Mark
from convlab.grader.text import one_line

__all__ = ["Job", "failed", "grade"]


@dataclass(frozen=True)
class Job:
    """One submission to be graded.

    ``answers`` of the whole notebook, of which the ``wanted`` count; ``seed``, the hidden one; ``allow_plain``,
    whether they may run without isolation.
    """

    key: str
    answers: tuple[Answer, ...]
    wanted: tuple[str, ...]
    seed: int
    allow_plain: bool = False


def grade(job: Job) -> dict[str, Any]:
    """Judge all answers of a submission; what goes wrong with one is a mark of its own, and no end of all."""
    level = isolation.best(job.allow_plain)
    began = time.monotonic()
    wanted = [answer for answer in job.answers if answer.exercise in job.wanted]
    marks = [_mark(job, answer, level) for answer in wanted]
    ran = any(answer.text for answer in wanted)
    return {
        "marks": [mark.to_dict() for mark in marks],
        "isolation": level.name if ran else "",
        "isolated": level.sentence if ran else "No answer of it ran.",
        "seconds": round(time.monotonic() - began, 3),
    }


def failed(job: Job, sentence: str) -> dict[str, Any]:
    """What stands for a submission that could not be graded: the grader's own failure, for a human."""
    wanted = [answer for answer in job.answers if answer.exercise in job.wanted]
    marks = [_unread(answer) if answer.status else _grader_error(answer, sentence) for answer in wanted]
    return {"marks": [mark.to_dict() for mark in marks], "isolation": "", "isolated": "", "seconds": 0.0}


def _mark(job: Job, answer: Answer, level: isolation.Isolation) -> Mark:
    if answer.status:
        return _unread(answer)
    earlier = [each.text for each in job.answers[: job.answers.index(answer)] if each.text]
    try:
        return judge(answer.exercise, answer.text, job.seed, isolation.Limits(), level, earlier)
    except Exception as error:  # a fault of the grader's, which a human must see
        return _grader_error(answer, f"The grader failed: {type(error).__name__}: {one_line(str(error))}")


def _unread(answer: Answer) -> Mark:
    return Mark(answer.exercise, answer.status, 0.0, answer.sentence)


def _grader_error(answer: Answer, sentence: str) -> Mark:
    return Mark(answer.exercise, "grader_error", 0.0, sentence)
