"""What errors have in common, where no mutant computes the same."""

from dataclasses import replace

import numpy as np
import pytest

from convlab.checker import check
from convlab.checker.clues import clue
from convlab.checker.compare import compare
from convlab.checker.kinds.outcome import Trial
from convlab.checker.record import Case

CASE = Case({}, axes=("n", "k", "p", "q"))
RIGHT = np.random.default_rng(3).uniform(1, 2, (2, 3, 4, 5))


def judged(found, right=RIGHT, case=CASE):
    finding = compare(case, found, right, np.full(right.shape, 1e-6))
    return Trial(case, "wrong" if finding.problem else "ok", finding)


def bent(index, by=0.3):
    found = RIGHT.copy()
    found[index] += np.random.default_rng(4).uniform(by, 2 * by, found[index].shape)
    return found


def holed():
    found = RIGHT.copy()
    found[1, 1, 1, 1] = np.nan
    return found


BORDER = np.ones(RIGHT.shape, bool)
BORDER[:, :, 1:-1, 1:-1] = False

FOUND = {
    "NaN": (holed(), "Some elements are NaN."),
    "infinite": (np.where(RIGHT > 1.9, np.inf, RIGHT), ""),
    "zero": (0 * RIGHT, "Every element is 0."),
    "sign": (-RIGHT, "Every element has the wrong sign."),
    "factor": (RIGHT / 3, "All elements are too large or too small by one factor."),
    "offset": (RIGHT + 0.5, "All elements are off by the same amount."),
    "coarse": (
        np.round(RIGHT, 2),
        "All elements are nearly right: the method is sound and the arithmetic too coarse.",
    ),
    "offset of a channel": (
        RIGHT + np.array([0.5, 0.0, -1.0])[:, None, None],
        "Within one output channel all elements are off by the same amount.",
    ),
    "rows reversed": (RIGHT[:, :, ::-1], "The rows of the result are in reverse order."),
    "columns reversed": (RIGHT[..., ::-1], "The columns of the result are in reverse order."),
    "turned": (RIGHT[:, :, ::-1, ::-1], "The result is turned by 180 degrees."),
    "one image": (bent(1), "With n = 0 all is right."),
    "one channel": (bent(np.s_[:, 1]), "With k = 0, 2 all is right."),
    "border": (bent(BORDER), "Only elements at the border are wrong."),
    "everywhere": (bent(np.s_[:]), ""),
    "axes reordered": (RIGHT.transpose(0, 2, 3, 1), "The axes are in another order."),
    "axis missing": (RIGHT[0], "The result has 3 axes, not 4."),
    "sizes": (RIGHT[:, :, :-1, 1:], "P is 3, not 4 and Q is 4, not 5."),
    "a type": (RIGHT.astype(int), ""),
}


@pytest.mark.parametrize(("found", "sentence"), FOUND.values(), ids=FOUND)
@pytest.mark.filterwarnings("error")
def test_the_pattern_is_told(found, sentence):
    words, hint = clue([judged(RIGHT), judged(found)])
    assert words == sentence
    assert bool(words) == bool(hint)


# Which block wrote each element: columns of two along x, rows of three along y, an image each along z.
N, _, P, Q = np.indices(RIGHT.shape)
BLOCKS = np.stack([Q // 2, P // 3, N])
MORE = np.random.default_rng(6).uniform(0.3, 0.6, RIGHT.shape)

BLOCKWISE = {
    "the second along x": (Q >= 2, "All is right up to blockIdx.x = 0, and wrong from blockIdx.x = 1 on."),
    "the last along x": ((Q == 4) & (P < 3), "All is right up to blockIdx.x = 1, and wrong from blockIdx.x = 2 on."),
    "the second along y": ((P == 3) & (Q > 0), "All is right up to blockIdx.y = 0, and wrong from blockIdx.y = 1 on."),
    "one in the middle": ((Q // 2 == 1) & (P < 3) & (P > 0), ""),
    "the first": (Q < 2, ""),
    "one of each": ((Q // 2 + P // 3) % 2 == 0, ""),
    "the second image": (N == 1, "With n = 0 all is right."),  # in tensor terms where they say as much
}


@pytest.mark.parametrize(("wrong", "sentence"), BLOCKWISE.values(), ids=BLOCKWISE)
def test_the_block_from_which_on_all_is_wrong_is_told(wrong, sentence):
    trial = judged(RIGHT + wrong * MORE)
    words, hint = clue([replace(trial, finding=replace(trial.finding, blocks=BLOCKS))])
    assert words == sentence
    assert bool(words) == bool(hint)


def test_what_no_block_wrote_and_results_of_other_ranks_are_looked_at_too():
    right = np.random.default_rng(7).uniform(1, 2, 40)
    places = np.stack([np.arange(40) // 16, np.zeros(40, int), np.zeros(40, int)])
    places[:, 3] = -1
    trial = judged(np.where(places[0] == 0, right, right + np.arange(40)), right, Case({}, axes=("i",)))
    words, _ = clue([replace(trial, finding=replace(trial.finding, blocks=places))])
    assert words == "All is right up to blockIdx.x = 0, and wrong from blockIdx.x = 1 on."


def test_a_pattern_must_hold_in_all_wrong_cases():
    assert clue([judged(RIGHT / 3), judged(bent(np.s_[:]))]) == ("", "")


def test_numbers_need_two_cases_to_show_a_pattern():
    case = Case({})
    one, other = judged(0.5, np.array(1.0), case), judged(1.0, np.array(2.0), case)
    assert clue([one]) == ("", "")
    assert clue([one, other])[0] == "All elements are too large or too small by one factor."


def test_an_index_error_gets_a_hint_about_indices():
    verdict = check("01-loops", lambda *given: given[9])
    assert verdict.misconception == "An index goes past the end of an array."
    assert verdict.diagnosis == ""


def test_other_errors_speak_for_themselves():
    assert check("01-loops", lambda *given: 1 / 0).misconception == ""
