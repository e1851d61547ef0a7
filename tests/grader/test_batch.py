"""A batch goes on whatever one of its submissions does."""

from __future__ import annotations

import os
import time

import pytest

from convlab.grader import batch
from convlab.grader.batch import grade_all
from convlab.grader.executors import on_this_machine
from convlab.grader.extract import Answer
from convlab.grader.grade_one import Job

from .papers import here


def job(key):
    return Job(
        key,
        (Answer("01-loops", text="x = 1"), Answer("01-one-output", status="malformed", sentence="Gone.")),
        ("01-loops", "01-one-output"),
        seed=1,
    )


def told(jobs, opened=here):
    kept = {}
    grade_all(jobs, opened, lambda job, outcome: kept.update({job.key: outcome}))
    return kept


def statuses(outcome):
    return {mark["exercise"]: mark["status"] for mark in outcome["marks"]}


def deadly(job):
    """Stands in for grading: what a key says is done to the process."""
    if job.key == "dies":
        os._exit(3)
    if job.key == "dies once" and not os.path.exists(job.answers[0].text):
        open(job.answers[0].text, "w").close()
        os._exit(3)
    if job.key == "raises":
        raise MemoryError("too much")
    if job.key == "sleeps":
        time.sleep(600)
    return {"marks": [job.key]}


def test_what_one_raises_is_its_own_mark(monkeypatch):
    monkeypatch.setattr(batch, "grade", deadly)
    kept = told([job("a"), job("raises"), job("b")])
    assert kept["a"] == {"marks": ["a"]}
    assert kept["b"] == {"marks": ["b"]}
    assert statuses(kept["raises"]) == {"01-loops": "grader_error", "01-one-output": "malformed"}
    assert kept["raises"]["marks"][0]["sentence"] == "The grader failed: MemoryError: too much"


def test_a_process_that_dies_takes_no_other_submission_with_it(monkeypatch, tmp_path):
    monkeypatch.setattr(batch, "grade", deadly)
    once = Job("dies once", (Answer("01-loops", text=str(tmp_path / "died")),), ("01-loops",), seed=1)
    kept = told([job("a"), job("dies"), job("b"), once, job("c")], on_this_machine(2))
    assert {key for key, outcome in kept.items() if outcome == {"marks": [key]}} == {"a", "b", "c", "dies once"}
    assert statuses(kept["dies"]) == {"01-loops": "grader_error", "01-one-output": "malformed"}
    assert (
        kept["dies"]["marks"][0]["sentence"] == "The grader's process died, or did not end, twice while it graded this."
    )


def test_one_that_never_ends_is_given_up(monkeypatch):
    monkeypatch.setattr(batch, "grade", deadly)
    monkeypatch.setattr(batch, "_PATIENCE", 8.0)
    monkeypatch.setattr(batch, "_LOOK", 0.5)
    kept = told([job("sleeps"), job("a")], on_this_machine(2))
    assert kept["a"] == {"marks": ["a"]}
    assert statuses(kept["sleeps"])["01-loops"] == "grader_error"


def test_what_a_cluster_cannot_do_is_for_a_human(monkeypatch):
    from convlab.grader import grade_one, isolation

    def none_works(allow_plain):
        raise isolation.IsolationError("answers cannot be isolated on this machine.")

    monkeypatch.setattr(grade_one.isolation, "best", none_works)
    kept = told([job("a")])
    assert (
        kept["a"]["marks"][0]["sentence"]
        == "The grader failed: IsolationError: answers cannot be isolated on this machine."
    )


def test_ctrl_c_ends_the_batch_and_keeps_what_was_done(monkeypatch):
    def interrupted(job):
        if job.key == "c":
            raise KeyboardInterrupt
        return {"marks": [job.key]}

    monkeypatch.setattr(batch, "grade", interrupted)
    kept = {}
    with pytest.raises(KeyboardInterrupt):
        grade_all([job(key) for key in "abcd"], here, lambda job, outcome: kept.update({job.key: outcome}))
    assert set(kept) == {"a", "b"}
