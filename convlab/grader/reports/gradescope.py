"""What Gradescope reads: a ``results.json`` for each submission."""

from __future__ import annotations

import json
from typing import Any

from convlab.grader.ledger import Paper, Question
from convlab.grader.reports.page import counted
from convlab.grader.text import plain

__all__ = ["gradescope"]


def gradescope(paper: Paper) -> str:
    """Give one submission's results as Gradescope documents them for autograders.

    Each question is a test; the score of the whole takes what a late paper loses off their sum.
    """
    told = [str(paper.result["problem"]), _late(paper), paper.result["audit"]["isolated"]]
    audit = paper.result["audit"]
    document = {
        "score": paper.points,
        "execution_time": round(paper.result["seconds"]),
        "output": plain("\n".join(filter(None, told))),
        "visibility": "after_published",
        "stdout_visibility": "hidden",
        "tests": [_test(number, question) for number, question in enumerate(paper.questions, start=1)],
        "extra_data": {
            **audit,
            "sha256": paper.result["digest"],
            "needs_a_human": [plain(reason) for reason in paper.for_a_human],
        },
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _late(paper: Paper) -> str:
    days = counted(paper.late_days, "day")
    return f"{days} late: {paper.penalty:g} of {paper.earned:g} points are taken off." if paper.late_days else ""


def _test(number: int, question: Question) -> dict[str, Any]:
    mark = question.mark
    lines = [mark.sentence, *([f"Likely: {mark.misconception}"] if mark.misconception else []), *mark.hints]
    if question.override:
        lines.append(f"Set by hand: {question.override.reason}")
    return {
        "name": f"{mark.exercise}, {question.title}",
        "number": str(number),
        "score": question.earned,
        "max_score": question.most,
        "status": "passed" if question.earned >= question.most else "failed",
        "output": plain("\n".join(lines)),
        "tags": [mark.status],
        "visibility": "after_published",
    }
