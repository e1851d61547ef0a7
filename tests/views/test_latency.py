from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from convlab.views.latency import ISSUES, READY, WAITS, latency, schedule

# Too few warps, just enough, too many; one of everything; no wait at all.
SETTINGS = [
    (warps, busy, wait)
    for warps in (1, 2, 3, 5, 16)
    for busy, wait in ((4, 12), (3, 7), (1, 15), (1, 1), (2, 5), (8, 3), (5, 0))
]


def formula(warps: int, busy: int, wait: int) -> Fraction:
    """What the text books say, without any simulation."""
    return min(Fraction(1), Fraction(warps * busy, busy + wait))


@pytest.mark.parametrize(("warps", "busy", "wait"), SETTINGS)
def test_the_model_issues_as_often_as_the_formula_says(warps: int, busy: int, wait: int) -> None:
    turn = max(warps * busy, busy + wait)  # after so many cycles everything repeats, so that whole turns can be counted
    states = schedule(warps, busy, wait, 9 * turn)
    issued = (states[:, 4 * turn :] == ISSUES).sum()
    assert Fraction(int(issued), 5 * turn) == formula(warps, busy, wait)


@pytest.mark.parametrize(("warps", "busy", "wait"), SETTINGS)
def test_the_view_says_the_same(warps: int, busy: int, wait: int) -> None:
    view = latency(warps, busy, wait, cycles=7)
    assert view.utilisation == float(formula(warps, busy, wait))
    assert f"{100 * float(formula(warps, busy, wait)):.0f} % of the scheduler's time." in view.captions[1]
    assert view.captions[1].startswith("Modelled:")


@pytest.mark.parametrize(("warps", "busy", "wait"), SETTINGS)
def test_a_scheduler_issues_one_instruction_a_cycle_and_is_idle_only_if_all_wait(
    warps: int, busy: int, wait: int
) -> None:
    states = schedule(warps, busy, wait, 100)
    issues = (states == ISSUES).sum(axis=0)
    assert issues.max() == 1
    assert np.array_equal(issues == 0, (states == WAITS).all(axis=0))


@pytest.mark.parametrize(("warps", "busy", "wait"), SETTINGS)
def test_each_warp_waits_for_its_load_after_its_work_and_at_no_other_time(warps: int, busy: int, wait: int) -> None:
    for row in schedule(warps, busy, wait, 200):
        done, waited = 0, wait
        for state in row:
            if state == WAITS:
                assert done == busy
                waited += 1
                continue
            assert waited == wait
            done = (0 if done == busy else done) + (state == ISSUES)
            waited = 0 if done == busy else wait


def test_without_a_wait_the_turn_goes_round_all_the_same() -> None:
    states = schedule(3, 2, 0, 12)
    assert (states == ISSUES).argmax(axis=0).tolist() == [0, 0, 1, 1, 2, 2] * 2


def test_a_picture_by_hand() -> None:
    w, r, i = WAITS, READY, ISSUES
    expected = [
        [i, i, w, w, w, i, i, w, w],
        [r, r, i, i, w, w, w, i, i],
    ]
    assert schedule(2, 2, 3, 9).tolist() == expected
    view = latency(2, 2, 3, 9)
    warps, scheduler = view.panels
    assert [warps.labels[9 + c] for c in (1, 2, 4)] == [
        "Cycle 1, warp 1: ready, but another warp was chosen",
        "Cycle 2, warp 1: issues an instruction",
        "Cycle 4, warp 1: waits for its load",
    ]
    assert scheduler.values == ["0", "0", "1", "1", "", "0", "0", "1", "1"]
    assert scheduler.labels[3:5] == [
        "Cycle 3: an instruction of warp 1",
        "Cycle 4: nothing to issue, since all warps wait",
    ]
    strong, faint, empty = warps.cell_shades[0], warps.cell_shades[9], warps.cell_shades[2]
    assert strong - faint >= 3
    assert faint - empty >= 3
    assert [shade == strong for shade in scheduler.cell_shades] == [value != "" for value in scheduler.values]


def test_pointing_at_a_cell_lights_its_column() -> None:
    view = latency(3, 2, 4, cycles=5)
    warps, scheduler = view.ids["warps"], view.ids["scheduler"]
    column = {*warps[:, 2].tolist(), int(scheduler[0, 2])}
    for cell in column:
        assert {*view.linked(cell), cell} == column


def test_the_words_say_what_is_drawn() -> None:
    view = latency(3, 4, 12)
    assert view.title == "Latency hiding, modelled: 3 warps, each 4 cycles of work and 12 of waiting"
    assert view.captions[1:] == [
        "Modelled: in the steady state 12 of 16 cycles issue an instruction, 75 % of the scheduler's time.",
        "warps · work / (work + waiting) = 3 · 4 / (4 + 12) = 75 %.",
    ]
    assert latency(1, 4, 12).title.startswith("Latency hiding, modelled: 1 warp, ")
    assert latency(5, 4, 12).captions[2].endswith("= 125 %, more than there is: it is always busy.")
    assert latency(4, 4, 12).captions[2].endswith("= 100 %.")
    assert all(text in view.alt for text in (view.title, *view.captions[1:]))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"warps": 0}, "warps=0 is not a whole number from 1 up"),
        ({"warps": 2, "busy": 0}, "busy=0 is not a whole number from 1 up"),
        ({"warps": 2, "wait": -1}, "wait=-1 is not a whole number from 0 up"),
        ({"warps": 2.0}, "warps=2.0 is not a whole number from 1 up"),
        ({"warps": True}, "warps=True is not a whole number from 1 up"),
        ({"warps": 2, "cycles": 0}, "cycles=0 is not a whole number from 1 up"),
    ],
)
def test_numbers_that_make_no_picture_are_named(wrong: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        latency(**wrong)
    given = {"warps": 1, "busy": 4, "wait": 12, "cycles": 48} | wrong
    assert f"In: views.latency({', '.join(f'{name}={value!r}' for name, value in given.items())})" in str(error.value)
    assert "Fix: " in str(error.value)


def test_more_cells_than_a_picture_holds_are_refused() -> None:
    with pytest.raises(ValueError, match="'warps' has 6400 cells"):
        latency(64, cycles=100)
