"""``convlab grade``: from what was handed in to marks, tables and pages."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from convlab.errors import ConvlabError
from convlab.grader import isolation
from convlab.grader.batch import grade_all
from convlab.grader.course_file import Course, read_course, whole_course
from convlab.grader.executors import Opener, on_dask, on_this_machine
from convlab.grader.grade_one import Job
from convlab.grader.ledger import ledger
from convlab.grader.overrides import Overrides, read_overrides
from convlab.grader.plan import Planned, plan, versions
from convlab.grader.released import questions
from convlab.grader.reports.write import write_reports
from convlab.grader.results import Results
from convlab.grader.seeds import Seed, seed_from
from convlab.grader.similarity import similar
from convlab.grader.submissions import collect

__all__ = ["Grading", "GradingError", "run"]


_OFTEN = 30.0  # seconds between two reports of what is graded so far


class GradingError(ConvlabError, ValueError):
    """A batch that cannot begin."""


@dataclass(frozen=True)
class Grading:
    """What to grade, where the reports go, and how.

    ``seed_file``, in the folder of the reports where it is ``None``; ``jobs`` at once; ``course``, a course file, all
    exercises where it is ``None``; ``dask``, the address of a cluster; ``allow_plain``, whether answers may run
    without isolation; ``say`` takes a line for whoever waits.
    """

    submissions: Path
    out: Path
    seed_file: Path | None = None
    jobs: int = 1
    course: Path | None = None
    dask: str | None = None
    allow_plain: bool = False
    say: Callable[[str], None] = print


def run(grading: Grading) -> int:
    """Grade all that is not graded yet, and write all reports; gives the number of submissions that need a human.

    A run that was stopped, even killed, goes on where it was: what is graded stands, as long as nothing that it rests
    on has changed. Raises ``ConvlabError`` for what cannot begin, and ``KeyboardInterrupt``, with the reports of what
    is graded written.
    """
    course = read_course(grading.course) if grading.course else whole_course()
    batch = _Batch(grading, course)
    try:
        batch.grade()
    finally:
        asked = batch.report(read_overrides(batch.overrides))
    return asked


class _Batch:
    """One run: what is planned, what stands already, and where results go."""

    def __init__(self, grading: Grading, course: Course) -> None:
        self._grading, self._course = grading, course
        self._level = "Dask" if grading.dask else _announced(grading)
        self._seed, self.overrides = _prepared(grading)
        self._first_overrides = read_overrides(self.overrides)  # a mistake in it is told now, not after hours of work
        found = collect(grading.submissions, questions())
        self._planned = plan(found, course)
        self._marks = {each.key: each.fingerprint(*self._conditions(each)) for each in self._planned}
        self._results = Results(grading.out / "results")
        self._next_report = time.monotonic() + _OFTEN
        grading.say(f"{len(found.submissions)} files, {found.sentence}; {len(self._planned)} submissions.")

    def grade(self) -> None:
        """Grade what has no standing result."""
        open_ = [each for each in self._planned if not self._standing(each)]
        planned = {each.key: each for each in open_}
        total = len(self._planned)
        with tqdm(total=total, initial=total - len(open_), unit="submission", disable=None, file=sys.stderr) as bar:

            def keep(job: Job, outcome: Mapping[str, Any]) -> None:
                self._results.keep(job.key, self._result(planned[job.key], outcome))
                bar.update()
                self._report_now_and_then()

            grade_all(map(self._job, open_), _opener(self._grading), keep)

    def _report_now_and_then(self) -> None:
        """Write the reports of what is graded so far, unless that would take much of the time."""
        began = time.monotonic()
        if began >= self._next_report:
            self.report(self._first_overrides)
            took = time.monotonic() - began
            self._next_report = began + took + max(_OFTEN, 20 * took)

    def report(self, overrides: Overrides) -> int:
        """Write the reports of everything that stands."""
        results = [result for each in self._planned if (result := self._standing(each, even_failed=True))]
        papers = ledger(results, self._course, overrides)
        warnings = [*self._unfinished(len(results)), *overrides.unused()]
        write_reports(self._grading.out, papers, self._course.title, similar(self._texts()), warnings)
        return sum(bool(paper.for_a_human) for paper in papers)

    def _unfinished(self, done: int) -> list[str]:
        return [f"Not everything is graded yet: {done} of {len(self._planned)}."] if done < len(self._planned) else []

    def _standing(self, each: Planned, even_failed: bool = False) -> dict[str, Any] | None:
        """The result of a submission that stands; what the grader itself failed at is tried again."""
        result = self._results.standing(each.key, self._marks[each.key])
        failed = result and any(answer["mark"]["status"] == "grader_error" for answer in result["answers"])
        return result if even_failed or not failed else None

    def _wanted(self, each: Planned) -> tuple[str, ...]:
        assignment = self._course.assignments.get(each.paper.notebook)
        return tuple(assignment.points) if assignment else ()

    def _conditions(self, each: Planned) -> tuple[object, ...]:
        return self._wanted(each), self._seed.id, self._level, versions()

    def _job(self, each: Planned) -> Job:
        return Job(each.key, each.paper.answers, self._wanted(each), self._seed.value, self._grading.allow_plain)

    def _result(self, each: Planned, outcome: Mapping[str, Any]) -> dict[str, Any]:
        notes = {answer.exercise: list(answer.notes) for answer in each.paper.answers}
        audit = {
            "seed": self._seed.id,
            "isolation": outcome["isolation"],
            "isolated": outcome["isolated"],
            **versions(),
        }
        answers = [{"mark": mark, "notes": notes[mark["exercise"]]} for mark in outcome["marks"]]
        more = {"answers": answers, "audit": audit, "seconds": outcome["seconds"], "fingerprint": self._marks[each.key]}
        return each.identity() | more

    def _texts(self) -> dict[str, list[tuple[str, str]]]:
        """The answers to each exercise, for the similarity report."""
        texts: dict[str, list[tuple[str, str]]] = {}
        for each in self._planned:
            for answer in each.paper.answers:
                if answer.text:
                    texts.setdefault(answer.exercise, []).append((each.student, answer.text))
        return texts


def _announced(grading: Grading) -> str:
    """Find the isolation that works here, and say which."""
    level = isolation.best(grading.allow_plain)
    grading.say(level.sentence)
    return level.name


def _opener(grading: Grading) -> Opener:
    return on_dask(grading.dask) if grading.dask else on_this_machine(grading.jobs)


def _prepared(grading: Grading) -> tuple[Seed, Path]:
    """The folder of the reports, which only its owner may enter, with the seed and the table of overrides."""
    out, source = grading.out.resolve(), grading.submissions.resolve()
    if out == source or source in out.parents:
        raise GradingError(f"{grading.out} lies inside of the submissions.\n  Fix: give another folder with --out.")
    try:
        out.mkdir(parents=True, exist_ok=True)
        out.chmod(0o700)
        return seed_from(grading.seed_file or out / "seed"), out / "overrides.csv"
    except OSError as error:
        raise GradingError(
            f"{error.filename} cannot be written: {error.strerror}.\n  Fix: give another folder with --out."
        ) from None
