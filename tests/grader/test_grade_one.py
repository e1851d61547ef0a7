"""One submission's answers, each judged by itself."""

from __future__ import annotations

import pytest

from convlab.grader import grade_one
from convlab.grader.extract import Answer
from convlab.grader.grade_one import Job, failed, grade
from convlab.grader.mark import Mark

ANSWERS = (
    Answer("05-halo", text="first"),
    Answer("05-barriers", status="malformed", sentence="The cell 05-barriers is missing."),
    Answer("05-conflicts", text="third"),
)


@pytest.fixture
def judged(monkeypatch):
    calls = []

    def judge(exercise, text, seed, limits, isolation, earlier):
        calls.append((exercise, text, seed, list(earlier)))
        if text == "raises":
            raise RuntimeError("\x1b[31mout of\nluck")
        return Mark(exercise, "ok", 1.0, "Right.")

    monkeypatch.setattr(grade_one, "judge", judge)
    return calls


def job(*wanted, answers=ANSWERS):
    return Job("key", answers, wanted, seed=7, allow_plain=True)


def test_only_what_counts_is_judged_with_what_was_written_before_it(judged):
    outcome = grade(job("05-barriers", "05-conflicts"))
    assert judged == [("05-conflicts", "third", 7, ["first"])]
    assert [(mark["exercise"], mark["status"]) for mark in outcome["marks"]] == [
        ("05-barriers", "malformed"),
        ("05-conflicts", "ok"),
    ]
    assert outcome["isolation"]
    assert outcome["seconds"] >= 0


def test_a_submission_of_which_nothing_ran_says_so(judged):
    outcome = grade(job("05-barriers"))
    assert (outcome["isolation"], outcome["isolated"]) == ("", "No answer of it ran.")


def test_a_judge_that_fails_is_a_mark_for_a_human_and_the_next_answer_is_judged(judged):
    outcome = grade(job("05-halo", "05-conflicts", answers=(Answer("05-halo", text="raises"), ANSWERS[2])))
    first, second = outcome["marks"]
    assert (first["status"], first["sentence"]) == ("grader_error", "The grader failed: RuntimeError: out of luck")
    assert second["status"] == "ok"


def test_a_submission_that_could_not_be_graded_keeps_what_is_known_of_it():
    marks = failed(job("05-halo", "05-barriers"), "It died.")["marks"]
    assert [(mark["status"], mark["sentence"], mark["share"]) for mark in marks] == [
        ("grader_error", "It died.", 0.0),
        ("malformed", "The cell 05-barriers is missing.", 0.0),
    ]
