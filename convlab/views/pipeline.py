"""Pipelines: loads, arithmetic and barriers of a block over time, with one stage and with two; a model of traces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from convlab.spec import GemmSpec
from convlab.views.grid import Frame, Ids, Panel, cell_ids, join, pairs
from convlab.views.segments import Segment, segments
from convlab.views.view import View
from convlab.views.words import count_text

__all__ = ["PipelineView", "Schedule", "pipeline", "schedule"]

_ONE, _TWO = "gemm_register", "gemm_warp"  # as many outputs a thread, and as deep a tile: 8 × 8 and 8
_M, _N, _DEPTH = 64, 128, 8
_COLUMNS = 48
_ROWS = {  # of a panel: their kinds, and what they say
    "under way": ("input", "the loads of {} are under way"),
    "loads": ("register", "issues the loads of {}, and what prepares them"),
    "computes": ("output", "multiplies {}"),
    "waits": ("waste", "waits for {}"),
    "stores": ("shared", "stores {} to shared memory"),
}
_UNDER_WAY, _LOADS, _COMPUTES, _WAITS, _STORES = range(5)


class Span(NamedTuple):
    """What happens in cycles ``start`` up to, not including, ``end``: a row, and the step whose data it is about."""

    row: int
    start: int
    end: int
    step: int  # from 0; -1 for none


@dataclass(frozen=True, eq=False)
class Schedule:
    """What the first warp of a block does when, in the model: spans, the cycles of barriers, and the last cycle."""

    spans: tuple[Span, ...]
    barriers: tuple[int, ...]
    cycles: int

    @cached_property
    def waits(self) -> int:
        """Cycles in which the warp issues nothing."""
        return sum(span.end - span.start for span in self.spans if span.row == _WAITS)


@dataclass(frozen=True, eq=False, kw_only=True)
class PipelineView(View):
    """The picture of two kernels' schedules: the ``one`` of a kernel with one stage, that of a kernel with ``two``."""

    one: Schedule
    two: Schedule


def pipeline(steps: int = 4, latency: int = 400, issue: int = 1) -> PipelineView:
    """Show when a block loads, computes and waits, with one tile in shared memory and with two in turn.

    >>> view = pipeline(steps=4, latency=400)
    >>> view.one.waits, view.two.waits
    (1584, 257)

    Parameters: the kernels are `gemm_register` and `gemm_warp`, each multiplying ``steps`` tiles of depth 8; what their
    warps do, and in which order, comes from traces. The times are a model: a load from global memory takes ``latency``
    cycles, an instruction ``issue``; see `schedule`. Raises ``ValueError`` for numbers that are out of reach.
    """
    _check({"steps": (steps, 1, 16), "latency": (latency, 0, 10_000), "issue": (issue, 1, 100)})
    spec = GemmSpec(gemm_m=_M, gemm_n=_N, gemm_k=_DEPTH * steps)
    one, two = (schedule(segments(name, spec), latency, issue) for name in (_ONE, _TWO))
    width = _width(max(one.cycles, two.cycles))
    kernels = {"one stage": (_ONE, one), "two stages": (_TWO, two)}
    panels = [
        _panel(name, f"{name.capitalize()}: {kernel}", each, width, line)
        for line, (name, (kernel, each)) in enumerate(kernels.items())
    ]
    cells = [_steps(each, width) for each in (one, two)]
    ids = list(cell_ids(panels).values())
    title = f"Pipeline, modelled: {count_text(steps, 'step')} of a matrix product, with one stage and with two"
    captions = [*_sentences(one, two, latency, issue)]
    return PipelineView(
        title=title,
        alt=f"{title}. Rows are what a warp does, columns {width} cycles each. {' '.join(captions)}",
        panels=panels,
        links=_links(cells, ids, steps),
        captions=captions,
        legend={"waste": "waits: issues nothing", "gap": ""},
        frames=[*_frames(one, two, cells, ids, steps)],
        one=one,
        two=two,
    )


def _width(cycles: int) -> int:
    """The cycles of a column: a round number, so that all columns hold all cycles."""
    least = -(-cycles // _COLUMNS)
    return least if least < 10 else -(-least // 10) * 10


def schedule(warps: Sequence[Sequence[Segment]], latency: int, issue: int) -> Schedule:
    """Run the model: warps issue in order, and meet at a barrier after each segment.

    >>> step = [Segment(load=4, arithmetic=0, store=2, multiplies=False), Segment(0, 10, 0, multiplies=True)]
    >>> result = schedule([step], latency=20, issue=1)
    >>> result.cycles, result.waits, result.barriers
    (36, 20, (26,))

    In a segment, loads come first, as far up as an assembler can move them, then arithmetic; stores wait until what was
    loaded has arrived, ``latency`` cycles after the last load. Each warp has a scheduler of its own, which issues an
    instruction every ``issue`` cycles; the block is alone on its multiprocessor.
    """
    spans: list[Span] = []
    barriers: list[int] = []
    ready, loaded, multiplied, now = [0] * len(warps), 0, 0, 0
    for together in zip(*warps, strict=True):
        loaded, multiplied = loaded + bool(together[0].load), multiplied + together[0].multiplies
        steps = {_LOADS: loaded - 1, _COMPUTES: multiplied - 1}
        ends = []
        for warp, segment in enumerate(together):
            here, ready[warp] = _run(segment, now, ready[warp], latency, issue, steps)
            ends.append(max([now, *(span.end for span in here if span.row != _UNDER_WAY)]))
            spans += here if warp == 0 else []
        now = max(ends)
        spans += [Span(_WAITS, ends[0], now, -1)] if ends[0] < now else []
        barriers.append(now)
    return Schedule(tuple(spans), tuple(barriers[:-1]), now)


def _run(
    segment: Segment, now: int, ready: int, latency: int, issue: int, steps: dict[int, int]
) -> tuple[list[Span], int]:
    """Run one segment of one warp from a cycle on: its spans, and when what it has loaded is there."""
    loading, computing = now + issue * segment.load, now + issue * (segment.load + segment.arithmetic)
    step = steps[_LOADS]
    spans = [Span(_LOADS, now, loading, step)]
    row = _COMPUTES if segment.multiplies else _LOADS
    spans.append(Span(row, loading, computing, steps[row]))
    if segment.load:
        ready = loading + latency
        spans.append(Span(_UNDER_WAY, now, ready, step))
    if segment.store:
        start = max(computing, ready)
        spans += [Span(_WAITS, computing, start, step), Span(_STORES, start, start + issue * segment.store, step)]
    return [span for span in spans if span.start < span.end], ready


def _check(values: dict[str, tuple[int, int, int]]) -> None:
    call = ", ".join(f"{name}={value!r}" for name, (value, _, _) in values.items())
    for name, (value, least, most) in values.items():
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(
                f"{name}={value!r} is not a whole number from {least} to {most}.\n"
                f"  In: views.pipeline({call})\n  Fix: choose {name} in this range."
            )


def _filled(plan: Schedule, width: int) -> dict[tuple[int, int], Span]:
    """The span that fills most of a cell, by row and column; where it fills little of it, that is left to others."""
    most: dict[tuple[int, int], tuple[int, Span]] = {}
    for span in plan.spans:
        for column in range(span.start // width, (span.end - 1) // width + 1):
            part = min(span.end, (column + 1) * width) - max(span.start, column * width)
            enough = 4 * part >= min(width, span.end - span.start)
            if enough and part > most.get((span.row, column), (0, span))[0]:
                most[span.row, column] = part, span
    return {place: span for place, (_, span) in most.items()}


def _steps(plan: Schedule, width: int) -> Ids:
    """The step, from 0, that each cell is about, of shape (rows, columns); -1 for none."""
    steps = np.full((len(_ROWS), _COLUMNS), -1)
    for place, span in _filled(plan, width).items():
        steps[place] = span.step
    return steps


def _panel(name: str, title: str, plan: Schedule, width: int, line: int) -> Panel:
    filled = _filled(plan, width)
    places = [(row, column) for row in range(len(_ROWS)) for column in range(_COLUMNS)]
    kinds = [kind for kind, _ in _ROWS.values()]
    times = [f"{column * width:,}" if column % 4 == 0 else "" for column in range(_COLUMNS)]
    return Panel(
        name=name,
        title=title,
        subtitle=f"{plan.cycles:,} cycles, {plan.waits:,} of them waiting; a number is a step, a heavy line a barrier",
        rows=len(_ROWS),
        cols=_COLUMNS,
        labels=[_label(row, column, width, filled) for row, column in places],
        values=[str(filled[place].step + 1) if place in filled and filled[place].step >= 0 else "" for place in places],
        kinds=[kinds[place[0]] if place in filled else "gap" for place in places],
        row_index=[*_ROWS],
        col_index=times,
        col_lines=sorted({round(at / width) for at in plan.barriers}),
        line=line,
    )


def _label(row: int, column: int, width: int, filled: dict[tuple[int, int], Span]) -> str:
    cycles = f"cycles {column * width} to {(column + 1) * width - 1}"
    if (span := filled.get((row, column))) is None:
        return f"{cycles}: {[*_ROWS][row]}, nothing"
    if span.step < 0:
        return f"{cycles}: waits for the other warps"
    return f"{cycles}: {[*_ROWS.values()][row][1].format(f'step {span.step + 1}')}"


def _links(cells: Sequence[Ids], ids: Sequence[Ids], steps: int) -> Ids:
    """Link all cells of a step, kernel by kernel."""
    some = [own[about == step] for own, about in zip(ids, cells, strict=True) for step in range(steps)]
    return join(*(pairs(each[:, np.newaxis], each) for each in some))


def _frames(one: Schedule, two: Schedule, cells: Sequence[Ids], ids: Sequence[Ids], steps: int) -> Iterator[Frame]:
    yield Frame("Two stages load the next step while they compute this one. Step on to follow one step's data.")
    for step in range(steps):
        lit = [cell for own, about in zip(ids, cells, strict=True) for cell in own[about == step].tolist()]
        words = "; ".join(f"{name}: {_story(plan, step)}" for name, plan in (("One stage", one), ("two stages", two)))
        yield Frame(f"Step {step + 1}. {words}.", lit=lit)


def _story(plan: Schedule, step: int) -> str:
    """Say when a step's data is under way, how long the warp waits for it, and when it is used."""
    (way,) = (span for span in plan.spans if span.step == step and span.row == _UNDER_WAY)
    waits = sum(span.end - span.start for span in plan.spans if span.step == step and span.row == _WAITS)
    (use,) = (span for span in plan.spans if span.step == step and span.row == _COMPUTES)
    return f"under way in cycles {way.start:,} to {way.end:,}, waited for {waits:,}, computed from {use.start:,}"


def _sentences(one: Schedule, two: Schedule, latency: int, issue: int) -> Iterator[str]:
    yield (
        f"With one stage the warps wait {one.waits:,} of {one.cycles:,} cycles ({one.waits / one.cycles:.0%}), with "
        f"two {two.waits:,} of {two.cycles:,} ({two.waits / two.cycles:.0%}): loads are under way while they compute."
    )
    yield (
        f"Order and instructions are traced, times modelled: {count_text(latency, 'cycle')} for a load, {issue} for an "
        "instruction, one block, a scheduler for each warp."
    )
    yield (
        f"{_TWO} also needs fewer instructions, since it loads 16 bytes at a time. Other blocks, if there are any, "
        "compute while one waits."
    )
