"""The cells of a notebook that was handed in, whatever happened to the file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from convlab.grader.released import cell_ids
from convlab.grader.slim import TooLargeError, read_slim
from convlab.grader.submissions import File

__all__ = ["CONFLICT", "Cell", "Cells", "read_cells"]

CONFLICT = re.compile(r"^(?:<{7}|>{7})(?: .*)?$", re.MULTILINE)
_BEGIN, _MIDDLE = "<<<<<<<", "======="
_SOURCES = ("source", "input", "code")  # what versions 4, 2 and 3, and 1 of the format call it
_NO_FILE = "0" * 64  # the digest of what was not read


@dataclass(frozen=True)
class Cell:
    """One cell: whether it is code, its text with line feeds alone, and the id of a released cell, if it has one."""

    code: bool
    text: str
    id: str = ""


@dataclass(frozen=True)
class Cells:
    """What a file holds: its cells from top to bottom, and the digest of its bytes.

    ``problem`` says why there are none, ``notes`` what was mended, each as a sentence. A file that holds marks of a
    merge conflict has two versions; ``other`` is the second.
    """

    cells: tuple[Cell, ...] = ()
    digest: str = _NO_FILE
    problem: str = ""
    notes: tuple[str, ...] = ()
    other: tuple[Cell, ...] | None = field(default=None)


def read_cells(file: File) -> Cells:
    """Read a notebook as it comes: any version, any line ends, large outputs, and even with a merge left open."""
    if file.problem:
        return Cells(problem=f"The file {file.problem}.")
    try:
        with file.opened() as stream:
            slim = read_slim(stream)
    except TooLargeError as error:
        return Cells(problem=f"The file {error}.")
    except Exception as error:  # a zip's member may be damaged in many ways
        return Cells(problem=f"The file cannot be read: {type(error).__name__}.")
    if not slim.text.strip():
        return Cells(digest=slim.digest, problem="The file is empty.")
    cells, problem = _parsed(slim.text)
    if problem and CONFLICT.search(slim.text):
        return _merged(file, slim.digest)
    notes = ("The file has letters that are no UTF-8; they were replaced.",) if "\ufffd" in slim.text else ()
    return Cells(cells, slim.digest, problem, notes)


def _parsed(text: str) -> tuple[tuple[Cell, ...], str]:
    """The cells of a notebook's text, or why there are none."""
    try:
        notebook = json.loads(text, strict=False)
    except RecursionError:
        return (), "The file is no notebook: it is nested too deeply."
    except ValueError as error:
        where = f" in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        return (), f"The file is no notebook: it is no JSON{where}."
    if not isinstance(notebook, dict):
        return (), "The file is no notebook: its JSON holds something else."
    sheets = notebook.get("worksheets")  # where version 3 keeps its cells
    holders = [notebook, *(sheets if isinstance(sheets, list) else [])]
    lists = [each["cells"] for each in holders if isinstance(each, dict) and isinstance(each.get("cells"), list)]
    if not lists:
        return (), "The file is no notebook: it has no cells."
    return tuple(_cell(each) for cells in lists for each in cells if isinstance(each, dict)), ""


def _cell(given: Mapping[str, Any]) -> Cell:
    source = next((given[name] for name in _SOURCES if name in given), "")
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    return Cell(given.get("cell_type") == "code", text.encode("utf-8", "replace").decode(), _id(given))


def _id(given: Mapping[str, Any]) -> str:
    """The id that nbgrader reads, else the cell's own where that is a released one's: some programs keep only that."""
    metadata = given.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    found = marks.get("grade_id") if isinstance(marks, dict) else None
    ids = (each for each in (found, given.get("id")) if isinstance(each, str) and each in cell_ids())
    return next(ids, "")


def _merged(file: File, digest: str) -> Cells:
    """Read both versions of a notebook that a merge was left open in."""
    problem = "The file holds the marks of a merge conflict, and is no notebook with either version."
    try:
        with file.opened() as stream:
            text = read_slim(stream, keep_all=True).text
    except TooLargeError as error:
        return Cells(digest=digest, problem=f"The file holds the marks of a merge conflict, and {error}.")
    ours, theirs = (_parsed(_version(text, keep)) for keep in (_BEGIN, _MIDDLE))
    if ours[1] or theirs[1]:
        return Cells(digest=digest, problem=problem)
    return Cells(ours[0], digest, notes=("The file holds the marks of a merge conflict.",), other=theirs[0])


def _version(text: str, keep: str) -> str:
    """One side of each conflict, that which begins with the mark ``keep``."""
    kept, part = [], ""
    for line in text.splitlines(keepends=True):
        mark = line[:7]
        if CONFLICT.match(line):
            part = _BEGIN if mark == _BEGIN else ""
        elif part == _BEGIN and line.rstrip() == _MIDDLE:
            part = _MIDDLE
        elif not part or part == keep:
            kept.append(line)
    return "".join(kept)
