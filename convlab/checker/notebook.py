"""Checks a whole exercise notebook from its file, as ``convlab check FILE.ipynb`` does.

The cells run here, in this process, in a namespace of their own: it is the learner's own file on the learner's
own machine. Only cells that came with the exercise run (those with an id): the set-up and the answers. So a
check does not depend on what else was tried in the notebook, nor in which order.
"""

from __future__ import annotations

import linecache
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from convlab.checker import guard
from convlab.checker.cells import NotebookError, cells_by_id, grading, read_notebook
from convlab.checker.check import PUBLIC_SEED, judge
from convlab.checker.exercises import EXERCISES
from convlab.checker.record import Exercise
from convlab.checker.verdict import Status, Verdict
from convlab.magic import bind

__all__ = ["Report", "check_notebook", "run_cells"]


class _Problem(NamedTuple):
    """Why there is nothing to check."""

    status: Status
    message: str


_MAGIC = re.compile(r"^%load_ext convlab *$", re.MULTILINE)  # the other line that is IPython's, and no Python
_SECONDS = 20.0  # for one cell: importing NumPy on a cold disk takes a while


@dataclass(frozen=True)
class Report:
    """The verdicts on all questions of a notebook, in the order of the records."""

    verdicts: tuple[Verdict, ...]

    @property
    def passed(self) -> bool:
        """Whether every question is answered rightly."""
        return all(self.verdicts)

    def __str__(self) -> str:
        earned = sum(verdict.points for verdict in self.verdicts if verdict)
        total = sum(verdict.points for verdict in self.verdicts)
        return "\n".join([*map(str, self.verdicts), f"{earned} of {total} points"])


def check_notebook(path: str | Path, *, seed: int = PUBLIC_SEED) -> Report:
    """Check every question of an exercise notebook.

    Parameters: ``path`` of the notebook; ``seed`` of the data. Returns a report with one verdict for each
    question of the exercise, missing and copied cells included. Raises ``NotebookError`` when the file is no
    exercise notebook.
    """
    notebook = read_notebook(Path(path))
    cells = cells_by_id(notebook)
    names = {record.notebook for record in EXERCISES.values() if record.id in cells}
    if not names:
        raise NotebookError(
            f"{path} holds no exercise: none of its cells has the id of one.\n"
            f"  Fix: start from a fresh copy of a notebook in exercises/; the ids are {', '.join(EXERCISES)}."
        )
    namespace: dict[str, Any] = {"__name__": "__main__"}
    problems = run_cells(notebook, namespace)
    questions = [record for record in EXERCISES.values() if record.notebook in names]
    return Report(tuple(_verdict(record, cells.get(record.id, []), problems, namespace, seed) for record in questions))


def run_cells(notebook: Any, namespace: dict[str, Any]) -> dict[str, _Problem]:
    """Run set-up and answers from top to bottom; a cell that fails leaves its problem under its id."""
    problems: dict[str, _Problem] = {}
    for cell in notebook.cells:
        marks = grading(cell)
        if cell.cell_type == "code" and marks and not marks.get("grade"):
            problem = _run_cell(cell.source, f"cell {marks['grade_id']}", namespace)
            problems |= {marks["grade_id"]: problem} if problem else {}
    return problems


def _run_cell(source: str, name: str, namespace: dict[str, Any]) -> _Problem | None:
    if source.startswith("%%cuda"):
        line, _, cell = source.partition("\n")
        bound, namespace[bound], wrong = bind(line.removeprefix("%%cuda"), cell)
        return _Problem("error", f"The {name} does not compile: {wrong}") if wrong else None
    source = _MAGIC.sub("pass", source)
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)  # so errors quote lines
    try:
        code = compile(source, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return _Problem("error", f"The {name} is no valid Python: {guard.in_one_line(error)}.")
    outcome = guard.call(exec, (code, namespace), _SECONDS, guard.Printed())
    if outcome.ended == "returned":
        return None
    return _Problem("timeout" if outcome.ended == "timeout" else "error", f"The {name} {outcome.sentence}.")


def _verdict(
    record: Exercise, cells: list[Any], problems: dict[str, _Problem], namespace: dict[str, Any], seed: int
) -> Verdict:
    setup = next((problem for grade_id, problem in problems.items() if grade_id not in EXERCISES), None)
    problem = _malformed(record, cells) or setup or problems.get(record.id)
    if problem is None and record.function not in namespace:
        problem = _Problem("error", f"The cell {record.id} defines no {record.function}.")
    if problem is None:
        return judge(record, namespace[record.function], seed)
    return Verdict(exercise=record.id, title=record.title, points=record.points, **problem._asdict())


def _malformed(record: Exercise, cells: list[Any]) -> _Problem | None:
    if not cells:
        return _Problem("malformed", f"The cell {record.id} is missing; take it from a fresh copy.")
    if len(cells) > 1:
        return _Problem("malformed", f"{len(cells)} cells are copies of {record.id}; delete all but one.")
    if cells[0].cell_type != "code":
        return _Problem("malformed", f"The cell {record.id} is no code cell; make it one.")
    return None
