"""Points that a human gave, with the reason: a table that the grader reads and never changes."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from convlab.checker.exercises import EXERCISES
from convlab.errors import ConvlabError
from convlab.grader.results import write_whole
from convlab.grader.text import guarded, plain

__all__ = ["Override", "Overrides", "OverridesError", "read_overrides"]

_COLUMNS = ("student", "identifier", "exercise", "points", "reason")


class OverridesError(ConvlabError, ValueError):
    """A table of overrides with something wrong in it."""


class Override(NamedTuple):
    """The points that an answer gets by hand, and why."""

    points: float
    reason: str


class Overrides:
    """The overrides of a folder, and which of them found their answer."""

    def __init__(self, given: Mapping[tuple[str, str, str], tuple[int, Override]], file: str) -> None:
        self._given = given
        self._file = file
        self._used: set[tuple[str, str, str]] = set()

    def of(self, student: str, identifier: str, exercise: str) -> Override | None:
        """The override of one answer; a row without an identifier is for whoever has the name."""
        for key in ((guarded(student), identifier, exercise), (guarded(student), "", exercise)):
            if key in self._given:
                self._used.add(key)
                return self._given[key][1]
        return None

    def unused(self) -> list[str]:
        """A sentence for each row that is about nobody's answer."""
        return [
            f"{self._file}, line {line}: {key[0]} has handed in nothing with {key[2]}."
            for key, (line, _) in self._given.items()
            if key not in self._used
        ]


def read_overrides(path: Path) -> Overrides:
    """Read the table; where there is none, make one with a head and no rows.

    Raises ``OverridesError``, which names the line.
    """
    if not path.exists():
        write_whole(path, ",".join(_COLUMNS) + "\n")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            head = file.readline()
            file.seek(0)
            # Where the comma is a decimal sign, spreadsheets save tables with semicolons.
            reader = csv.DictReader(file, delimiter=";" if ";" in head else ",")
            if tuple(reader.fieldnames or ()) != _COLUMNS:
                raise OverridesError(
                    f"{path.name}, line 1: the columns are not {', '.join(_COLUMNS)}.\n  Fix: write these."
                )
            rows = [(reader.line_num, row) for row in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise OverridesError(f"{path.name} is no table: {error}.\n  Fix: save it as CSV, in UTF-8.") from None
    given: dict[tuple[str, str, str], tuple[int, Override]] = {}
    for line, row in rows:
        key, override = _row(f"{path.name}, line {line}", row)
        if key in given:
            raise OverridesError(
                f"{path.name}, line {line}: a second row for the same answer.\n  Fix: delete one of the two."
            )
        given[key] = line, override
    return Overrides(given, path.name)


def _row(place: str, row: Mapping[str, str | None]) -> tuple[tuple[str, str, str], Override]:
    texts = {name: plain(row.get(name) or "").strip() for name in _COLUMNS}
    if texts["exercise"] not in EXERCISES:
        raise OverridesError(
            f"{place}: there is no exercise {texts['exercise']!r}.\n  Fix: write an id, such as 01-loops."
        )
    if not texts["reason"]:
        raise OverridesError(f"{place}: the reason is missing.\n  Fix: write it down; the student will read it.")
    try:
        points = float(texts["points"])
    except ValueError:
        points = -1.0
    if not 0 <= points < 1e6:
        raise OverridesError(f"{place}: the points are {texts['points']!r}.\n  Fix: write a number from 0 on.")
    return (guarded(texts["student"]), texts["identifier"], texts["exercise"]), Override(points, texts["reason"])
