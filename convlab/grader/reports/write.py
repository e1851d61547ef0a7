"""Writes all reports of a batch into its folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from convlab.grader.ledger import Paper, students
from convlab.grader.reports import tables
from convlab.grader.reports.feedback import feedback
from convlab.grader.reports.gradescope import gradescope
from convlab.grader.reports.summary import summary
from convlab.grader.results import write_whole
from convlab.grader.similarity import Pair, table

__all__ = ["write_reports"]

_MARK = "\ufeff"  # without it, Excel takes UTF-8 for something else; for tables that people open


def write_reports(
    folder: Path, papers: Sequence[Paper], course: str, pairs: Sequence[Pair], warnings: Iterable[str]
) -> None:
    """Write tables and pages; the same marks make the same files, byte for byte."""
    files = {
        "marks.csv": _MARK + tables.marks(papers),
        "canvas.csv": tables.canvas(papers),
        "similarity.csv": _MARK + table(pairs),
        "summary.html": summary(papers, course, pairs, warnings),
        **{f"moodle/{notebook}.csv": text for notebook, text in tables.moodle(papers).items()},
        **{f"gradescope/{paper.result['key']}/results.json": gradescope(paper) for paper in papers},
        **{f"feedback/{student.page}": feedback(student, course) for student in students(papers)},
    }
    for name, text in files.items():
        write_whole(folder / name, text)
