"""Tables: one row for each answer, and what Canvas and Moodle read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from convlab.grader.ledger import Paper, Question, students
from convlab.grader.reports.page import counted
from convlab.grader.text import guarded

__all__ = ["canvas", "marks", "moodle"]

Value = str | float | int

_MARKS = (
    "student", "identifier", "notebook", "exercise", "title", "status", "points", "most", "share", "set by hand",
    "reason", "sentence", "misconception", "late days", "late penalty", "notebook points", "submitted", "file",
    "sha256", "seed", "isolation", "convlab", "code", "python", "numpy", "needs a human",
)  # fmt: skip
_MOODLE = (
    "Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed",
    "Last modified (submission)", "Last modified (grade)", "Feedback comments",
)  # fmt: skip


def marks(papers: Iterable[Paper]) -> str:
    """Give one row for each answer, with everything that is known of it; a paper without answers has one row, too."""
    rows = [_mark(paper, question) for paper in papers for question in paper.questions or (None,)]
    return _csv(_MARKS, rows)


def canvas(papers: Sequence[Paper]) -> str:
    """Give the table that Canvas imports into its gradebook: a row for each student, a column for each notebook.

    Canvas finds the student by ``ID``, or by the login where that is empty, and the assignment by the column's name.
    """
    assignments = {paper.assignment.notebook: paper.assignment for paper in papers if paper.assignment}
    columns = {notebook: assignments[notebook].title for notebook in sorted(assignments)}
    most = {notebook: sum(each.points.values()) for notebook, each in assignments.items()}
    head = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", *columns.values())
    rows: list[Sequence[Value]] = [("    Points Possible", "", "", "", "", *(_number(most[each]) for each in columns))]
    for student in students(papers):
        points = {paper.result["notebook"]: _number(paper.points) for paper in student.papers}
        number = student.papers[0].number_in("canvas")
        login = "" if number else student.name
        rows.append((student.name, number, "", login, "", *(points.get(each, "") for each in columns)))
    return _csv(head, rows)


def moodle(papers: Iterable[Paper]) -> Mapping[str, str]:
    """Give, by notebook, the grading worksheet that Moodle imports.

    It finds a participant by the number alone: whoever did not hand in through Moodle has none, and no row.
    """
    rows: dict[str, list[Sequence[Value]]] = {}
    for paper in papers:
        if paper.assignment and (participant := paper.number_in("moodle")):
            grade, most = _number(paper.points), _number(sum(paper.assignment.points.values()))
            row = (f"Participant {participant}", paper.student, "", "", grade, most, "Yes", "-", "-", _comment(paper))
            rows.setdefault(paper.assignment.notebook, []).append(row)
    return {notebook: _csv(_MOODLE, rows[notebook]) for notebook in sorted(rows)}


def _mark(paper: Paper, question: Question | None) -> Sequence[Value]:
    result, audit = paper.result, paper.result["audit"]
    if question is None:
        told: tuple[Value, ...] = ("", "", "malformed", 0, "", "", "", "", result["problem"], "")
    else:
        mark, override = question.mark, question.override
        by_hand = (_number(override.points), override.reason) if override else ("", "")
        told = (
            mark.exercise, question.title, mark.status, _number(question.earned), _number(question.most),
            _number(mark.share), *by_hand, mark.sentence, mark.misconception or "",
        )  # fmt: skip
    return (
        paper.student, paper.identifier, result["notebook"], *told, paper.late_days, _number(paper.penalty),
        _number(paper.points), result["submitted"] or "", result["file"], result["digest"], audit["seed"],
        audit["isolation"], audit["convlab"], audit["code"], audit["python"], audit["numpy"],
        " ".join(paper.for_a_human),
    )  # fmt: skip


def _comment(paper: Paper) -> str:
    lines = [
        f"{each.mark.exercise}: {_number(each.earned)} of {_number(each.most)}. {each.mark.sentence}"
        for each in paper.questions
    ]
    if paper.penalty:
        lines.append(f"{counted(paper.late_days, 'day')} late: {_number(paper.penalty)} taken off.")
    return "\n".join(lines)


def _number(value: float) -> float | int:
    return int(value) if value == int(value) else round(value, 4)


def _csv(head: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """A table in UTF-8; texts are guarded, so that no spreadsheet runs one."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([guarded(each) for each in head])
    for row in rows:
        writer.writerow([guarded(each) if isinstance(each, str) else each for each in row])
    return out.getvalue()
