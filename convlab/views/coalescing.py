"""Coalescing: the addresses that the lanes of a warp ask for at once, and the sectors of 32 bytes that then move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from convlab.emulator.observers.requests import SECTOR
from convlab.executors.run import Run
from convlab.views.grid import Frame, Ids, Panel, cell_ids, join, pairs
from convlab.views.requests import WORD, Request, requests
from convlab.views.traced import trace_method
from convlab.views.view import View
from convlab.views.words import count_text

__all__ = ["CoalescingView", "coalescing"]

_LANES = 32
_WORDS = SECTOR // WORD
_MOST = 36  # sectors: more would be too small to read
_ROWS = 12  # sectors of one panel
_CODE = 70  # letters of a line of CUDA C
_KINDS = {"x": "input", "w": "filter", "y": "output"}  # what other arrays hold, nobody knows: input
_WASTE = "moves along in its sector, though no lane asks for it"
_HINT = "In memory a number is the lane that asks for the word; 3× means three lanes, + ten or more. "
_GAPS = "Rows are sectors, with their first byte; a heavy line stands where bytes in between are left out."


@dataclass(frozen=True, eq=False, kw_only=True)
class CoalescingView(View):
    """The picture of requests: how many sectors each of those shown touches, and the bytes of all of them.

    ``asked`` are bytes that lanes ask for, each counted once a request, ``moved`` those of the sectors.
    """

    sectors: tuple[int, ...]
    asked: int
    moved: int

    @property
    def wasted(self) -> int:
        """The bytes that move though no lane asks for them."""
        return self.moved - self.asked


def coalescing(run: Run | str, spec: Any = None, request: int = 0, trace: int = 0) -> CoalescingView:
    """Show a warp's requests to global memory: its lanes, the words they ask for, and the sectors that move.

    >>> from convlab.spec import ConvSpec
    >>> view = coalescing("naive", ConvSpec(n=1, c=1, h=4, w=32, k=1, r=1, s=1), request=2)
    >>> view.sectors, view.asked, view.moved, view.wasted
    ((1,), 4, 32, 28)

    Parameters: ``run`` is one with a trace, or the name of a method, whose first warp then runs on ``spec``;
    ``request`` is the one to show, counted from 1 in the order of the trace, or 0 for all, step by step, as long as
    there is room for the sectors they touch; ``trace`` chooses one of ``run.traces``.

    Raises ``ValueError`` where there is no trace, no such request, and for a method that does not support the spec.
    """
    traced = trace_method(run, spec) if isinstance(run, str) else run
    if not 0 <= trace < len(traced.traces):
        fix = "launch it with trace=(block, warp) on the emulator"
        raise ValueError(f"The run has {len(traced.traces)} traces, and no number {trace}.\n  Fix: {fix}.")
    return picture(requests(traced.traces[trace]), traced, request)


def picture(everything: Sequence[Request], run: Run, request: int) -> CoalescingView:
    """Draw one of a warp's requests, or all from the first on for which there is room."""
    if not 0 <= request <= len(everything) or not everything:
        fix = "choose one from 1 on, or 0 for all" if everything else "trace a warp that reads or writes global memory"
        raise ValueError(f"request={request} is not there: the warp has {len(everything)}.\n  Fix: {fix}.")
    shown = [everything[request - 1]] if request else _fitting(everything)
    single = shown[0] if request else None
    memory = _memory(shown, single)
    panels = [_lanes(single), *(panel for panel, _ in memory)]
    cells = _cells(panels, memory)
    links = join(*(_links(each, cells) for each in shown))
    counts = f"request {request} of {len(everything)}" if request else count_text(len(everything), "request")
    title = f"{run.kernel}: {counts} of a warp"
    captions = [_total(shown, everything) if single is None else _sentence(single, run), _HINT + _GAPS]
    return CoalescingView(
        title=title,
        alt=f"{title}. {captions[0]} {_HINT}",
        panels=panels,
        links=np.unique(links, axis=0),
        captions=captions,
        legend={"waste": _WASTE if single else f"× {_WASTE}", "idle": "a lane that takes no part"},
        frames=[] if single else [_frame(i, each, run, cells) for i, each in enumerate(shown, start=1)],
        sectors=tuple(len(each.sectors) for each in shown),
        asked=sum(each.asked for each in shown),
        moved=sum(each.moved for each in shown),
    )


def _fitting(everything: Sequence[Request]) -> list[Request]:
    """The first requests whose sectors there is room for."""
    sectors: set[tuple[str, int]] = set()
    for count, each in enumerate(everything):
        sectors |= {(each.array, sector) for sector in each.sectors}
        if len(sectors) > _MOST:
            return list(everything[: max(1, count)])
    return list(everything)


def _kind(request: Request) -> str:
    return _KINDS.get(request.array, "input")


def _lanes(single: Request | None) -> Panel:
    labels = [f"lane {lane}" for lane in range(_LANES)]
    kinds = ["plain"] * _LANES
    if single is not None:
        labels, kinds = [f"{label} takes no part" for label in labels], ["idle"] * _LANES
        for lane, start, index in zip(single.lanes, single.start, single.index, strict=True):
            labels[lane] = f"lane {lane} asks for {single.array}{index}, from byte {start} on"
            kinds[lane] = _kind(single)
    return Panel(
        name="lanes",
        title="The lanes of a warp",
        subtitle="threads that ask at the same time",
        rows=1,
        cols=_LANES,
        labels=labels,
        values=[str(lane) for lane in range(_LANES)],
        kinds=kinds,
    )


def _memory(shown: Sequence[Request], single: Request | None) -> list[tuple[Panel, tuple[str, list[int]]]]:
    """Panels of sectors, array by array, each with the array and the sectors that it shows."""
    touched: dict[str, set[int]] = {}
    for each in shown:
        touched.setdefault(each.array, set()).update(each.sectors)
    memory = []
    for array, some in touched.items():
        sectors = sorted(some)
        rows = -(-len(sectors) // -(-len(sectors) // _ROWS))  # panels of about the same height
        for part, first in enumerate(range(0, len(sectors), rows)):
            here = sectors[first : first + rows]
            memory.append((_sectors(array, part, here, _extent(sectors), single), (array, here)))
    return memory


def _extent(sectors: Sequence[int]) -> str:
    """Count sectors, and say how far they are from one to the next where they do not touch."""
    apart = max((b - a for a, b in pairwise(sectors)), default=1) * SECTOR
    return count_text(len(sectors), "sector") + (f", up to {apart:,} bytes apart" if apart > SECTOR else "")


def _sectors(array: str, part: int, sectors: Sequence[int], subtitle: str, single: Request | None) -> Panel:
    words = [sector * _WORDS + word for sector in sectors for word in range(_WORDS)]
    return Panel(
        name=array if not part else f"{array}, part {part + 1}",
        title=f"Memory of {array}" + (", further on" if part else ""),
        subtitle="" if part else subtitle,
        rows=len(sectors),
        cols=_WORDS,
        labels=[_label(array, word, single) for word in words],
        values=[_asking(word, single) for word in words] if single else (),
        kinds=[_kind(single) if word in single.words else "waste" for word in words] if single else "plain",
        row_index=[f"{sector * SECTOR:,}" for sector in sectors],
        col_index=[str(word * WORD) for word in range(_WORDS)],
        row_lines=[i for i in range(1, len(sectors)) if sectors[i] > sectors[i - 1] + 1],
        line=1,
    )


def _label(array: str, word: int, single: Request | None) -> str:
    place = f"byte {word * WORD} of {array}"
    if single is None:
        return place
    if word not in single.words:
        return f"{place}: {_WASTE}"
    askers = single.words[word]
    who = f"lane {single.lanes[askers[0]]}" if len(askers) == 1 else f"{len(askers)} lanes"
    element = f", {array}{single.index[askers[0]]}" if single.width == WORD else ""
    return f"{place}{element}: asked for by {who}"


def _asking(word: int, request: Request) -> str:
    """Say who asks for a word, in two letters at most, which fit the smallest cells."""
    askers = request.words.get(word, [])
    if len(askers) == 1:
        return str(request.lanes[askers[0]])
    return "" if not askers else f"{len(askers)}×" if len(askers) < 10 else "+"


def _cells(
    panels: Sequence[Panel], memory: Sequence[tuple[Panel, tuple[str, list[int]]]]
) -> Mapping[tuple[str, int], int]:
    """The cell of each word: (array, number of the word) → number of the cell."""
    ids = cell_ids(panels)
    return {
        (array, sector * _WORDS + word): int(ids[panel.name][row, word])
        for panel, (array, sectors) in memory
        for row, sector in enumerate(sectors)
        for word in range(_WORDS)
    }


def _links(request: Request, cells: Mapping[tuple[str, int], int]) -> Ids:
    """Link each lane with the words that it asks for."""
    return join(
        *(
            pairs([request.lanes[place] for place in places], cells[request.array, word])
            for word, places in request.words.items()
        )
    )


def _frame(number: int, request: Request, run: Run, cells: Mapping[tuple[str, int], int]) -> Frame:
    kinds = dict.fromkeys(range(_LANES), "idle") | dict.fromkeys(request.lanes, _kind(request))
    values = {}
    for sector in request.sectors:
        for word in range(sector * _WORDS, (sector + 1) * _WORDS):
            cell = cells[request.array, word]
            kinds[cell] = _kind(request) if word in request.words else "waste"
            values[cell] = _asking(word, request) or "×"
    lit = [*request.lanes, *(cells[request.array, word] for word in request.words)]
    return Frame(_sentence(request, run), lit=lit, values=values, kinds=kinds)


def _sentence(request: Request, run: Run) -> str:
    """Say what a request asks for and what moves, and show its line of CUDA C."""
    lanes, sectors = f"{len(request.lanes)} of {_LANES} lanes", count_text(len(request.sectors), "sector")
    least = -(-request.asked // SECTOR)
    waste = request.moved - request.asked
    verdict = f"{waste} of them for nothing" if waste else "none for nothing"
    best = f" ({least} would do)" if least < len(request.sectors) else ""
    return (
        f"{request.action.capitalize()} of {request.array}: {lanes} ask for {count_text(request.asked, 'byte')}. To "
        f"move: {sectors}{best}, {request.moved} bytes, {verdict}. {_code(request, run)}"
    )


def _code(request: Request, run: Run) -> str:
    lines = run.source.splitlines() if request.file == run.name else []
    text = lines[request.line - 1].partition("//")[0].strip() if 0 < request.line <= len(lines) else ""
    code = f": {text[:_CODE]}{'…' * (len(text) > _CODE)}" if text else ""
    return f"{request.file}, line {request.line}{code}"


def _total(shown: Sequence[Request], everything: Sequence[Request]) -> str:
    asked, moved = sum(each.asked for each in shown), sum(each.moved for each in shown)
    sectors = sum(len(each.sectors) for each in shown)
    part = "" if len(shown) == len(everything) else f"The first {len(shown)} are shown, step by step. "
    return (
        f"{part}{count_text(len(shown), 'request')}: {count_text(sectors, 'sector')}, {sectors / len(shown):.1f} for "
        f"each; {asked:,} bytes asked for, {moved:,} moved, {moved - asked:,} of them for nothing."
    )
