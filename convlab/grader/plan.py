"""What there is to do: every submission read, whose it is, which notebook, and which of several files counts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from platform import python_version
from typing import Any

from convlab.grader.course_file import Course
from convlab.grader.extract import Paper, extract
from convlab.grader.notebook_cells import read_cells
from convlab.grader.submissions import Found, Submission
from convlab.grader.text import file_name, one_line, plain

__all__ = ["Planned", "plan", "versions"]

_PACKAGE = Path(__file__).resolve().parents[1]
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Planned:
    """One submission, read: its key, what it answers, the SHA-256 of its file, and notes for a human."""

    key: str
    submission: Submission
    paper: Paper
    digest: str
    notes: tuple[str, ...] = ()

    @property
    def student(self) -> str:
        """The student's name, safe to show."""
        return plain(self.submission.owner.student)

    def identity(self) -> dict[str, Any]:
        """What is known before grading, as it stands in the result."""
        owner, submitted = self.submission.owner, self.submission.submitted
        return {
            "key": self.key,
            "student": self.student,
            "lms": owner.lms,
            "identifier": owner.identifier,
            "notebook": self.paper.notebook,
            "file": plain(self.submission.name),
            "digest": self.digest,
            "submitted": submitted.isoformat() if submitted else None,
            "late": owner.late,
            "problem": self.paper.problem,
            "notes": list(self.notes),
        }

    def fingerprint(self, *conditions: object) -> str:
        """Tells whether a result is still that of this file under these conditions."""
        answers = [(each.exercise, each.text, each.status, each.sentence, each.notes) for each in self.paper.answers]
        return hashlib.sha256(json.dumps([self.identity(), answers, conditions]).encode()).hexdigest()[:32]


def plan(found: Found, course: Course) -> list[Planned]:
    """Read all submissions, in order; of a student's several files of one notebook the latest counts."""
    read = [_read(each, course) for each in found.submissions]
    groups: dict[tuple[str, str, str], list[Planned]] = {}
    for each in read:
        owner = each.submission.owner
        groups.setdefault((owner.student, owner.identifier, each.paper.notebook or each.key), []).append(each)
    return [_counting(group) for group in groups.values()]


def _read(submission: Submission, course: Course) -> Planned:
    owner, file = submission.owner, submission.name.rpartition("/")[2]
    cells = read_cells(submission.file)
    if not file.lower().partition(".ipynb")[1]:
        paper = Paper("", problem=f"{one_line(file, 60)} was handed in, and no notebook.")
    else:
        paper = extract(cells, (file, owner.assignment))
    if paper.notebook and paper.notebook not in course.assignments:
        paper = Paper("", problem=f"The notebook {paper.notebook} is no part of this course.")
    key = file_name(owner.student, owner.identifier, paper.notebook or submission.name)
    return Planned(key, submission, paper, cells.digest, paper.notes)


def _counting(group: Sequence[Planned]) -> Planned:
    """The latest of several files, by the time that is known, else by the number in the name."""
    chosen = max(group, key=_lateness)
    others = ", ".join(one_line(each.submission.name, 60) for each in group if each is not chosen)
    note = f"There are {len(group)} files of this notebook; the latest counts, and not {others}."
    return replace(chosen, notes=(*chosen.notes, note)) if others else chosen


def _lateness(each: Planned) -> tuple[datetime, int, str]:
    return each.submission.submitted or _LONG_AGO, each.submission.owner.attempt, each.submission.name


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """What the marks depend on: versions, and a digest of all of convlab's own code."""
    digest = hashlib.sha256()
    for path in sorted(_code()):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    packages = {name: _version(name) for name in ("convlab", "numpy", "nvidia-cuda-nvrtc")}
    return {**packages, "python": python_version(), "code": digest.hexdigest()[:12]}


def _code() -> Iterable[Path]:
    return (path for path in _PACKAGE.rglob("*") if path.suffix in (".py", ".cu", ".cuh"))


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "none"
