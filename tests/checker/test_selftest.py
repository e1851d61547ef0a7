"""The self-test: it finds nothing here, and finds what is made wrong on purpose."""

from __future__ import annotations

from dataclasses import replace

import pytest

from convlab.checker import EXERCISES, selftest
from convlab.checker.exercises import e01_one_output
from convlab.checker.record import Mutant
from convlab.cli import main
from convlab.grader import cheats

RECORD = e01_one_output.EXERCISE


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch):
    """Leave one exercise, changed."""

    def leave(**changes):
        monkeypatch.setattr(selftest, "EXERCISES", {RECORD.id: replace(RECORD, **changes)})

    return leave


def test_the_names_of_answers_differ_within_a_notebook():
    for notebook in {record.notebook for record in EXERCISES.values()}:
        names = [record.function for record in EXERCISES.values() if record.notebook == notebook]
        assert len({*names}) == len(names), notebook


def test_a_sound_exercise_has_no_problems(only):
    only()
    assert selftest.selftest([1], progress=False) == []


def test_a_mutant_that_passes_or_has_no_name_of_its_own_is_told(only):
    answer = selftest.answers()[RECORD.id]
    harmless = Mutant("harmless", "It is right.", "Is it?", (answer,))
    twin = Mutant("a twin", "Another word for the same.", "Which?", RECORD.mutants[0].ways)
    only(mutants=(RECORD.mutants[0], harmless, twin))
    assert [problem.what for problem in selftest.selftest([1], progress=False)] == [
        "seed 1: 'harmless' is taken for 'ok'",
        f"seed 1: 'a twin' is taken for {RECORD.mutants[0].name!r}",
    ]


def test_an_answer_that_fails_is_told(only):
    only(tolerance=lambda *given: 0 * RECORD.tolerance(*given) - 1)
    first = selftest.selftest([1], progress=False)[0]
    assert str(first).startswith("01-one-output: seed 1: the answer: 01-one-output, One output by hand")


def test_the_command_counts_and_exits(only, capsys, monkeypatch):
    monkeypatch.setattr(cheats, "tried", lambda: ("4 cheats (namespaces)", []))
    only(mutants=RECORD.mutants[:2])
    assert main(["selftest"]) == 0
    assert "4 cheats (namespaces): no problems" in capsys.readouterr().out
    only(mutants=(Mutant("x", "X.", "X?", (selftest.answers()[RECORD.id],)),))
    assert main(["selftest"]) == 1
    assert "'x' is taken for 'ok'" in capsys.readouterr().out
    only(mutants=RECORD.mutants[:2])
    monkeypatch.setattr(cheats, "tried", lambda: ("", [selftest.Problem("01-loops", "a cheat that sings is ok")]))
    assert main(["selftest"]) == 1
    assert "01-loops: a cheat that sings is ok" in capsys.readouterr().out
