"""Threads and outputs: which thread computes which output, and what its warp reads at each step, from a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np

from convlab.kernels.method import Launch
from convlab.spec import ConvSpec
from convlab.views.grid import Frame, Ids, Panel
from convlab.views.mapping import MAPPINGS, Block
from convlab.views.reading import Reading, Work, works
from convlab.views.view import View
from convlab.views.words import count_text

__all__ = ["ThreadsView", "threads", "warps_of"]

_WARP = 32
_MOST_PLANES = 6  # of outputs and of pixels: more would be too small to read
_GROUPS = 6  # kinds that tell warps apart
_MOST_THREADS = 1024


@dataclass(frozen=True, eq=False, kw_only=True)
class ThreadsView(View):
    """The picture of a mapping: ``idle`` threads of the grid's ``threads`` have no output; ``steps`` are the warp's."""

    threads: int
    idle: int
    steps: int


class _Places(NamedTuple):
    """Where the cells of pixels and of weights begin in the numbering of the view's cells; outputs begin at 0."""

    x: int
    w: int
    weights: tuple[int, ...]  # the shape of w


def threads(spec: ConvSpec, mapping: str = "line", block: Block = (32, 1), warp: int = 0) -> ThreadsView:
    """Show which thread computes which output; the steps show what one warp reads, as a run's trace tells.

    >>> view = threads(ConvSpec(n=1, c=1, h=8, w=12, k=1, r=3, s=3, padding=1), "blocks", block=(8, 4))
    >>> view.threads, view.idle, view.steps, view.frames[0].caption
    (128, 32, 9, 'naive_2d.cu, line 28: 21 lanes read x for w[k=0, c=0, r=0, s=0]; 11 meet padding.')

    Parameters: ``spec`` has one image and at most 6 planes of outputs and of inputs; ``mapping`` is "line" (1-D, pixels
    along x), "blocks" (2-D) or "channels" (filters fastest, as NHWC has them); ``block`` has the threads along x and y,
    of which only "blocks" uses the second; ``warp`` is the one whose steps are shown, counted over the whole grid.

    Raises ``ValueError`` for another mapping, a block that no GPU takes, and a warp that is not there.
    """
    launch = _launch(spec, mapping, block)
    everyone = works(spec, mapping, launch.block[:2])
    if not 0 <= warp < len(everyone):
        fix = f"choose one from 0 to {len(everyone) - 1}"
        count = count_text(len(everyone), "warp")
        raise ValueError(f"warp={warp} is not there: the grid has {count}.\n  In: {spec}\n  Fix: {fix}.")
    shown = everyone[warp]
    line = int(spec.k + spec.c > 2)  # all in one line where there is room
    panels = [*_outputs(spec, everyone, launch), *_inputs(spec, line), *_filters(spec, line)]
    outputs, inputs = prod(spec.output_shape), prod(spec.input_shape)
    places = _Places(outputs, outputs + inputs, spec.weight_shape)
    total = prod(launch.grid) * prod(launch.block)
    idle = total - outputs
    size = "×".join(map(str, launch.block[: 1 if MAPPINGS[mapping].flat else 2]))
    title = f"{MAPPINGS[mapping].words}; {count_text(prod(launch.grid), 'block')} of {size} threads"
    captions = [
        "A cell of the output says which thread of its block computes it. A colour is a warp, a heavy line a block's "
        "border.",
        f"{total} threads for {outputs} outputs: {f'{idle} of them have none' if idle else 'each has one'}. "
        f"The steps are those of warp {shown.warp} of block {shown.block}, as traced; an input cell then says which "
        "thread reads it.",
    ]
    return ThreadsView(
        title=title,
        alt=f"{title}. {spec}. {' '.join(captions)} {_summary(shown)}",
        panels=panels,
        links=_links(everyone, places),
        captions=captions,
        frames=_frames(shown, places, launch),
        threads=total,
        idle=idle,
        steps=len(shown.readings),
    )


def warps_of(spec: ConvSpec, mapping: str, block: Block) -> int:
    """Count the warps of the grid that a mapping launches.

    >>> warps_of(ConvSpec(n=1, c=1, h=8, w=12, k=1, r=3, s=3, padding=1), "line", (48, 1))
    4
    """
    launch = _launch(spec, mapping, block)
    return prod(launch.grid) * -(-prod(launch.block) // _WARP)


def _launch(spec: ConvSpec, mapping: str, block: Block) -> Launch:
    if mapping not in MAPPINGS:
        raise ValueError(f"mapping={mapping!r} is none of {', '.join(map(repr, MAPPINGS))}.\n  In: {spec}")
    used = block[:1] if MAPPINGS[mapping].flat else block
    if not (min(used) >= 1 and prod(used) <= _MOST_THREADS):
        fix = f"give it 1 to {_MOST_THREADS} threads in all"
        raise ValueError(f"block={block} is no block of threads.\n  In: {spec}\n  Fix: {fix}.")
    if spec.n > 1 or spec.k + spec.c > _MOST_PLANES:
        fix = f"choose one image, and at most {_MOST_PLANES} filters and channels in all"
        raise ValueError(f"There is no room for so many planes.\n  In: {spec}\n  Fix: {fix}.")
    return MAPPINGS[mapping].launch(spec, block)


def _outputs(spec: ConvSpec, everyone: Sequence[Work], launch: Launch) -> list[Panel]:
    """One panel for each filter: who computes its outputs."""
    thread, warp, block = (np.zeros(prod(spec.output_shape), np.intp) for _ in range(3))
    for number, work in enumerate(everyone):
        thread[work.y], warp[work.y], block[work.y] = work.warp * _WARP + work.lanes, number, work.block
    panels = []
    for k, planes in enumerate(np.split(np.stack([thread, warp, block]), spec.k, axis=1)):
        numbers, warps, blocks = planes.tolist()
        places = [f"y[k={k}, p={p}, q={q}]" for p in range(spec.p) for q in range(spec.q)]
        labels = [
            f"{place}: block {b}, thread {_index(t, launch)}, which is warp {t // _WARP}, lane {t % _WARP}"
            for place, t, b in zip(places, numbers, blocks, strict=True)
        ]
        panels.append(
            _plane(
                "output" if spec.k == 1 else f"output {k}",
                f"Output y[0, {k}]",
                ("P", "Q"),
                labels,
                (spec.p, spec.q),
                subtitle="its threads" if k else "its threads, numbered in their block",
                values=[str(t) for t in numbers],
                kinds=[f"group{number % _GROUPS}" for number in warps],
                regions=[block + 1 for block in blocks],
            )
        )
    return panels


def _index(thread: int, launch: Launch) -> str:
    """Name a thread by its number, and where blocks are two-dimensional by x and y as well."""
    across, down, _ = launch.block
    return f"{thread} (x={thread % across}, y={thread // across})" if down > 1 else str(thread)


def _inputs(spec: ConvSpec, line: int) -> list[Panel]:
    return [
        _plane(
            "input" if spec.c == 1 else f"input {c}",
            f"Input x[0, {c}]",
            ("H", "W"),
            [f"x[c={c}, h={h}, w={w}]" for h in range(spec.h) for w in range(spec.w)],
            (spec.h, spec.w),
            subtitle="what the step reads",
            kinds="input",
            line=line,
        )
        for c in range(spec.c)
    ]


def _filters(spec: ConvSpec, line: int) -> list[Panel]:
    k_c = [(k, c) for k in range(spec.k) for c in range(spec.c // spec.groups)]
    return [
        _plane(
            "filter" if len(k_c) == 1 else f"filter {k}, {c}",
            f"Filter w[{k}, {c}]",
            ("R", "S"),
            [f"w[k={k}, c={c}, r={r}, s={s}]" for r in range(spec.r) for s in range(spec.s)],
            (spec.r, spec.s),
            kinds="filter",
            line=line,
        )
        for k, c in k_c
    ]


def _plane(
    name: str, title: str, axes: tuple[str, str], labels: Sequence[str], size: tuple[int, int], **more: Any
) -> Panel:
    (rows, cols), (row_axis, col_axis) = size, axes
    return Panel(
        name=name,
        title=title,
        rows=rows,
        cols=cols,
        labels=labels,
        row_axis=row_axis,
        col_axis=col_axis,
        row_index=[str(i) for i in range(rows)],
        col_index=[str(i) for i in range(cols)],
        **more,
    )


def _links(everyone: Sequence[Work], places: _Places) -> Ids:
    """Link each output with what its thread reads, and each weight with the pixels that it meets."""
    pairs = [(_output(work)[reading.lanes], reading) for work in everyone for reading in work.readings]
    y = np.concatenate([np.empty(0, np.intp), *(output for output, _ in pairs)])
    x = np.concatenate([np.empty(0, np.intp), *(places.x + reading.x for _, reading in pairs)])
    w = np.concatenate([np.empty(0, np.intp), *(places.w + reading.w for _, reading in pairs)])
    codes = np.unique(np.concatenate([y << 16 | x, y << 16 | w, w << 16 | x]))  # a view's cells have 16-bit numbers
    return np.stack([codes >> 16, codes & 0xFFFF], axis=1)


def _output(work: Work) -> Ids:
    """The output of each lane, for those that have one."""
    output = np.zeros(_WARP, np.intp)
    output[work.lanes] = work.y
    return output


def _frames(work: Work, places: _Places, launch: Launch) -> list[Frame]:
    file = launch.source.rpartition("/")[2]
    if not work.lanes.size:
        return [Frame(f"{file}: no thread of this warp has an output; all of them return at once.")]
    frames = [_frame(reading, work, places, file) for reading in work.readings]
    end = f"{file}, line {work.line}: {count_text(len(work.lanes), 'lane')} write their outputs."
    return [*frames, Frame(end, lit=work.y.tolist())]


def _frame(reading: Reading, work: Work, places: _Places, file: str) -> Frame:
    readers: dict[int, list[int]] = {}
    for x, lane in zip(reading.x.tolist(), reading.lanes.tolist(), strict=True):
        readers.setdefault(places.x + x, []).append(work.warp * _WARP + lane)
    taps = np.unique(reading.w).tolist()
    missing = len(work.lanes) - len(reading.lanes)
    words = f"{file}, line {reading.line}: {count_text(len(reading.lanes), 'lane')} read x for {_taps(taps, places)}"
    return Frame(
        words + (f"; {missing} meet padding." if missing else "."),
        lit=[*_output(work)[reading.lanes].tolist(), *readers, *(places.w + tap for tap in taps)],
        values={cell: str(some[0]) if len(some) == 1 else f"{len(some)}×" for cell, some in readers.items()},
    )


def _taps(taps: Sequence[int], places: _Places) -> str:
    """Name the weight of a step, or the axes along which its weights are the same."""
    k, c, r, s = np.unravel_index(np.asarray(taps), places.weights)
    names = {"k": k, "c": c, "r": r, "s": s}
    parts = [f"{name}={index[0]}" if len({*index.tolist()}) == 1 else name for name, index in names.items()]
    return f"w[{', '.join(parts)}]"


def _summary(work: Work) -> str:
    if not work.lanes.size:
        return "No thread of this warp has an output."
    pixels = {*np.concatenate([reading.x for reading in work.readings]).tolist()} if work.readings else set()
    reads = sum(len(reading.lanes) for reading in work.readings)
    return f"In {count_text(len(work.readings), 'step')} its lanes read x {reads} times, {len(pixels)} pixels in all."
