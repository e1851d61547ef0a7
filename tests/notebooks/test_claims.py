"""The ledger of what the seed texts claim: no row is empty, and each points to a cell that is there."""

from __future__ import annotations

import csv
from pathlib import Path

import nbformat
import pytest

from convlab import course

LEDGER = Path(__file__).parents[2] / "docs" / "claims.csv"
ROWS = list(csv.DictReader(LEDGER.read_text(encoding="utf-8").splitlines()))
VERDICTS = {"taught", "confirmed", "corrected", "depends"}
NEEDS_NOTE = {"corrected", "depends"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_a_claim_has_its_cell_and_its_verdict(row):
    assert all(row[name] for name in ("id", "text", "section", "claim", "lesson", "cell"))
    assert row["verdict"] in VERDICTS
    assert row["note"] or row["verdict"] not in NEEDS_NOTE
    book = nbformat.read(course.root() / course.lesson(row["lesson"]), as_version=4)
    assert row["cell"] in [cell.id for cell in book.cells]


def test_every_claim_stands_once():
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert len({row["claim"] for row in ROWS}) == len(ROWS)


def test_the_sections_of_lesson_01_are_all_in_the_ledger():
    sections = {(row["text"], row["section"]) for row in ROWS if row["lesson"] == "01"}
    assert {("A", "1"), ("A", "2"), ("A", "3"), ("A", "4"), ("B", "2.1"), ("C", "1")} <= sections
