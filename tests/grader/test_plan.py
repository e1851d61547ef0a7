"""What is to be done: which files count, for whom, and whether a result still stands."""

from __future__ import annotations

import json

import pytest

from convlab.grader.course_file import Assignment, Course, whole_course
from convlab.grader.plan import plan, versions
from convlab.grader.released import questions
from convlab.grader.submissions import collect

from .papers import cell_of, filled, right_answers, written


def planned(folder, course=None):
    return plan(collect(folder, questions()), course or whole_course())


def test_each_notebook_of_a_student_is_a_submission(tmp_path):
    for name in ("01_loops", "05_tiles"):
        written(tmp_path / "ada" / f"{name}.ipynb", filled(name))
    written(tmp_path / "bob" / "homework.ipynb", filled("01_loops"))
    found = planned(tmp_path)
    assert [(each.student, each.paper.notebook) for each in found] == [
        ("ada", "01_loops"),
        ("ada", "05_tiles"),
        ("bob", "01_loops"),
    ]
    assert len({each.key for each in found}) == 3


def test_of_several_files_of_a_notebook_the_latest_counts(tmp_path):
    changed = filled("01_loops", {"01-loops": "x = 2"})
    written(tmp_path / "ada_17_4001_01_loops.ipynb", filled("01_loops"))
    written(tmp_path / "ada_17_4002_01_loops-1.ipynb", changed)
    written(tmp_path / "ada_18_4003_01_loops.ipynb", filled("01_loops"))  # another student of that name
    one, other = sorted(planned(tmp_path), key=lambda each: each.submission.owner.identifier)
    assert one.submission.name == "ada_17_4002_01_loops-1.ipynb"
    assert one.notes == ("There are 2 files of this notebook; the latest counts, and not ada_17_4001_01_loops.ipynb.",)
    assert other.notes == ()
    assert one.key != other.key


def test_by_time_where_that_is_known(tmp_path):
    for number, day in (("a", "02"), ("b", "01")):
        written(tmp_path / "ada" / f"try {number}" / "01_loops.ipynb", filled("01_loops"))
        (tmp_path / "ada" / f"try {number}" / "timestamp.txt").write_text(f"2027-02-{day} 10:00:00 UTC")
    written(tmp_path / "bob" / "ps1" / "01_loops.ipynb", filled("01_loops"))
    assert planned(tmp_path)[0].submission.name == "ada/try a/01_loops.ipynb"


def test_what_is_no_part_of_the_course_is_told(tmp_path):
    written(tmp_path / "ada" / "05_tiles.ipynb", filled("05_tiles"))
    course = Course("c", {"01_loops": Assignment("01_loops", "Loops", {"01-loops": 6})})
    (found,) = planned(tmp_path, course)
    assert (found.paper.notebook, found.paper.problem) == ("", "The notebook 05_tiles is no part of this course.")


def test_another_thing_than_a_notebook_is_told(tmp_path):
    written(tmp_path / "ada" / "01_loops.ipynb", filled("01_loops"))
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob" / "my\x1b[31m report.pdf").write_bytes(b"%PDF")
    assert planned(tmp_path)[1].paper.problem == "my report.pdf was handed in, and no notebook."


def test_a_result_stands_for_the_same_file_under_the_same_conditions_alone(tmp_path):
    path = written(tmp_path / "ada_01_loops.ipynb", filled("01_loops"))
    (before,) = planned(tmp_path)
    assert planned(tmp_path)[0].fingerprint("seed", 1) == before.fingerprint("seed", 1)
    assert before.fingerprint("seed", 2) != before.fingerprint("seed", 1)
    notebook = filled("01_loops")
    cell_of(notebook, "01-loops")["source"] += " "
    path.write_text(json.dumps(notebook))
    assert planned(tmp_path)[0].fingerprint("seed", 1) != before.fingerprint("seed", 1)
    assert planned(tmp_path)[0].key == before.key


def test_who_a_paper_is_from_is_safe_to_show(tmp_path):
    written(tmp_path / "=ada\x1b[2J, \u202ethe\nfirst" / "01_loops.ipynb", filled("01_loops"))
    identity = planned(tmp_path)[0].identity()
    assert identity["student"] == "=ada, the\nfirst"
    assert identity["file"] == "=ada, the\nfirst/01_loops.ipynb"
    assert json.loads(json.dumps(identity)) == identity


def test_versions_name_what_marks_depend_on():
    assert {*versions()} == {"convlab", "numpy", "nvidia-cuda-nvrtc", "python", "code"}
    assert all(versions().values())


@pytest.mark.parametrize("notebook", sorted(questions()))
def test_every_released_notebook_can_be_handed_in(notebook, tmp_path):
    written(tmp_path / f"ada_{notebook}.ipynb", filled(notebook))
    (found,) = planned(tmp_path)
    assert (found.student, found.paper.notebook) == ("ada", notebook)
    assert [each.text for each in found.paper.answers] == [right_answers()[each] for each in questions()[notebook]]
