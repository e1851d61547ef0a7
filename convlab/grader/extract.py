"""Takes the answers out of a notebook: the solution cells by their id, found again where that was lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from convlab.checker.exercises import EXERCISES
from convlab.checker.record import Exercise
from convlab.grader.notebook_cells import CONFLICT, Cell, Cells
from convlab.grader.released import cell_ids, questions, stub

__all__ = ["Answer", "Paper", "extract"]

_LONGEST = 200_000  # characters of an answer
_NEAR = 8  # cells below one, in which the rest of it is looked for
# Strings and comments, so that brackets inside of them do not count. One without an end takes all that follows: a text
# made to be slow to search is read once.
_TRIPLE = r"'''.*?(?:'''|\Z)|\"\"\".*?(?:\"\"\"|\Z)"
_SHORT = r"'(?:\\.|[^'\\\n])*+'?|\"(?:\\.|[^\"\\\n])*+\"?"
_PYTHON = re.compile(rf"{_TRIPLE}|{_SHORT}|#[^\n]*", re.DOTALL)
_CUDA = re.compile(rf"/\*.*?(?:\*/|\Z)|//[^\n]*|{_SHORT}", re.DOTALL)


@dataclass(frozen=True)
class Answer:
    """One answer: its text, or the status and the sentence that say why there is none; ``notes`` for a human."""

    exercise: str
    text: str = ""
    status: str = ""
    sentence: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """What was handed in, read: which notebook it is, and an answer for each of its questions.

    ``problem`` says why there is none of a notebook that could be read; ``notes`` are about the whole file.
    """

    notebook: str
    answers: tuple[Answer, ...] = ()
    problem: str = ""
    notes: tuple[str, ...] = ()


def extract(cells: Cells, told: Sequence[str] = ()) -> Paper:
    """Take the answers out of the cells of a file.

    Parameters: ``cells`` of the file; ``told``, the names of file and folder, which say what was handed in where the
    cells do not.
    """
    notebook = _notebook(cells.cells, told)
    if not notebook:
        return Paper("", problem=cells.problem or "The file holds no exercise of the course.", notes=cells.notes)
    if cells.problem:
        answers = tuple(Answer(each, status="malformed", sentence=cells.problem) for each in questions()[notebook])
        return Paper(notebook, answers, notes=cells.notes)
    answers = tuple(_answer(EXERCISES[each], cells) for each in questions()[notebook])
    return Paper(notebook, answers, notes=cells.notes)


def _notebook(cells: Sequence[Cell], told: Sequence[str]) -> str:
    """The notebook that most of the cells are of, or that defines what it asks for, or that the names tell."""
    counts = Counter(cell_ids()[cell.id] for cell in cells if cell.id)
    if not counts:
        defined = [
            notebook
            for notebook, ids in questions().items()
            for each in ids
            if any(_defines(EXERCISES[each], cell.text) for cell in cells)
        ]
        counts = Counter(defined)
    if counts:
        return min(counts, key=lambda notebook: (-counts[notebook], notebook))
    return next((notebook for name in told for notebook in questions() if notebook in name), "")


def _answer(record: Exercise, cells: Cells) -> Answer:
    answer = _from(record, cells.cells)
    if cells.other is not None and _from(record, cells.other).text != answer.text:
        sentence = f"The cell {record.id} has two versions, with the marks of a merge conflict between them."
        return Answer(record.id, status="malformed", sentence=sentence)
    return answer


def _from(record: Exercise, cells: Sequence[Cell]) -> Answer:
    parts, notes = _with_id(record, cells)
    if not parts:
        parts, notes = _without_id(record, cells)
    if not parts:
        return Answer(record.id, status="malformed", sentence=f"The cell {record.id} is missing.")
    written = [part for part in _distinct(parts) if _bare(part) not in ("", _bare(stub(record.id)))]
    if not written:
        return Answer(record.id, status="not_attempted", sentence=f"{record.function} is not written yet.", notes=notes)
    text, more = _chosen(record, written)
    notes += more
    if CONFLICT.search(text):
        sentence = f"The cell {record.id} holds the marks of a merge conflict."
        return Answer(record.id, status="malformed", sentence=sentence, notes=notes)
    if len(text) > _LONGEST:
        sentence = f"The cell {record.id} is longer than {_LONGEST} characters."
        return Answer(record.id, status="malformed", sentence=sentence, notes=notes)
    return Answer(record.id, text, notes=notes)


def _with_id(record: Exercise, cells: Sequence[Cell]) -> tuple[list[str], tuple[str, ...]]:
    """The texts of the cells with the exercise's id, each with what was split off it and lost the id."""
    parts, notes = [], []
    for place, cell in enumerate(cells):
        if cell.id != record.id:
            continue
        text = cell.text
        if not cell.code and text.strip():
            notes.append(f"The cell {record.id} was no code cell any more; its text was graded.")
        rest = _split_off(record, text, cells[place + 1 : place + 1 + _NEAR])
        if rest:
            notes.append(f"The cell {record.id} was split; its parts were joined.")
        parts.append("\n".join([text, *rest]))
    return parts, tuple(notes)


def _split_off(record: Exercise, text: str, below: Sequence[Cell]) -> list[str]:
    """The cells below that go on where a cell broke off; none where it did not, or where nothing completes it."""
    rest: list[str] = []
    for cell in below:
        if cell.id or not cell.code or (_starts_anew(cell.text) and _is_whole(record, "\n".join([text, *rest]))):
            break
        rest.append(cell.text)
    while rest and not _is_whole(record, "\n".join([text, *rest])):
        rest.pop()
    return rest if any(not _starts_anew(each) for each in rest) or not _is_whole(record, text) else []


def _starts_anew(text: str) -> bool:
    """Whether a cell's first line can be the first of something: no part of a block, and no closing bracket."""
    first = text.lstrip("\n")[:1]
    return first not in (" ", "\t", "}", ")", "]")


def _without_id(record: Exercise, cells: Sequence[Cell]) -> tuple[list[str], tuple[str, ...]]:
    """The texts of cells without any id that define what the exercise asks for."""
    parts = []
    for place, cell in enumerate(cells):
        if not cell.id and _defines(record, cell.text):
            parts.append("\n".join([cell.text, *_split_off(record, cell.text, cells[place + 1 : place + 1 + _NEAR])]))
    note = f"The cell {record.id} had lost its id; it was found by the name {record.function}."
    return parts, (note,) if parts else ()


def _chosen(record: Exercise, parts: list[str]) -> tuple[str, tuple[str, ...]]:
    """One text of several: halves are joined, and of copies the last one counts, as in a run from top to bottom."""
    if len(parts) == 1:
        return parts[0], ()
    heads = [place for place, part in enumerate(parts) if _defines(record, part)]
    if len(heads) < 2:
        return "\n".join(parts), (f"The cell {record.id} was split; its parts were joined.",)
    if record.kind == "kernel":
        parts = ["\n".join(parts[begin:end]) for begin, end in zip(heads, [*heads[1:], None], strict=True)]
    return parts[-1], (f"{len(parts)} cells are different copies of {record.id}; the last one was graded.",)


def _distinct(parts: Sequence[str]) -> list[str]:
    """Each text once, where the last of its equals stands."""
    kept = {_bare(part): part for part in reversed(parts)}
    return [*reversed(kept.values())]


def _bare(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _defines(record: Exercise, text: str) -> bool:
    """Whether a text defines what an exercise asks for, at the left edge."""
    name = re.escape(record.function)
    if record.kind == "kernel":
        return re.match(rf"\s*%%cuda +{name}\s*$", text, re.MULTILINE) is not None
    return (
        re.search(rf"^(?:(?:async +)?def +{name} *\(|class +{name}\b|{name} *(?::.*)?=)", text, re.MULTILINE)
        is not None
    )


def _is_whole(record: Exercise, text: str) -> bool:
    """Whether a text defines what is asked for and closes what it opens; nobody parses a stranger's text here."""
    bare = (_CUDA if record.kind == "kernel" else _PYTHON).sub("", text)
    closed = all(bare.count(opening) == bare.count(closing) for opening, closing in ("()", "[]", "{}"))
    return closed and _defines(record, text) and not bare.rstrip().endswith((":", "\\"))
