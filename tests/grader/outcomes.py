"""Results as a batch writes them down, and the course they are of."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from convlab.grader.course_file import Assignment, Course, Late
from convlab.grader.mark import CaseMark, Mark

DUE = datetime.fromisoformat("2027-03-01T23:59:00+01:00")
LOOPS = Assignment("01_loops", "Loops", {"01-one-output": 4, "01-loops": 6}, DUE)
COURSE = Course("Spring", {"01_loops": LOOPS}, Late(0.1, 0.5))
AUDIT = {
    "seed": "5eed1d",
    "isolation": "namespaces",
    "isolated": "Answers ran in namespaces of their own.",
    "convlab": "9.8.7",
    "code": "c0dec0de",
    "python": "3.99",
    "numpy": "2.99",
}


def result(
    student: str = "ada", output: str = "ok", loops: str = "ok", share: float = 1.0, told: str = "", **more: Any
) -> dict[str, Any]:
    """A result; ``told`` stands in every text that an answer can have an influence on."""
    share = share if loops in ("ok", "wrong") else 0.0
    misconception = "kernel flipped" + told if loops == "wrong" else None
    cases = (CaseMark("x of 1×2", "ok"), CaseMark("x of 3×4" + told, loops, "It is." + told))
    first = Mark("01-one-output", output, float(output == "ok"), f"It is {output}.{told}")
    second = Mark("01-loops", loops, share, f"It is {loops}.{told}", misconception, ("Look at w." + told,), cases, 1.25)
    known = {
        "key": f"{student}-01",
        "student": student,
        "lms": "",
        "identifier": "",
        "notebook": "01_loops",
        "file": f"{student}.ipynb",
        "digest": "d" * 64,
        "submitted": None,
        "late": False,
        "problem": "",
        "notes": [],
        "answers": [{"mark": mark.to_dict(), "notes": [f"Note.{told}"] if told else []} for mark in (first, second)],
        "audit": AUDIT,
        "seconds": 1.5,
    }
    return known | more
