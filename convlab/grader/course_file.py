"""The course file: which exercises count, for how many points, until when, and what it costs to be late."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from convlab.checker.exercises import EXERCISES
from convlab.errors import ConvlabError
from convlab.grader.released import questions

__all__ = ["Assignment", "Course", "CourseFileError", "Late", "read_course", "whole_course"]

_HEAD = re.compile(r"\s*\[\[?\s*(\w+)\s*([.\]])")  # of a table, and whether it is one inside of that table


class CourseFileError(ConvlabError, ValueError):
    """A course file with something wrong in it."""


@dataclass(frozen=True)
class Late:
    """What it costs to be late: a share of what was earned for each day begun, at most so much, after some grace."""

    per_day: float = 0.0
    most: float = 1.0
    grace_minutes: float = 0.0

    def days(self, due: datetime, submitted: datetime) -> int:
        """How many days have begun since it was due; none within the grace.

        >>> due = datetime.fromisoformat("2027-03-01T12:00+00:00")
        >>> Late(grace_minutes=15).days(due, datetime.fromisoformat("2027-03-02T12:16+00:00"))
        2
        """
        over = (submitted - due).total_seconds()
        return 0 if over <= 60 * self.grace_minutes else int(-(-over // 86_400))

    def share(self, days: int) -> float:
        """What part of the points so many days cost."""
        return min(self.most, self.per_day * days)


@dataclass(frozen=True)
class Assignment:
    """One notebook of a course: its title in the LMS, when it is due, and the points of each question that counts."""

    notebook: str
    title: str
    points: Mapping[str, float]
    due: datetime | None = None


@dataclass(frozen=True)
class Course:
    """A course: its title, its assignments by notebook, and what it costs to be late."""

    title: str
    assignments: Mapping[str, Assignment]
    late: Late = field(default_factory=Late)


def whole_course() -> Course:
    """All exercises with the points of their records, due at any time."""
    found = {notebook: Assignment(notebook, notebook, _usual_points(notebook)) for notebook in questions()}
    return Course("convlab", found)


def _usual_points(notebook: str) -> dict[str, float]:
    return {each: float(EXERCISES[each].points) for each in questions()[notebook]}


def read_course(path: Path) -> Course:
    """Read a course file.

    Raises ``CourseFileError``, which names the key and its line, for anything that is not as it should be.
    """
    try:
        text = path.read_text("utf-8-sig")
        values = tomllib.loads(text)
    except OSError as error:
        raise CourseFileError(
            f"{path} cannot be read: {error.strerror}.\n  Fix: give the path of a course file."
        ) from None
    except ValueError as error:  # no TOML, or no UTF-8; tomllib names the line
        raise CourseFileError(f"{path} is no TOML: {error}.\n  Fix: mend that line.") from None
    table = _Table(path.name, text, "", values)
    title = table.take("title", str, "convlab")
    late = _late(_Table(path.name, text, "late", table.take("late", dict, {}), ("late", 1)))
    given = table.take("assignment", list, None)
    table.end()
    assignments: dict[str, Assignment] = {}
    for number, each in enumerate(given, start=1):
        entry = _Table(path.name, text, f"assignment {number}", each, ("assignment", number))
        found = _assignment(entry)
        if found.notebook in assignments:
            raise entry.error("notebook", f"is {found.notebook!r} for a second time", "Delete one of the two.")
        assignments[found.notebook] = found
    return Course(title, assignments, late)


def _late(table: _Table) -> Late:
    late = Late(
        *(table.number(key, least=0, most=most) for key, most in (("per_day", 1), ("most", 1), ("grace_minutes", 1e6)))
    )
    table.end()
    return late


def _assignment(table: _Table) -> Assignment:
    notebook = table.take("notebook", str, None)
    if notebook not in questions():
        raise table.error("notebook", f"is {notebook!r}, which is no exercise notebook", _choice(notebook, questions()))
    title = table.take("title", str, notebook)
    due = table.take("due", datetime, ...)
    if isinstance(due, datetime) and due.tzinfo is None:
        raise table.error("due", "has no time zone", f"Write it with one, such as {due.isoformat()}+01:00.")
    usual = _usual_points(notebook)
    points = _Table(table.file, table.text, f"{table.name}'s points", table.take("points", dict, usual), table.section)
    for each in points.values:
        if each not in usual:
            raise points.error(each, f"is no question of {notebook}", _choice(each, usual))
    counted = {each: points.number(each, least=0, most=1e6) for each in usual if each in points.values}
    table.end()
    return Assignment(notebook, title, counted, due if isinstance(due, datetime) else None)


def _choice(given: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(given, known, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"Take one of {', '.join(known)}."


class _Table:
    """A table of the file, from which keys are taken one by one; what is left at the end is unknown."""

    def __init__(self, file: str, text: str, name: str, values: Any, section: tuple[str, int] = ("", 0)) -> None:
        self.file, self.text, self.name, self.section = file, text, name, section
        if not isinstance(values, dict):
            raise CourseFileError(f"{file}: {name} is no table.\n  Fix: write [[assignment]] above each assignment.")
        self.values: dict[str, Any] = values
        self._known: list[str] = []

    def take(self, key: str, kind: type, default: Any) -> Any:
        """A value of some kind; ``None`` as default makes it needed, ``...`` is for none."""
        self._known.append(key)
        if key not in self.values and default is None:
            raise self.error(key, "is missing", f"Add a line {key} = ….")
        value = self.values.get(key, default)
        if key in self.values and not isinstance(value, kind):
            raise self.error(key, f"is {value!r}", f"Write {_KINDS[kind]}.")
        return value

    def number(self, key: str, least: float, most: float) -> float:
        """A number within limits; where it is not given, what the record of a late penalty has."""
        self._known.append(key)
        value = self.values.get(key, getattr(Late, key, None))
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise self.error(key, f"is {value!r}", f"Write a number from {least:g} to {most:g}.")
        return float(value)

    def end(self) -> None:
        """Refuse keys that nobody took."""
        for key in self.values:
            if key not in self._known:
                raise self.error(key, "is no key that is known here", _choice(key, dict.fromkeys(self._known)))

    def error(self, key: str, fact: str, fix: str) -> CourseFileError:
        """An error that names the key, its table and its line."""
        place = f"{key} of {self.name}" if self.name else key
        return CourseFileError(f"{self.file}, line {self._line(key)}: {place} {fact}.\n  Fix: {fix}")

    def _line(self, key: str) -> int:
        """The line of a key in its section of the file, else where the section begins."""
        wanted = re.compile(rf"(?:^|[{{,\s])[\"']?{re.escape(key)}[\"']?\s*[=.]|^\s*\[+[\w.]*\b{re.escape(key)}\s*\]")
        begin, number, inside = 1, 0, not self.section[0]
        for place, line in enumerate(self.text.splitlines(), start=1):
            head = _HEAD.match(line)
            if head and head[2] == "]" and self.section[0]:
                number += head[1] == self.section[0]
                inside = (head[1], number) == self.section
                begin = place if inside else begin
            if inside and wanted.search(line):
                return place
        return begin


_KINDS: dict[type, str] = {
    str: "a text in quotes",
    dict: 'a table, such as { "01-loops" = 6 }',
    list: "[[assignment]] above each assignment",
    datetime: "a date and time with its zone and no quotes, such as 2027-03-01T23:59:00+01:00",
}
