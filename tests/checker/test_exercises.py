"""Every exercise: its data, its answer, its stub and its mutants."""

from pathlib import Path

import numpy as np
import pytest

from convlab.checker import EXERCISES, UnknownExerciseError, check, exercise
from convlab.checker.exercises.misconceptions import MISCONCEPTIONS
from convlab.checker.record import Case
from convlab.executors.compile import compile
from convlab.spec import ConvSpec

ROOT = Path(__file__).parents[2]
SEEDS = (1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3)))  # all three in CI
ALL_IDS = " or ".join(f'"{exercise_id}"' for exercise_id in EXERCISES)
BY_ID = pytest.mark.parametrize("record", EXERCISES.values(), ids=lambda record: record.id)
WAYS = [
    pytest.param(record, mutant, way, id=f"{record.id}: {mutant.name} ({i})")
    for record in EXERCISES.values()
    for mutant in record.mutants
    for i, way in enumerate(mutant.ways)
]


@BY_ID
@pytest.mark.parametrize("seed", SEEDS)
def test_the_answer_passes(record, seed, answers):
    verdict = check(record.id, answers[record.id], seed=seed)
    assert verdict.passed, verdict
    assert verdict.right == verdict.total >= {"function": 4, "kernel": 3, "values": 1}[record.kind]


@BY_ID
def test_the_stub_is_not_attempted(record, stubs):
    if record.id not in stubs:  # a question inside of a lesson, whose cell runs as it stands
        assert record.notebook in {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
        return
    verdict = check(record.id, stubs[record.id])
    assert verdict.status == "not_attempted", verdict
    assert verdict.message.startswith(f"{record.function} ")


def written(record, way, answer):
    """A mutant as a learner would hand it in."""
    if record.kind == "kernel":
        return compile(way, name="mine.cu")
    return answer | way if record.kind == "values" else way


@pytest.mark.parametrize(("record", "mutant", "way"), WAYS)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_mutant_is_rejected_and_named(record, mutant, way, seed, answers):
    verdict = check(record.id, written(record, way, answers[record.id]), seed=seed)
    assert verdict.status in ("wrong", "error"), verdict
    assert verdict.diagnosis == mutant.name
    assert (verdict.misconception, verdict.hint) == (mutant.misconception, mutant.hint)


@BY_ID
def test_an_exercise_has_enough_mutants_with_words_of_their_own(record):
    assert len(record.mutants) >= 6
    assert len({mutant.misconception for mutant in record.mutants}) == len(record.mutants)


def test_all_misconceptions_are_sentences_in_use():
    used = {mutant.name for record in EXERCISES.values() for mutant in record.mutants}
    assert used == MISCONCEPTIONS.keys()
    for sentence, hint in MISCONCEPTIONS.values():
        assert sentence.endswith(".")
        assert hint.endswith((".", "?"))


@BY_ID
@pytest.mark.parametrize("seed", range(20))
def test_the_data_hide_nothing(record, seed):
    for case in record.cases(np.random.default_rng(seed)):
        output = record.kernel.output if record.kernel else ""
        arrays = {
            name: value
            for name, value in case.arguments.items()
            if isinstance(value, np.ndarray) and value.ndim and name != output
        }
        for array in arrays.values():
            assert array.dtype == np.float32
            assert np.abs(array).min() >= 0.25
            assert array.min() < 0 < array.max() or array.size < 6
            assert np.unique(array).size > 0.98 * array.size
        if "x" in arrays:
            x, w = arrays["x"], arrays["w"]
            assert x.shape[-2] != x.shape[-1]
            assert x.shape[-3] == w.shape[1] != w.shape[0]


@pytest.mark.parametrize("seed", range(20))
def test_the_loops_meet_every_kind_of_asymmetry(seed):
    cases = exercise("01-loops").cases(np.random.default_rng(seed))
    for case in cases:
        assert case.arguments["x"].shape[0] > 1
        assert case.arguments["w"].shape[2] != case.arguments["w"].shape[3]
    assert cases[0].arguments["stride"] == (1, 1)
    assert cases[0].arguments["padding"] == (0, 0)
    for case in cases:
        p, q = exercise("01-loops").oracle(*case.arguments.values()).shape[2:]
        assert p != q
    strides, paddings = ([case.arguments[name] for case in cases] for name in ("stride", "padding"))
    assert any(a > b for a, b in strides) and any(a < b for a, b in strides)  # noqa: PT018
    assert any(a > b for a, b in paddings) and any(a < b for a, b in paddings)  # noqa: PT018


def test_the_one_output_visits_all_sides_but_starts_inside():
    cases = exercise("01-one-output").cases(np.random.default_rng(5))
    height, width = cases[0].arguments["x"].shape[1:]
    first_rows = [2 * case.fixed["p"] - 1 for case in cases]
    first_columns = [2 * case.fixed["q"] - 1 for case in cases]
    assert 0 <= first_rows[0] < height - 2
    assert 0 <= first_columns[0] < width - 2
    assert min(first_rows) == min(first_columns) == -1
    assert max(first_rows) == height - 2
    assert max(first_columns) == width - 3


@BY_ID
def test_the_same_seed_makes_the_same_data_and_another_one_others(record):
    if record.kind == "values":
        return  # the question is part of the text
    first, again, other = (
        next(iter(record.cases(np.random.default_rng(seed))[-1].arguments.values())) for seed in (7, 7, 8)
    )
    assert np.array_equal(first, again)
    assert np.shape(first) != np.shape(other) or not np.array_equal(first, other)


@BY_ID
def test_the_tolerance_is_a_rounding_bound_not_a_licence(record):
    for case in record.cases(np.random.default_rng(0)):
        if record.kind == "values":
            continue  # a range of numbers is its own tolerance
        tolerance, expected = record.tolerance(*case.known), record.oracle(*case.known)
        assert tolerance.shape == expected.shape
        assert tolerance.min() > 0
        assert tolerance.max() < 1e-4


def test_a_case_describes_itself_and_its_elements():
    case = Case({"x": np.zeros((2, 3)), "stride": (2, 1)}, axes=("p", "q"), fixed={"k": 4})
    assert str(case) == "x of 2×3, stride=(2, 1)"
    assert case.element((0, 1)) == "y[k=4, p=0, q=1]"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("01-lops", 'there is no exercise "01-lops".\n  Fix: did you mean "01-loops"?'),
        ("01-LOOPS", 'there is no exercise "01-LOOPS".\n  Fix: did you mean "01-loops"?'),
        ("", f'there is no exercise "".\n  Fix: the ids are {ALL_IDS}.'),
        ("x" * 100, f"there is no such exercise.\n  Fix: the ids are {ALL_IDS}."),
    ],
)
def test_an_unknown_id_gets_suggestions(wrong, message):
    with pytest.raises(UnknownExerciseError) as caught:
        check(wrong, max)
    assert str(caught.value) == message


def test_an_answer_in_place_of_the_id_is_explained():
    with pytest.raises(UnknownExerciseError) as caught:
        check(max, "01-loops")
    assert str(caught.value) == (
        "an exercise's id is a string, but a builtin_function_or_method was given.\n"
        '  Fix: write the id first, then the answer: check("00-one-line", answer).'
    )


def test_the_numbers_that_the_task_states_are_true(answers):
    layer = ConvSpec(n=1, c=3, h=224, w=224, k=32, r=3, s=3, stride=2, padding=1)
    assert layer.output_shape == (1, 32, 112, 112)
    assert layer.macs == 27 * 32 * 112 * 112
    x, w, bias = np.ones((3, 9, 10)), np.ones((4, 3, 3, 3)), np.full(4, 0.5)
    assert answers["01-one-output"](x, w, bias, 0, 2, 2) == 27.5
    assert answers["01-one-output"](x, w, bias, 0, 0, 0) == 12.5
