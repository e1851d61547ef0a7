"""Points that a human set."""

from __future__ import annotations

import pytest

from convlab.grader.overrides import Override, OverridesError, read_overrides

HEAD = "student,identifier,exercise,points,reason\n"


def read(tmp_path, text):
    path = tmp_path / "overrides.csv"
    path.write_text(text, "utf-8")
    return read_overrides(path)


def test_a_table_is_made_where_there_is_none(tmp_path):
    overrides = read_overrides(tmp_path / "overrides.csv")
    assert overrides.of("ada", "17", "01-loops") is None
    assert (tmp_path / "overrides.csv").read_text() == HEAD


def test_a_row_is_found_by_name_and_number_and_by_name_alone(tmp_path):
    rows = 'ada,17,01-loops,4.5,"by mail, see thread"\nada,,05-halo,0,copied\n'
    overrides = read(tmp_path, HEAD + rows)
    assert overrides.of("ada", "17", "01-loops") == Override(4.5, "by mail, see thread")
    assert overrides.of("ada", "18", "01-loops") is None
    assert overrides.of("ada", "18", "05-halo") == Override(0.0, "copied")
    assert overrides.unused() == []


@pytest.mark.parametrize("written", ["=1+1", "'=1+1"])
def test_a_name_is_found_as_marks_csv_has_it(written, tmp_path):
    assert read(tmp_path, f"{HEAD}{written},,01-loops,3,why\n").of("=1+1", "", "01-loops") == Override(3.0, "why")


def test_a_table_that_a_spreadsheet_saved_is_read(tmp_path):
    text = "\ufeff" + (HEAD + "李雷,,01-loops,3,why\n").replace(",", ";").replace("\n", "\r\n")
    assert read(tmp_path, text).of("李雷", "", "01-loops") == Override(3.0, "why")


def test_a_row_about_nobody_is_told(tmp_path):
    assert read(tmp_path, f"{HEAD}eve,,01-loops,3,why\n").unused() == [
        "overrides.csv, line 2: eve has handed in nothing with 01-loops."
    ]


MISTAKES = {
    "no such exercise": ("ada,,01-loop,3,why", "line 2: there is no exercise '01-loop'.\n  Fix: write an id"),
    "no reason": (
        "ada,,01-loops,3, ",
        "line 2: the reason is missing.\n  Fix: write it down; the student will read it.",
    ),
    "no number": ("ada,,01-loops,three,why", "line 2: the points are 'three'.\n  Fix: write a number from 0 on."),
    "below nothing": ("ada,,01-loops,-1,why", "line 2: the points are '-1'."),
    "not a number": ("ada,,01-loops,nan,why", "line 2: the points are 'nan'."),
    "twice": (
        "ada,,01-loops,1,why\nada,,01-loops,2,why",
        "line 3: a second row for the same answer.\n  Fix: delete one of the two.",
    ),
    "too short": ("ada,,01-loops", "line 2: the reason is missing."),
}


@pytest.mark.parametrize(("rows", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_its_line(rows, message, tmp_path):
    with pytest.raises(OverridesError) as caught:
        read(tmp_path, f"{HEAD}{rows}\n")
    assert str(caught.value).startswith(f"overrides.csv, {message}")


def test_another_table_is_refused(tmp_path):
    with pytest.raises(
        OverridesError, match=r"line 1: the columns are not student, identifier, exercise, points, reason\."
    ):
        read(tmp_path, "a,b\n1,2\n")
    (tmp_path / "overrides.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(OverridesError, match=r"is no table: .*\n  Fix: save it as CSV, in UTF-8\."):
        read_overrides(tmp_path / "overrides.csv")
