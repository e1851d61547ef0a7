"""Whatever is handed in, for every exercise: one sentence, never a traceback, never a pass."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from convlab.checker import EXERCISES, UnknownExerciseError, check
from convlab.checker.check import judge
from convlab.checker.record import Exercise
from convlab.executors.compile import compile
from tests.checker.absurd import FUNCTIONS, SOURCES, THINGS

FEW = {
    *(
        "returns None",
        "returns a list",
        "returns equal to everything",
        "returns objects",
        "returns a liar",
        "interrupts",
    ),
    *(
        "returns a terabyte",
        "a hostile error",
        "recursion",
        "changes its inputs",
        "takes its output away",
        "never ends",
    ),
}


QUICK = "03-index"  # the other kernels take seconds each


def by_kind(kind: str) -> Any:
    records = [record for record in EXERCISES.values() if record.kind == kind]
    slow = [pytest.mark.slow] if kind == "kernel" else []
    marked = [pytest.param(each, id=each.id, marks=[] if each.id == QUICK else slow) for each in records]
    return pytest.mark.parametrize("record", marked)


def wrong_about(record: Exercise, answers: Iterable[tuple[str, Any]]) -> list[str]:
    """What the check says of answers, where that is no sentence, or no refusal."""
    found = []
    for name, answer in answers:
        verdict = judge(replace(record, seconds=0.2), answer, seed=1)
        said = verdict.message
        fine = "\n" not in said and said.endswith(".") and "Traceback" not in said and len(said) < 450
        text, page = str(verdict), verdict._repr_html_()
        if verdict.passed or not fine or len(text) > 6000 or len(page) > 400_000:
            found.append(f"{name}: {verdict.status}: {said[:500]}")
    return found


@pytest.mark.parametrize("record", EXERCISES.values(), ids=lambda record: record.id)
def test_what_is_no_answer_gets_a_sentence(record: Exercise) -> None:
    things = {name: thing for name, thing in THINGS.items() if not callable(thing) or record.kind != "function"}
    assert wrong_about(record, things.items()) == []


@by_kind("function")
@pytest.mark.parametrize("few", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["few", "all"])
@pytest.mark.filterwarnings("ignore:coroutine")
def test_a_function_that_does_anything_gets_a_sentence(record: Exercise, few: bool) -> None:
    output, errors = sys.stdout, sys.stderr
    chosen = {name: answer for name, answer in FUNCTIONS.items() if (name in FEW) is few}
    assert wrong_about(record, chosen.items()) == []
    assert (sys.stdout, sys.stderr) == (output, errors)


@by_kind("values")
def test_values_of_any_kind_get_a_sentence(record: Exercise) -> None:
    wanted = record.cases(np.random.default_rng(0))[0].arguments
    right = {name: sum(value) / 2 if isinstance(value, tuple) else value for name, value in wanted.items()}
    assert judge(record, right, seed=1).passed
    everywhere = [(name, dict.fromkeys(wanted, thing)) for name, thing in THINGS.items()]
    in_one = [(f"{name} in one", right | {next(iter(right)): thing}) for name, thing in THINGS.items()]
    too_many = dict.fromkeys(wanted, -5) | {f"name {i}": i for i in range(10_000)}
    assert wrong_about(record, [*everywhere, *in_one, ("too many", too_many)]) == []


def modules(record: Exercise) -> Iterable[tuple[str, Any]]:
    source = record.mutants[0].ways[0]
    for name, change in SOURCES.items():
        yield name, compile(change(source).replace("ENTRY", record.kernel.entry), name="mine.cu")


@by_kind("kernel")
def test_a_kernel_that_does_anything_gets_a_sentence(record: Exercise) -> None:
    assert wrong_about(record, modules(record)) == []


@pytest.mark.parametrize("name", THINGS)
def test_no_thing_is_an_id(name: str) -> None:
    thing = THINGS[name]
    sentence = "there is no" if type(thing) is str else r"an exercise's id is a string, but a \S.* was given"
    with pytest.raises(UnknownExerciseError, match=sentence):
        check(thing, max)
