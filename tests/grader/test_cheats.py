"""Cheats that come with the package: they earn nothing here, and one that would is told."""

from __future__ import annotations

import pytest

from convlab.grader import cheats, isolation
from convlab.grader.cheats import CHEATS, Cheat, problems
from convlab.grader.isolation import IsolationError
from convlab.grader.mark import Mark

from .papers import right_answers

RIGHT = right_answers()["01-one-output"]


@pytest.mark.slow
def test_all_cheats_earn_nothing_behind_the_walls_of_this_machine():
    assert problems(isolation.best(), RIGHT, progress=False) == []


def test_what_earns_something_and_what_fails_is_told(monkeypatch):
    marks = {
        "gets through": ("ok", 1.0),
        "gets half": ("wrong", 0.5),
        "fails": ("grader_error", 0.0),
        "is seen": ("forbidden", 0.0),
    }

    def judge(exercise, text, seed, limits, level):
        status, share = marks.get(text, ("wrong", 0.0))
        return Mark(exercise, status, share, "So it is.")

    monkeypatch.setattr(cheats, "judge", judge)
    found = problems(isolation.LEVELS[0], RIGHT, [Cheat(text, "01-loops", text) for text in marks], progress=False)
    assert [str(each) for each in found] == [
        "01-one-output: isolated, ok is taken for wrong: So it is.",
        "01-one-output: isolated, not_attempted is taken for wrong: So it is.",
        "01-loops: a cheat that gets through is ok: So it is.",
        "01-loops: a cheat that gets half is wrong: So it is.",
        "01-loops: a cheat that fails is grader_error: So it is.",
    ]


def test_where_nothing_isolates_that_is_said(monkeypatch):
    def none(allow_plain=False):
        raise IsolationError("no")

    monkeypatch.setattr(cheats, "best", none)
    assert cheats.tried() == ("no cheats, as nothing isolates answers here", [])
    monkeypatch.setattr(cheats, "best", lambda: isolation.LEVELS[0])
    monkeypatch.setattr(cheats, "problems", lambda level, right: [right])
    assert cheats.tried() == (f"{len(CHEATS)} cheats (namespaces)", [RIGHT])
