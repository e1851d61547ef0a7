"""Makes the notebooks that learners receive from those that hold the answers as well."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from convlab.checker.cells import NotebookError, cells_by_id, grading, read_notebook
from convlab.checker.exercises import exercise

__all__ = ["release", "released"]

_BEGIN = re.compile(r"(\s*)(?:###|//) BEGIN SOLUTION\s*")
_END = re.compile(r"\s*(?:###|//) END SOLUTION\s*")
_MARK = re.compile(r"(?:BEGIN|END) SOLUTION", re.IGNORECASE)

_GRADING = ("cell_type", "grade", "grade_id", "locked", "points", "schema_version", "solution", "task")
_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def release(solutions_dir: str | Path, exercises_dir: str | Path, check: bool = False) -> list[Path]:
    """Write the exercises of all solutions, and list the exercises that were not as they should be.

    Parameters: the two folders; ``check=True`` writes nothing. Returns the paths of the exercises that
    differed or were missing, and of those that have no solution: these are never deleted here. Raises
    ``NotebookError``, before anything is written, when a solution notebook is not well formed.
    """
    sources = sorted(Path(solutions_dir).glob("*.ipynb"))
    if not sources:
        raise NotebookError(f"there is no notebook in {solutions_dir}.\n  Fix: give the folder of the solutions.")
    wanted = {Path(exercises_dir) / source.name: released(source).encode() for source in sources}
    differing = [path for path, data in wanted.items() if not path.is_file() or path.read_bytes() != data]
    for path in [] if check else differing:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(wanted[path])
    strays = [path for path in sorted(Path(exercises_dir).glob("*.ipynb")) if path not in wanted]
    return differing + strays


def released(path: Path) -> str:
    """Give the text of the exercise notebook of one solution notebook; the same text for the same source.

    Only what is named here passes: the source outside the solution marks, the cell's id, nbgrader's own keys.
    Raises ``NotebookError`` for marks that do not pair, stand in a cell that is no answer, or are missing in
    one that is, and for ids and points that do not fit the exercises' records.
    """
    notebook = read_notebook(path)
    for grade_id, cells in cells_by_id(notebook).items():
        if len(cells) > 1:
            raise NotebookError(f"{path.name}: {len(cells)} cells have the id {grade_id}.\n  Fix: rename all but one.")
    cells = [_released_cell(cell, f"{path.name}, cell {i}") for i, cell in enumerate(notebook.cells, start=1)]
    bare = {"cells": cells, "metadata": _METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(bare, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _released_cell(cell: Any, place: str) -> dict[str, Any]:
    source, marks = cell.source, grading(cell)
    if marks.get("solution"):
        source = _with_stub(source, exercise(marks["grade_id"]).stub, place)
    if _MARK.search(source):
        fix = "Write ### BEGIN SOLUTION and ### END SOLUTION on lines of their own, in a cell marked as a solution"
        raise NotebookError(f"{place}: a solution mark is left over.\n  Fix: {fix}.")
    if "attachment:" in source:
        raise NotebookError(f"{place}: it shows an attachment, which is not released.\n  Fix: draw it in a code cell.")
    if marks.get("grade"):
        _check_points(marks, place)
    bare = {"cell_type": cell.cell_type, "id": cell.id, "metadata": _released_metadata(marks)}
    bare["source"] = source.splitlines(keepends=True)
    return bare | ({"execution_count": None, "outputs": []} if cell.cell_type == "code" else {})


def _with_stub(source: str, stub: str, place: str) -> str:
    """Replace what stands between the marks by the stub, at the indentation of the first mark."""
    lines: list[str] = []
    inside, answers = False, 0
    for line in source.splitlines():
        begin = _BEGIN.fullmatch(line)
        if begin and not inside:
            lines += [begin[1] + text for text in stub.splitlines()]
            inside, answers = True, answers + 1
        elif _END.fullmatch(line) and inside:
            inside = False
        elif not inside:
            lines.append(line)
        elif begin:
            raise NotebookError(f"{place}: a solution begins inside a solution.\n  Fix: end the first one before.")
    if inside or not answers:
        fact = "the solution has no end" if inside else "a cell marked as a solution has no solution"
        raise NotebookError(f"{place}: {fact}.\n  Fix: put ### BEGIN SOLUTION and ### END SOLUTION around it.")
    return "\n".join(lines)


def _check_points(marks: dict[str, Any], place: str) -> None:
    record = exercise(marks["grade_id"].removesuffix("-check"))
    if marks.get("points") != record.points:
        fact = f"the cell gives {marks.get('points')} points, but the record of {record.id} gives {record.points}"
        raise NotebookError(f"{place}: {fact}.\n  Fix: make them equal.")


def _released_metadata(marks: dict[str, Any]) -> dict[str, Any]:
    """Keep nbgrader's keys; a cell that the check needs cannot be deleted, nor edited unless it is the answer."""
    if not marks:
        return {}
    guarded = {"deletable": False} | ({"editable": False} if marks.get("locked") else {})
    return guarded | {"nbgrader": {key: marks[key] for key in _GRADING if key in marks}}
