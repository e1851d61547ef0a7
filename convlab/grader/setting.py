"""What stands in an exercise's notebook before an answer, and is the instructor's: imports, and what was given."""

from __future__ import annotations

from functools import lru_cache

from convlab import course
from convlab.checker.cells import grading, read_notebook
from convlab.checker.exercises import exercise

__all__ = ["setting"]

_PLAIN = ("import numpy as np\n\nimport convlab as cl",)  # of a question that a lesson asks


@lru_cache(maxsize=256)
def setting(exercise_id: str) -> tuple[str, ...]:
    """The sources of the instructor's Python cells before the answer's, from the released notebook.

    >>> setting("01-loops")
    ('import numpy as np\\n\\nimport convlab as cl',)
    """
    path = course.shipped("exercises").get(f"exercises/{exercise(exercise_id).notebook}.ipynb")
    if path is None:
        return _PLAIN
    found: list[str] = []
    for cell in read_notebook(path).cells:
        marks = grading(cell)
        if marks.get("grade_id") == exercise_id:
            break
        given = cell.cell_type == "code" and not marks.get("solution") and not marks.get("grade")
        if given and not cell.source.startswith("%%"):
            found.append(cell.source)
    return tuple(found)
