"""Recognising a misconception by what it computes."""

import time
from dataclasses import replace

import numpy as np

from convlab.checker import exercise
from convlab.checker.compare import Finding, compare
from convlab.checker.diagnose import Diagnosis, diagnose
from convlab.checker.kinds import KINDS
from convlab.checker.kinds.outcome import PATIENCE, Trial
from convlab.checker.record import Case, Mutant

CASES = [Case({"x": np.array([1.0, 2.0])}, axes=("p",)), Case({"x": np.array([3.0, 5.0])}, axes=("p",))]
DOUBLED = Mutant("doubled", "It doubles.", "Once?", (lambda x: x + x, lambda x: 2 * x + 1))
DIVIDING = Mutant("dividing", "It divides.", "By what?", (lambda x: x * (9 // (int(x[0]) - 1)),))
MUTANTS = (DOUBLED, DIVIDING)


def posed(*mutants):
    return replace(exercise("01-loops"), mutants=mutants)


def tried(*results):
    trials = []
    for case, result in zip(CASES, results, strict=True):
        finding = compare(case, result, case.arguments["x"], np.full(2, 1e-6))
        trials.append(Trial(case, "wrong" if finding.problem else "ok", finding))
    return trials


def test_a_match_in_all_cases_names_the_mutant():
    assert diagnose(posed(*MUTANTS), tried(np.array([2.0, 4.0]), np.array([6.0, 10.0]))) == Diagnosis(
        "doubled", "It doubles.", "Once?"
    )


def test_any_of_its_ways_of_writing_counts_but_not_a_mixture():
    assert diagnose(posed(*MUTANTS), tried(np.array([3.0, 5.0]), np.array([7.0, 11.0]))).name == "doubled"
    assert diagnose(posed(*MUTANTS), tried(np.array([2.0, 4.0]), np.array([7.0, 11.0]))).name == ""


def test_float32_noise_does_not_hide_a_match():
    noisy = [np.float32(2.0) * np.array([1.0, 2.0]) * (1 + 1e-6), np.array([6.0, 10.0]) * (1 - 1e-6)]
    assert diagnose(posed(*MUTANTS), tried(*noisy)).name == "doubled"


def test_another_shape_is_no_match():
    assert diagnose(posed(*MUTANTS), tried(np.array([[2.0, 4.0]]), np.array([6.0, 10.0]))).name == ""


def test_failing_where_the_mutant_fails_counts_as_agreement():
    failed = Trial(CASES[0], "error", Finding("raised ZeroDivisionError"))
    assert diagnose(posed(*MUTANTS), [failed, tried(np.zeros(2), np.array([12.0, 20.0]))[1]]).name == "dividing"
    assert diagnose(posed(*MUTANTS), [failed, tried(np.zeros(2), np.array([6.0, 10.0]))[1]]).name == ""


def test_failing_where_the_mutant_does_not_is_no_match():
    failed = Trial(CASES[1], "error", Finding("raised ZeroDivisionError"))
    assert diagnose(posed(*MUTANTS), [tried(np.array([2.0, 4.0]), np.zeros(2))[0], failed]).name == ""


def test_a_result_that_varies_is_told_before_what_its_errors_share():
    trials = tried(np.array([2.0, 3.0]), np.array([4.0, 6.0]))
    others = iter([4.0, 4.0 + 1e-6, 4.5])
    asked = []

    def again(case, order):
        asked.append((case, order))
        return Finding(array=np.array([next(others), 6.0]))

    assert diagnose(posed(), trials, again) == Diagnosis("", *KINDS["function"].varying)
    assert asked == [(CASES[1], 1), (CASES[1], 2), (CASES[1], 3)]
    words = diagnose(posed(), trials, lambda case, order: trials[1].finding).misconception
    assert words == "All elements are off by the same amount."
    assert diagnose(posed(), trials, lambda case, order: Finding("failed")).misconception == words


def test_nothing_is_tried_again_where_a_mutant_is_found_or_nothing_came_out():
    def never(case, order):
        raise AssertionError

    assert diagnose(posed(*MUTANTS), tried(np.array([2.0, 4.0]), np.array([6.0, 10.0])), never).name == "doubled"
    failed = Trial(CASES[0], "error", Finding("raised ZeroDivisionError"))
    assert diagnose(posed(), [failed], never) == Diagnosis()


def test_a_fault_is_told_before_a_result_that_varies():
    def never(case, order):
        raise AssertionError

    for fault, words in {"race reads y": "Two threads use the same word", "bounds reads y": ""}.items():
        trials = tried(np.array([1.0, 2.0]), np.array([4.0, 6.0]))
        trials[1] = replace(trials[1], finding=replace(trials[1].finding, faults=frozenset({fault})))
        assert diagnose(posed(), trials, never).misconception.startswith(words)
        assert bool(diagnose(posed(), trials, never).hint) == bool(words)


def test_failing_everywhere_matches_nothing_not_even_a_mutant_that_does():
    hopeless = Mutant("hopeless", "It fails.", "Does it?", (lambda x: 1 // 0,))
    failed = [Trial(case, "error", Finding("raised ZeroDivisionError")) for case in CASES]
    assert diagnose(posed(hopeless), failed).name == ""


def test_a_slow_answer_is_tried_again_only_once():
    trials, asked = tried(np.array([1.0, 2.0]), np.array([4.0, 6.0])), []

    def again(case, order):
        asked.append(order)
        time.sleep(PATIENCE)
        return trials[1].finding

    diagnose(posed(), trials, again)
    assert asked == [1]
