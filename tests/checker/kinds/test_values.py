"""Answers that are values: numbers, ranges and words, and whatever else is handed in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from convlab.checker import exercise
from convlab.checker.check import judge
from convlab.checker.record import Case, Mutant

WANTED = {"macs": 27, "share": (0.2, 0.3), "bound": "memory"}
RIGHT = {"macs": 27, "share": 0.25, "bound": "Memory "}
RECORD = replace(
    exercise("01-loops"),
    kind="values",
    function="numbers",
    cases=lambda rng: [Case(WANTED)],
    mutants=(Mutant("no channels", "Channels are missing.", "How many?", ({"macs": 9}, {"macs": 9.0})),),
)


@pytest.mark.parametrize("changes", [{}, {"macs": 27.0}, {"macs": np.int64(27)}, {"share": 0.2}, {"more": 1}])
def test_right_values_pass_however_they_are_written(changes: dict[str, Any]) -> None:
    assert judge(RECORD, RIGHT | changes, seed=1).passed


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"macs": 28}, "numbers says 28 for macs, which is not right (1 of 3 are not right)."),
        ({"share": float("nan")}, "numbers says nan for share"),
        ({"share": 0.19}, "numbers says 0.19 for share, which is not right"),
        ({"share": "a"}, "numbers has no number under share, but something of type str"),
        ({"share": True}, "numbers has no number under share, but something of type bool"),
        ({"bound": 1}, "numbers has no word under bound, but something of type int"),
        ({"bound": "arithmetic"}, "numbers says 'arithmetic' for bound"),
        ({"macs": ...}, "numbers has nothing yet under macs"),
    ],
)
def test_wrong_values_are_named(changes: dict[str, Any], message: str) -> None:
    verdict = judge(RECORD, RIGHT | changes, seed=1)
    assert verdict.status == "wrong"
    assert verdict.message.startswith(message)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (2.2, "near, but rounded too far"),
        (2.3, "near, but rounded too far"),
        (2.1, "not right"),
        (2.21, "not right"),
        (-2.2, "not right"),
        (0, "not right"),
    ],
)
def test_a_value_that_is_rounded_too_far_is_no_blunder(said: float, words: str) -> None:
    record = replace(RECORD, cases=lambda rng: [Case({"intensity": (2.2275, 2.2725)})])
    assert judge(record, {"intensity": said}, 1).message == f"numbers says {said:g} for intensity, which is {words}."


@pytest.mark.parametrize("answer", [None, 27, "macs", [27], object()])
def test_what_is_no_dictionary_gets_a_sentence(answer: Any) -> None:
    verdict = judge(RECORD, answer, seed=1)
    assert verdict.status == "error"
    assert verdict.message.startswith(
        "numbers was expected, a dictionary with the names macs, share, bound, but it is of"
    )


def test_a_missing_name_is_said_and_nothing_is_no_attempt() -> None:
    assert judge(RECORD, {"macs": 27}, 1).message == "numbers lacks the name share; its names are macs, share, bound."
    assert judge(RECORD, dict.fromkeys(WANTED, ...), 1).status == "not_attempted"


def test_a_mutant_is_recognised_by_the_values_that_it_names() -> None:
    assert judge(RECORD, RIGHT | {"macs": 9, "share": 0.9}, 1).diagnosis == "no channels"
    assert judge(RECORD, RIGHT | {"macs": 10}, 1).diagnosis == ""


def test_of_two_wrong_values_the_diagnosis_is_that_of_the_one_that_is_told() -> None:
    share = Mutant("half", "It is half.", "Half of what?", ({"share": 0.5},))
    record = replace(RECORD, mutants=(share, *RECORD.mutants))
    both = judge(record, RIGHT | {"macs": 9, "share": 0.5}, 1)
    assert both.message == "numbers says 9 for macs, which is not right (2 of 3 are not right)."
    assert both.diagnosis == "no channels"
    other = judge(record, RIGHT | {"macs": 10, "share": 0.5}, 1)
    assert (other.diagnosis, other.hint) == ("", "")


@pytest.mark.parametrize(
    ("exercise_id", "wrong", "name"),
    [
        ("04-bounds", {"b_milliseconds": 66.1e-6, "c_bound": "arithmetic"}, "another unit than milliseconds"),
        ("07-memory", {"images": 13, "strip": 10}, "limit exceeded by rounding up"),
        ("10-accumulator", {"bf16_stops": 2048, "b": "FP16"}, "BF16 as precise as FP16"),
    ],
)
def test_so_it_is_in_the_exercises(exercise_id: str, wrong: dict[str, Any], name: str) -> None:
    record = exercise(exercise_id)
    right = {
        key: sum(value) / 2 if isinstance(value, tuple) else value
        for key, value in record.cases(np.random.default_rng(1))[0].arguments.items()
    }
    assert judge(record, right, 1).passed
    assert judge(record, right | wrong, 1).diagnosis == name


@pytest.mark.parametrize(("share", "name"), [(0.5, "half"), (0.42, "half"), (0.58, "half"), (0.38, ""), (0.65, "")])
def test_a_mutants_number_is_taken_as_loosely_as_the_right_one(share: float, name: str) -> None:
    half = Mutant("half", "It is half.", "Half of what?", ({"share": 0.5},))
    verdict = judge(replace(RECORD, mutants=(half,)), RIGHT | {"share": share}, seed=1)
    assert verdict.diagnosis == name
