"""The ledger of what the seed texts claim: complete, in order, and filled wherever the lesson is written."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import nbformat
import pytest

from convlab import course

LEDGER = Path(__file__).parents[2] / "docs" / "claims.csv"
ROWS = list(csv.DictReader(LEDGER.read_text(encoding="utf-8").splitlines()))
WRITTEN = course.lessons()
COURSE = {f"{number:02}" for number in range(20)}
VERDICTS = {"taught", "confirmed", "corrected", "depends"}
NEEDS_NOTE = {"corrected", "depends"}
SECTIONS = {
    "A": {"introduction", *(str(number) for number in range(1, 36)), "preview"},
    "B": {"1", "2.1", "2.2", "2.3", "3.1", "3.2", "3.3", "4.1", "4.2", "4.3"}
    | {"5.1", "5.2", "5.3", "6.1", "6.2", "6.3", "6.4", "7"},
    "C": {"1", "2.1", "2.2", "3.1", "3.2", "4.1", "4.2", "5.1", "5.2", "5.3"},
}
UNNUMBERED = {"introduction": "0", "preview": "36"}  # what stands for them in an id


@cache
def cells(lesson: str) -> dict[str, str]:
    """The ids of a lesson's cells, and whether each is code or text."""
    book = nbformat.read(course.root() / course.lesson(lesson), as_version=4)
    return {cell.id: cell.cell_type for cell in book.cells}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_a_claim_says_where_it_stands_and_where_it_is_taught(row):
    assert row["claim"]
    assert row["lesson"] in COURSE
    assert row["section"] in SECTIONS[row["text"]]
    number = UNNUMBERED.get(row["section"], row["section"])
    assert row["id"].rpartition(".")[0] == row["text"] + number
    assert row["verdict"] in VERDICTS | {""}
    assert row["note"] or row["verdict"] not in NEEDS_NOTE


@pytest.mark.parametrize("row", [row for row in ROWS if row["lesson"] in WRITTEN], ids=lambda row: row["id"])
def test_a_claim_of_a_written_lesson_has_its_cell_and_its_verdict(row):
    assert row["verdict"]
    assert row["cell"] in cells(row["lesson"])
    # Words confirm nothing.
    assert row["verdict"] != "confirmed" or cells(row["lesson"])[row["cell"]] == "code"


def test_the_lessons_that_have_to_be_written_are_written():
    assert {f"{number:02}" for number in range(11)} <= set(WRITTEN)  # or their rows would pass, empty


def test_every_claim_stands_once():
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert len({row["claim"] for row in ROWS}) == len(ROWS)


def test_the_claims_stand_in_the_order_of_the_texts():
    places = [(row["text"], [int(part) for part in row["id"][1:].split(".")]) for row in ROWS]
    assert places == sorted(places)


def test_every_section_of_the_texts_is_in_the_ledger():
    found = {text: {row["section"] for row in ROWS if row["text"] == text} for text in SECTIONS}
    assert found == SECTIONS
    assert len(ROWS) >= 280  # rows taken out by mistake would pass the other tests


def test_every_lesson_but_the_first_has_claims_of_its_own():
    assert {row["lesson"] for row in ROWS} == COURSE - {"00"}
