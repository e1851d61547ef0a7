"""The course file, and what is said of a mistake in it."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from convlab.checker.exercises import EXERCISES
from convlab.grader.course_file import CourseFileError, Late, read_course, whole_course

TEXT = """\
title = "GPU convolution"

[late]
per_day = 0.1
most = 0.5
grace_minutes = 15

[[assignment]]
notebook = "01_loops"
title = "Loops (1234)"
due = 2027-03-01T23:59:00+01:00
points = { "01-one-output" = 2, "01-loops" = 8.5 }

[[assignment]]  # no due date
notebook = "03_one_thread"

[[assignment]]
notebook = "05_tiles"
[assignment.points]
"05-halo" = 5
"""


def read(tmp_path, text=TEXT):
    path = tmp_path / "course.toml"
    path.write_text(text, "utf-8")
    return read_course(path)


def test_everything_that_is_given_is_read_and_the_rest_is_usual(tmp_path):
    course = read(tmp_path)
    assert course.title == "GPU convolution"
    assert course.late == Late(0.1, 0.5, 15)
    loops, thread, tiles = course.assignments.values()
    assert (loops.title, loops.points) == ("Loops (1234)", {"01-one-output": 2, "01-loops": 8.5})
    assert loops.due == datetime.fromisoformat("2027-03-01T23:59:00+01:00")
    assert (thread.title, thread.due) == ("03_one_thread", None)
    assert thread.points == {each: EXERCISES[each].points for each in ("03-index", "03-mapping")}
    assert tiles.points == {"05-halo": 5}


def test_without_a_file_all_released_exercises_count():
    course = whole_course()
    assert set(course.assignments["01_loops"].points) == {"01-one-output", "01-loops"}
    counted = {each for assignment in course.assignments.values() for each in assignment.points}
    assert set(EXERCISES) - counted == {"00-one-line"}  # which lesson 00 asks, and no notebook of exercises
    assert course.late.share(3) == 0


MISTAKES = {
    "a number too large": (
        "per_day = 0.1",
        "per_day = 2",
        "line 4: per_day of late is 2.\n  Fix: Write a number from 0 to 1.",
    ),
    "a number that is none": ("most = 0.5", "most = true", "line 5: most of late is True.\n  Fix: Write a number"),
    "an unknown key": (
        "per_day",
        "per_dy",
        "line 4: per_dy of late is no key that is known here.\n  Fix: Did you mean 'per_day'?",
    ),
    "an unknown table": ("[late]", "[lat]", "line 3: lat is no key that is known here.\n  Fix: Did you mean 'late'?"),
    "an unknown notebook": (
        '"03_one_thread"',
        '"03_one_tread"',
        "line 15: notebook of assignment 2 is '03_one_tread', which is no exercise notebook.\n  Fix: Did you mean",
    ),
    "no notebook": (
        'notebook = "03_one_thread"',
        "",
        "line 14: notebook of assignment 2 is missing.\n  Fix: Add a line notebook = ….",
    ),
    "a notebook twice": (
        '"03_one_thread"',
        '"01_loops"',
        "line 15: notebook of assignment 2 is '01_loops' for a second time.\n  Fix: Delete one",
    ),
    "an unknown question": (
        '"05-halo"',
        '"05-hallo"',
        "line 20: 05-hallo of assignment 3's points is no question of 05_tiles.\n  Fix: Did you mean '05-halo'?",
    ),
    "a question of another notebook": (
        '"01-loops" =',
        '"05-halo" =',
        "line 12: 05-halo of assignment 1's points is no question of 01_loops.",
    ),
    "points that are none": (
        "= 8.5",
        '= "many"',
        "line 12: 01-loops of assignment 1's points is 'many'.\n  Fix: Write a number from 0",
    ),
    "points below nothing": ('"05-halo" = 5', '"05-halo" = -5', "line 20: 05-halo of assignment 3's points is -5."),
    "a due date without a zone": (
        "+01:00",
        "",
        "line 11: due of assignment 1 has no time zone.\n  Fix: Write it with one, such as 2027-03-01T23:59:00+01:00.",
    ),
    "a due date in quotes": (
        "due = 2027-03-01T23:59:00+01:00",
        'due = "monday"',
        "line 11: due of assignment 1 is 'monday'.\n  Fix: Write a date and time",
    ),
    "a title that is none": (
        'title = "GPU convolution"',
        "title = 3",
        "line 1: title is 3.\n  Fix: Write a text in quotes.",
    ),
    "a table for a list": (
        "[[assignment]]  # no due date\n",
        "[late.x]\n",
        "line 3: x of late is no key that is known here.",
    ),
}


@pytest.mark.parametrize(("right", "wrong", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_its_key_and_line(right, wrong, message, tmp_path):
    assert right in TEXT
    with pytest.raises(CourseFileError) as caught:
        read(tmp_path, TEXT.replace(right, wrong, 1))
    assert str(caught.value).startswith(f"course.toml, {message}")


def test_what_is_no_toml_is_told_with_its_line(tmp_path):
    with pytest.raises(CourseFileError, match=r"course\.toml is no TOML: .*line 1.*\n  Fix: mend that line\."):
        read(tmp_path, "title = \nx = 1")
    with pytest.raises(CourseFileError, match=r"cannot be read: No such file or directory\.\n  Fix: give the path"):
        read_course(tmp_path / "nowhere.toml")
    with pytest.raises(CourseFileError, match=r"assignment of|assignment is missing"):
        read(tmp_path, "")


@pytest.mark.parametrize(
    ("minutes", "days"), [(-5, 0), (0, 0), (15, 0), (15.1, 1), (24 * 60, 1), (24 * 60 + 1, 2), (72 * 60, 3)]
)
def test_days_begin_after_the_grace(minutes, days):
    due = datetime.fromisoformat("2027-03-01T23:59:00+01:00")
    late = Late(per_day=0.2, most=0.5, grace_minutes=15)
    assert late.days(due, due + timedelta(minutes=minutes)) == days
    assert late.share(days) == pytest.approx(min(0.5, 0.2 * days))


def test_zones_do_not_confuse_the_days():
    due = datetime.fromisoformat("2027-03-01T23:59:00+01:00")
    assert Late().days(due, datetime.fromisoformat("2027-03-01T22:59:00+00:00")) == 0
    assert Late().days(due, datetime.fromisoformat("2027-03-01T23:00:00+00:00")) == 1
