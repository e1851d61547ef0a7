"""Tables, read by the standard library's parser, which guesses how they are written."""

from __future__ import annotations

import csv
import io

import pytest

from convlab.grader.course_file import Assignment, Course
from convlab.grader.ledger import ledger
from convlab.grader.overrides import read_overrides
from convlab.grader.reports import tables

from ..outcomes import COURSE, result

NAMES = [
    "Lovelace, Ada",
    'Ada "Countess" King',
    "two\nlines",
    "=1+1",
    "@SUM(A1:A9)",
    "李雷",
    "Ωμέγα",
    "نور",
    "O'Neil; Ada",
    "-x",
    "a\tb",
]


def papers(tmp_path, *results, course=COURSE, rows=""):
    path = tmp_path / "overrides.csv"
    path.write_text("student,identifier,exercise,points,reason\n" + rows, "utf-8")
    return ledger(results, course, read_overrides(path))


def read(text):
    """All rows of a table, after a parser found out by itself how it is written."""
    dialect = csv.Sniffer().sniff(text.splitlines()[0] + "\n")
    assert dialect.delimiter == ","
    return list(csv.DictReader(io.StringIO(text, newline=""), dialect=dialect, doublequote=True))


def survived(shown, name):
    return shown == (f"'{name}" if name[0] in "=@-" else name)


@pytest.mark.parametrize("name", NAMES)
def test_names_survive_in_every_table(name, tmp_path):
    found = papers(tmp_path, result(name, identifier="17", lms="canvas"), result("bob", identifier="18"))
    mine = [row for row in read(tables.marks(found)) if row["identifier"] == "17"]
    assert len(mine) == 2
    assert all(survived(row["student"], name) for row in mine)
    (row,) = [row for row in read(tables.canvas(found)) if row["ID"] == "17"]
    assert survived(row["Student"], name)
    found = papers(tmp_path, result(name, identifier="17", lms="moodle"), result("bob", identifier="18", lms="moodle"))
    (row,) = [row for row in read(tables.moodle(found)["01_loops"]) if row["Identifier"] == "Participant 17"]
    assert survived(row["Full name"], name)


HOSTILE = '=HYPERLINK("http://x","y")\x1b[31m\r\n+cmd|\' /C calc\'!A0'


def test_no_cell_of_any_table_is_a_formula_or_acts_on_a_terminal(tmp_path):
    given = result(
        HOSTILE,
        loops="wrong",
        share=0.5,
        told=HOSTILE,
        file=HOSTILE,
        identifier=HOSTILE,
        problem=HOSTILE,
        lms="moodle",
        notes=[HOSTILE],
    )
    found = papers(tmp_path, given)
    texts = [tables.marks(found), tables.canvas(found), *tables.moodle(found).values()]
    for text in texts:
        assert not any(ord(letter) < 32 and letter not in "\r\n\t" for letter in text)
        for row in csv.reader(io.StringIO(text, newline="")):
            assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) and cell != "-" for cell in row), row


def test_marks_have_everything_that_is_known(tmp_path):
    given = result(
        "ada", loops="wrong", share=0.5, submitted="2027-03-02T00:00:00+01:00", identifier="17", notes=["Two files."]
    )
    first, second = read(tables.marks(papers(tmp_path, given, rows="ada,17,01-one-output,1.5,a hint was wrong\n")))
    assert (first["exercise"], first["status"], first["points"], first["most"]) == ("01-one-output", "ok", "1.5", "4")
    assert (first["set by hand"], first["reason"]) == ("1.5", "a hint was wrong")
    assert (second["status"], second["points"], second["share"], second["set by hand"]) == ("wrong", "3", "0.5", "")
    assert (second["misconception"], second["sentence"], second["title"]) == (
        "kernel flipped",
        "It is wrong.",
        "Seven loops",
    )
    assert (second["late days"], second["late penalty"], second["notebook points"]) == ("1", "0.45", "4.05")
    audit = [second[name] for name in ("sha256", "seed", "isolation", "convlab", "code", "python", "numpy")]
    assert audit == ["d" * 64, "5eed1d", "namespaces", "9.8.7", "c0dec0de", "3.99", "2.99"]
    assert second["needs a human"] == "Two files."


def test_a_file_that_is_no_exercise_has_a_row(tmp_path):
    (row,) = read(tables.marks(papers(tmp_path, result(problem="The file is empty.", notebook="", answers=[]))))
    assert (row["status"], row["sentence"], row["points"]) == ("malformed", "The file is empty.", "0")


TWO = Course("Spring", {**COURSE.assignments, "05_tiles": Assignment("05_tiles", "Tiles, halos (77)", {"05-halo": 4})})


def tiles(student, **more):
    answers = [{"mark": {**result()["answers"][0]["mark"], "exercise": "05-halo"}, "notes": []}]
    return result(student, notebook="05_tiles", answers=answers, **more)


def test_canvas_has_a_row_for_each_student_and_a_column_for_each_assignment(tmp_path):
    mine = {"identifier": "17", "lms": "canvas"}
    found = papers(tmp_path, result("ada", **mine), tiles("ada", **mine), tiles("bob"), course=TWO)
    points, ada, bob = read(tables.canvas(found))
    assert list(points) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Loops", "Tiles, halos (77)"]
    assert points["Student"].strip() == "Points Possible"
    assert (points["Loops"], points["Tiles, halos (77)"]) == ("10", "4")
    assert (ada["ID"], ada["SIS Login ID"], ada["Loops"], ada["Tiles, halos (77)"]) == ("17", "", "10", "4")
    assert (bob["ID"], bob["SIS Login ID"], bob["Loops"], bob["Tiles, halos (77)"]) == ("", "bob", "", "4")


def test_moodle_has_a_worksheet_for_each_assignment(tmp_path):
    given = result(
        "Ada", identifier="17", lms="moodle", submitted="2027-03-03T00:00:00+01:00", loops="wrong", share=0.0
    )
    sheets = tables.moodle(
        papers(
            tmp_path,
            given,
            tiles("Bob", identifier="18", lms="moodle"),
            course=Course("s", TWO.assignments, COURSE.late),
        )
    )
    assert {*sheets} == {"01_loops", "05_tiles"}
    (ada,) = read(sheets["01_loops"])
    assert (ada["Identifier"], ada["Full name"], ada["Grade"], ada["Maximum Grade"]) == (
        "Participant 17",
        "Ada",
        "3.2",
        "10",
    )
    assert ada["Feedback comments"].splitlines() == [
        "01-one-output: 4 of 4. It is ok.",
        "01-loops: 0 of 6. It is wrong.",
        "2 days late: 0.8 taken off.",
    ]
    assert list(ada)[-2] == "Last modified (grade)"  # without which Moodle refuses the file


def test_a_number_of_one_lms_is_never_given_to_the_other(tmp_path):
    found = papers(tmp_path, result("ada", identifier="17", lms="canvas"), result("bob", identifier="18", lms="moodle"))
    assert [row["Identifier"] for row in read(tables.moodle(found)["01_loops"])] == ["Participant 18"]
    assert [(row["ID"], row["SIS Login ID"]) for row in read(tables.canvas(found))[1:]] == [("17", ""), ("", "bob")]
    assert tables.moodle(papers(tmp_path, result("ada"))) == {}
