"""The marks as they count: results, the course's points, what is taken off for being late, and what a human set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from convlab.checker.exercises import EXERCISES
from convlab.grader.course_file import Assignment, Course
from convlab.grader.mark import Mark
from convlab.grader.overrides import Override, Overrides
from convlab.grader.text import file_name

__all__ = ["Paper", "Question", "Student", "ledger", "students"]

_FOR_A_HUMAN = {
    "grader_error": "the grader failed",
    "malformed": "an answer could not be read",
    "forbidden": "an answer tried what is forbidden",
    "crashed": "an answer crashed",
}


@dataclass(frozen=True)
class Question:
    """One answer: its mark, the points that it can give, and what a human set instead, if anything."""

    mark: Mark
    most: float
    override: Override | None = None
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What the exercise is called."""
        return EXERCISES[self.mark.exercise].title

    @property
    def earned(self) -> float:
        """The points, before anything is taken off for being late."""
        return self.override.points if self.override else round(self.mark.share * self.most, 2)


@dataclass(frozen=True)
class Paper:
    """One submission with its marks; ``result`` is what the batch wrote down of it."""

    result: Mapping[str, Any]
    questions: tuple[Question, ...]
    assignment: Assignment | None
    late_days: int
    late_share: float

    @property
    def student(self) -> str:
        """The student's name, safe to show."""
        return str(self.result["student"])

    @property
    def identifier(self) -> str:
        """The number that the LMS knows the student by; empty where there is none."""
        return str(self.result["identifier"])

    def number_in(self, lms: str) -> str:
        """The number that an LMS knows the student by, "canvas" or "moodle"; empty where it is another's."""
        return self.identifier if self.result["lms"] == lms else ""

    @property
    def earned(self) -> float:
        """The points of all answers together."""
        return round(sum(question.earned for question in self.questions), 2)

    @property
    def penalty(self) -> float:
        """What is taken off for being late."""
        return round(self.earned * self.late_share, 2)

    @property
    def points(self) -> float:
        """What counts in the end."""
        return round(self.earned - self.penalty, 2)

    @property
    def most(self) -> float:
        """The points that there are to earn."""
        return round(sum(question.most for question in self.questions), 2)

    @property
    def for_a_human(self) -> tuple[str, ...]:
        """Why somebody should look at it, each reason a sentence; what a human has set is settled."""
        reasons = [str(self.result["problem"])] if self.result["problem"] else []
        reasons += self.result["notes"]
        for question in self.questions:
            if question.override is None and question.mark.status in _FOR_A_HUMAN:
                words = _FOR_A_HUMAN[question.mark.status]
                reasons.append(f"{question.mark.exercise}: {words}: {question.mark.sentence}")
            reasons += question.notes
        if self.result["late"] and not (self.result["submitted"] and self.assignment and self.assignment.due):
            reasons.append("The LMS marked it as late, and by how much is not known: nothing was taken off.")
        return tuple(dict.fromkeys(reasons))


@dataclass(frozen=True)
class Student:
    """All papers of one student, and the name of the student's page."""

    name: str
    identifier: str
    papers: tuple[Paper, ...]

    @property
    def page(self) -> str:
        """The name of the student's page of feedback."""
        return f"{file_name(self.name, self.identifier)}.html"


def ledger(results: Iterable[Mapping[str, Any]], course: Course, overrides: Overrides) -> list[Paper]:
    """Form the points from results: in the order of students, then of notebooks."""
    papers = [_paper(result, course, overrides) for result in results]
    return sorted(
        papers, key=lambda paper: (paper.student, paper.identifier, paper.result["notebook"], paper.result["key"])
    )


def students(papers: Iterable[Paper]) -> list[Student]:
    """Group papers by student."""
    groups: dict[tuple[str, str], list[Paper]] = {}
    for paper in papers:
        groups.setdefault((paper.student, paper.identifier), []).append(paper)
    return [Student(name, identifier, tuple(group)) for (name, identifier), group in groups.items()]


def _paper(result: Mapping[str, Any], course: Course, overrides: Overrides) -> Paper:
    assignment = course.assignments.get(result["notebook"])
    days = _late_days(result["submitted"], assignment, course)
    questions = tuple(_question(each, result, assignment, overrides) for each in result["answers"] if assignment)
    return Paper(result, questions, assignment, days, course.late.share(days))


def _question(
    given: Mapping[str, Any], result: Mapping[str, Any], assignment: Assignment, overrides: Overrides
) -> Question:
    mark = Mark.from_dict(given["mark"])
    override = overrides.of(result["student"], result["identifier"], mark.exercise)
    return Question(mark, assignment.points[mark.exercise], override, tuple(given["notes"]))


def _late_days(submitted: str | None, assignment: Assignment | None, course: Course) -> int:
    if not submitted or assignment is None or assignment.due is None:
        return 0
    return course.late.days(assignment.due, datetime.fromisoformat(submitted))
