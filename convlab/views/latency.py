"""Latency hiding: how one warp scheduler stays busy while warps wait for memory, by a small model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from convlab.views.grid import Ids, Panel, cell_ids, join, pairs
from convlab.views.view import View

__all__ = ["ISSUES", "READY", "WAITS", "LatencyView", "latency", "schedule"]

States = npt.NDArray[np.int8]

WAITS, READY, ISSUES = range(3)  # what a warp does in a cycle
_WORDS = ("waits for its load", "ready, but another warp was chosen", "issues an instruction")
_SHADES = np.array([0.0, 0.35, 0.99])  # far enough apart to be told from each other in grey
_CYCLES = 48  # as many as there is room for in cells that show a number


@dataclass(frozen=True, eq=False, kw_only=True)
class LatencyView(View):
    """The picture of a scheduler's cycles; ``utilisation`` is the share of them, 0 to 1, in which it issues."""

    utilisation: float


def latency(warps: int, busy: int = 4, wait: int = 12, cycles: int = _CYCLES) -> LatencyView:
    """Show what each warp of one scheduler does in each cycle: issue an instruction, wait for memory, or stand ready.

    >>> view = latency(warps=2, busy=4, wait=12, cycles=20)
    >>> [(panel.name, panel.rows, panel.cols) for panel in view.panels], view.utilisation
    ([('warps', 2, 20), ('scheduler', 1, 20)], 0.5)

    Parameters: each of the ``warps`` issues ``busy`` instructions, the last of which is a load, and then cannot
    issue for ``wait`` cycles; ``cycles`` are drawn. The picture is a model, and says so: real kernels have several
    loads under way, and real schedulers choose by rules that are not published.

    Raises ``ValueError`` for numbers that are not whole or too small, and for more cells than a picture may have.
    """
    _check({"warps": warps, "busy": busy, "wait": wait, "cycles": cycles})
    states = schedule(warps, busy, wait, cycles)
    used, turn = _steady(warps, busy, wait)
    panels = [_warp_panel(states), _scheduler_panel(states)]
    title = f"Latency hiding, modelled: {_count(warps, 'warp')}, each {busy} cycles of work and {wait} of waiting"
    captions = [
        "Strong: the warp issues an instruction. Faint: it is ready, but another was chosen. Empty: it waits for data.",
        f"Modelled: in the steady state {used} of {_count(turn, 'cycle')} issue an instruction, "
        f"{_percent(used / turn)} of the scheduler's time.",
        _formula(warps, busy, wait),
    ]
    return LatencyView(
        title=title,
        alt=f"{title}. A row for each warp, a column for each cycle. {captions[1]} {captions[2]}",
        panels=panels,
        links=_columns(cell_ids(panels)),
        captions=captions,
        utilisation=used / turn,
    )


def schedule(warps: int, busy: int, wait: int, cycles: int) -> States:
    """Run the model: one instruction a cycle, of the same warp until it waits, then of the next that is ready.

    >>> schedule(warps=2, busy=2, wait=3, cycles=8)
    array([[2, 2, 0, 0, 0, 2, 2, 0],
           [1, 1, 2, 2, 0, 0, 0, 2]], dtype=int8)

    Returns an array of shape (warps, cycles) with ``WAITS``, ``READY`` and ``ISSUES``. To stay with a warp is called
    greedy scheduling. Changing the warp in each cycle makes all of them wait at the same time, and hides less.
    """
    states = np.full((warps, cycles), WAITS, np.int8)
    numbers, wakes, left, turn = np.arange(warps), np.zeros(warps, int), np.full(warps, busy), 0
    for cycle in range(cycles):
        ready = wakes <= cycle
        if not ready.any():
            continue
        turn = int(np.where(ready, (numbers - turn) % warps, warps).argmin())
        states[ready, cycle] = READY
        states[turn, cycle] = ISSUES
        left[turn] -= 1
        if not left[turn]:
            left[turn], wakes[turn] = busy, cycle + 1 + wait
            turn = (turn + 1) % warps
    return states


def _steady(warps: int, busy: int, wait: int) -> tuple[int, int]:
    """Count the cycles that issue, and all cycles, from the second time that warp 0 has its turn to the third."""
    states = schedule(warps, busy, wait, 2 * (warps * busy + wait) + 1)
    _, second, third = np.flatnonzero(states[0] == ISSUES)[::busy][:3]
    return int((states[:, second:third] == ISSUES).sum()), int(third - second)


def _formula(warps: int, busy: int, wait: int) -> str:
    share = warps * busy / (busy + wait)
    more = ", more than there is: it is always busy" if share > 1 else ""
    return f"warps · work / (work + waiting) = {warps} · {busy} / ({busy} + {wait}) = {_percent(share)}{more}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _check(values: Mapping[str, int]) -> None:
    for name, value in values.items():
        least = 0 if name == "wait" else 1
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            given = ", ".join(f"{key}={each!r}" for key, each in values.items())
            raise ValueError(
                f"{name}={value!r} is not a whole number from {least} up.\n"
                f"  In: views.latency({given})\n"
                f"  Fix: give {name} as a whole number of {'warps' if name == 'warps' else 'cycles'}."
            )


def _warp_panel(states: States) -> Panel:
    warps, cycles = states.shape
    return Panel(
        name="warps",
        title="Warps",
        subtitle="a row for each warp, a column for each cycle",
        rows=warps,
        cols=cycles,
        labels=[
            f"Cycle {cycle}, warp {warp}: {_WORDS[states[warp, cycle]]}"
            for warp in range(warps)
            for cycle in range(cycles)
        ],
        shades=_SHADES[states].ravel().tolist(),
        row_index=[str(warp) for warp in range(warps)],
        col_index=[str(cycle) for cycle in range(cycles)],
    )


def _scheduler_panel(states: States) -> Panel:
    issues = states == ISSUES
    chosen = [str(column.argmax()) if column.any() else "" for column in issues.T]
    return Panel(
        name="scheduler",
        title="Their scheduler",
        subtitle="one instruction a cycle: the number of the warp that issues it, or nothing",
        rows=1,
        cols=len(chosen),
        labels=[
            f"Cycle {cycle}: "
            + (f"an instruction of warp {warp}" if warp else "nothing to issue, since all warps wait")
            for cycle, warp in enumerate(chosen)
        ],
        values=chosen,
        shades=[_SHADES[ISSUES if warp else WAITS] for warp in chosen],
        line=1,
    )


def _columns(ids: Mapping[str, Ids]) -> Ids:
    """Link all cells of a cycle with each other."""
    column = np.concatenate([ids["warps"], ids["scheduler"]])
    first, second = np.triu_indices(len(column), k=1)
    return join(pairs(column[first], column[second]))
