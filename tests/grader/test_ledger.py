"""Points, penalties, and what needs a human."""

from __future__ import annotations

import pytest

from convlab.grader.ledger import ledger, students
from convlab.grader.mark import STATUSES
from convlab.grader.overrides import read_overrides

from .outcomes import COURSE, result


def only(given, tmp_path, rows=""):
    path = tmp_path / "overrides.csv"
    path.write_text("student,identifier,exercise,points,reason\n" + rows)
    (paper,) = ledger([given], COURSE, read_overrides(path))
    return paper


def test_only_what_is_right_earns(tmp_path):
    for status in STATUSES:
        paper = only(result(output=status), tmp_path)
        assert paper.earned == (10 if status == "ok" else 6)
        assert paper.most == 10


def test_part_of_the_points_for_part_of_the_cases(tmp_path):
    paper = only(result(loops="wrong", share=1 / 3), tmp_path)
    assert paper.questions[1].earned == 2.0
    assert paper.points == 6.0


@pytest.mark.parametrize(
    ("submitted", "days", "penalty"),
    [
        ("2027-03-01T22:59:00+00:00", 0, 0),
        ("2027-03-02T00:00:00+01:00", 1, 1.0),
        ("2027-03-04T00:00:00+01:00", 3, 3.0),
        ("2027-05-01T00:00:00+01:00", 61, 5.0),
    ],
)
def test_what_is_taken_off_stands_by_itself(submitted, days, penalty, tmp_path):
    paper = only(result(submitted=submitted), tmp_path)
    assert (paper.late_days, paper.earned, paper.penalty, paper.points) == (days, 10, penalty, 10 - penalty)


def test_a_human_has_the_last_word_and_the_penalty_is_taken_of_that(tmp_path):
    paper = only(
        result(loops="grader_error", submitted="2027-03-02T00:00:00+01:00"), tmp_path, "ada,,01-loops,5,by hand\n"
    )
    assert [question.earned for question in paper.questions] == [4, 5]
    assert (paper.penalty, paper.points) == (0.9, 8.1)
    assert paper.for_a_human == ()


def test_a_human_is_asked_where_the_grader_is_not_sure(tmp_path):
    asked = {status for status in STATUSES if only(result(loops=status), tmp_path).for_a_human}
    assert asked == {"grader_error", "malformed", "forbidden", "crashed"}
    assert only(result(loops="malformed"), tmp_path).for_a_human == (
        "01-loops: an answer could not be read: It is malformed.",
    )
    assert only(result(notes=["There are 2 files."]), tmp_path).for_a_human == ("There are 2 files.",)
    assert only(result(problem="The file is empty."), tmp_path).for_a_human == ("The file is empty.",)
    (unknown,) = only(result(late=True), tmp_path).for_a_human
    assert unknown == "The LMS marked it as late, and by how much is not known: nothing was taken off."
    assert only(result(late=True, submitted="2027-03-04T00:00:00+01:00"), tmp_path).for_a_human == ()


def test_papers_stand_in_order_and_students_apart(tmp_path):
    results = [result("bob"), result("ada", identifier="2"), result("ada", identifier="1"), result("bob", key="x")]
    overrides = read_overrides(tmp_path / "overrides.csv")
    papers = ledger(results, COURSE, overrides)
    assert [(paper.student, paper.identifier) for paper in papers] == [
        ("ada", "1"),
        ("ada", "2"),
        ("bob", ""),
        ("bob", ""),
    ]
    people = students(papers)
    assert [len(each.papers) for each in people] == [1, 1, 2]
    assert len({each.page for each in people}) == 3
