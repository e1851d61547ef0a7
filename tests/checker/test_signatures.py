"""What is recorded of the mutants in CUDA C: complete, true, and enough to rule out what an answer is not."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from convlab.checker import EXERCISES, exercise
from convlab.checker.check import PUBLIC_SEED, judge
from convlab.checker.compare import Finding
from convlab.checker.exercises.e03_index import ANSWER
from convlab.checker.kinds import kernel
from convlab.checker.record import Budget, Case, Exercise
from convlab.checker.signatures import FILE, may_be, signature
from convlab.executors.compile import compile

KERNELS = [record for record in EXERCISES.values() if record.kind == "kernel"]
RECORD = exercise("03-index")
WAY = RECORD.mutants[0].ways[0]


def cases(record: Exercise, seed: int = PUBLIC_SEED) -> list[Case]:
    return record.cases(np.random.default_rng(seed))


def ways(record: Exercise) -> list[str]:
    return [way for mutant in record.mutants for way in mutant.ways]


def test_every_mutant_is_recorded_and_nothing_else() -> None:
    wanted = {kernel.key_of(record, way, case) for record in KERNELS for case in cases(record) for way in ways(record)}
    recorded = json.loads(FILE.read_text(encoding="utf-8")).keys()
    assert recorded == wanted, "run tools/record_signatures.py"


@pytest.mark.slow  # every mutant is compiled and run
@pytest.mark.parametrize("record", KERNELS, ids=lambda record: record.id)
def test_what_is_recorded_is_what_mutants_do(record: Exercise) -> None:
    for case in cases(record):
        for way in ways(record):
            assert may_be(kernel.key_of(record, way, case), kernel.imitate(record, way, case)), way


KEY = kernel.key_of(RECORD, WAY, cases(RECORD)[1])
FINDING = kernel.imitate(RECORD, WAY, cases(RECORD)[1])
ARRAY = FINDING.array
ONE = np.arange(ARRAY.size).reshape(ARRAY.shape) == 7
OTHERS = {
    "one element": replace(FINDING, array=np.where(ONE, 0.05, 0) + ARRAY),
    "one element is NaN": replace(FINDING, array=np.where(ONE, np.nan, ARRAY)),
    "one element is infinite": replace(FINDING, array=np.where(ONE, np.inf, ARRAY)),
    "two elements exchanged": replace(FINDING, array=ARRAY.ravel()[[1, 0, *range(2, ARRAY.size)]].reshape(ARRAY.shape)),
    "a fault": replace(FINDING, faults=frozenset({"race writes y"})),
    "a budget": replace(FINDING, over=frozenset({"registers"})),
    "nothing": Finding("failed"),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_what_differs_is_ruled_out(other: Finding) -> None:
    assert not may_be(KEY, other)


def test_rounding_rules_nothing_out() -> None:
    noisy = replace(FINDING, array=ARRAY * (1 + 1e-5 * np.sin(np.arange(ARRAY.size))).reshape(ARRAY.shape))
    assert may_be(KEY, noisy)


WIDER = replace(RECORD.kernel, launch=lambda *known: (RECORD.kernel.launch(*known)[0], 64, 0))
ROOMY = Budget("sectors_global_load", "sectors loaded", lambda *known: 7, "enough")
OTHER_KEYS = {
    "source": kernel.key_of(RECORD, WAY + "\n", cases(RECORD)[1]),
    "data": kernel.key_of(RECORD, WAY, cases(RECORD, 9)[1]),
    "launch": kernel.key_of(replace(RECORD, kernel=WIDER), WAY, cases(RECORD)[1]),
    "budgets": kernel.key_of(replace(RECORD, budgets=(ROOMY,)), WAY, cases(RECORD)[1]),
    "limits": kernel.key_of(replace(RECORD, budgets=(replace(ROOMY, most=lambda *known: 8),)), WAY, cases(RECORD)[1]),
}


@pytest.mark.parametrize("other", OTHER_KEYS.values(), ids=OTHER_KEYS)
def test_nothing_is_known_of_what_is_not_recorded(other: str) -> None:
    assert may_be(other, Finding("failed"))
    assert len({KEY, *OTHER_KEYS.values()}) == 1 + len(OTHER_KEYS)


def test_a_signature_is_what_json_can_hold() -> None:
    given = signature(Finding(array=np.full((2, 3), np.nan), faults=frozenset({"b", "a"})))
    assert json.loads(json.dumps(given)) == given
    assert given[:2] == [["a", "b"], []]


def test_an_answer_like_no_mutant_is_told_without_running_any(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(source: str) -> None:
        raise AssertionError(source)

    monkeypatch.setattr(kernel, "_compiled", never)
    answer = compile(ANSWER.replace("float sum = 0.0f", "float sum = 0.5f + pixel % 7"))
    assert judge(RECORD, answer, PUBLIC_SEED).diagnosis == ""


@pytest.mark.parametrize("seed", [PUBLIC_SEED, 2])
def test_a_mutant_is_named_whether_it_is_recorded_or_not(seed: int) -> None:
    assert judge(RECORD, compile(WAY + "\n"), seed).diagnosis == RECORD.mutants[0].name
