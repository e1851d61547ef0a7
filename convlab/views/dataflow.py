"""Dataflows: an array of processing elements that runs a loop nest, cycle by cycle, as the executor traced it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.dataflow.array import Array
from convlab.dataflow.executor import Execution, execute
from convlab.dataflow.named import Dataflow
from convlab.dataflow.nest import Nest
from convlab.reference.im2col import unfold
from convlab.spec import ConvSpec
from convlab.views.dataflow_film import Way, film, loop_notes, moved_by_loop
from convlab.views.dataflow_panels import Board
from convlab.views.grid import Ids, join, pairs
from convlab.views.samples import sample_filter, sample_image
from convlab.views.view import View
from convlab.views.words import count_text

__all__ = ["DataflowView", "dataflow", "name_of", "nest_of"]

_MOST_PES, _MOST_MACS, _MOST_WORDS = 6, 4000, 400
_LEVEL = {"dram": "dram", "buffer": "buffer", "PE": "array"}
_LEGEND = {
    "input": "x in a PE",
    "filter": "w in a PE",
    "output": "y in a PE",
    "plain": "in the buffer or DRAM",
    "idle": "idle, or not begun",
    "gap": "",
    "shared": "loops side by side on the PEs",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class DataflowView(View):
    """The picture of a run: ``done`` has its output, its counts and the cycles that the steps show."""

    done: Execution


def dataflow(nest: Dataflow | Nest | str, spec: ConvSpec, array: Array) -> DataflowView:
    """Show an array of PEs run a nest: each step is a cycle, with who holds which word, and what moves.

    >>> view = dataflow("buffer: p q | rows: r3 | cols: s3", ConvSpec(n=1, c=1, h=6, w=6, k=1, r=3, s=3), Array(4, 4))
    >>> len(view.frames), view.done.counts["w", "buffer"].reads
    (17, 9)
    >>> view.frames[1].caption
    '9 of 16 PEs multiply. Moves: 8 y PE → PE, 1 y PE → buffer, 9 x buffer → PE.'

    Parameters: ``nest`` is one of ``dataflow.DATAFLOWS``, a nest or its line of text, as `convlab.dataflow.execute`
    takes it; the layer has at most 4,000 multiply-adds and 400 words in a tensor, ``array`` at most 6 × 6 PEs. The
    values are small whole numbers. Raises ``ValueError`` for more, and for a nest that does not fit.
    """
    _check(spec, array)
    x, w = _values(spec)
    done = execute(nest_of(nest, spec, array), spec, x, w, array, trace=True)
    moved = moved_by_loop(done)
    board = Board(done, _as_loops_see(done, spec, x, w), loop_notes(done, moved))
    title = f"{name_of(nest).capitalize()} on {array.rows} × {array.cols} PEs, cycle by cycle"
    captions = [*_captions(nest, done)]
    return DataflowView(
        title=title,
        alt=f"{title}. {spec}. The nest is {done.nest}. {' '.join(captions)}",
        panels=board.panels,
        links=_links(board, moved),
        captions=captions,
        legend=_LEGEND,
        frames=[*film(board)],
        done=done,
    )


def nest_of(nest: Dataflow | Nest | str, spec: ConvSpec, array: Array) -> Nest | str:
    """The nest that a dataflow makes of a layer and an array, or the nest itself."""
    return nest(spec, array) if isinstance(nest, Dataflow) else nest


def name_of(nest: Dataflow | Nest | str) -> str:
    """The name of a dataflow as sentences say it, or what other nests are."""
    return nest.name.replace("_", " ") if isinstance(nest, Dataflow) else "a loop nest"


def _check(spec: ConvSpec, array: Array) -> None:
    words = max(map(prod, (spec.input_shape, spec.weight_shape, spec.output_shape)))
    sizes = {
        "multiply-adds": (spec.macs, _MOST_MACS),
        "words in a tensor": (words, _MOST_WORDS),
        "rows of PEs": (array.rows, _MOST_PES),
        "columns of PEs": (array.cols, _MOST_PES),
    }
    for what, (count, most) in sizes.items():
        if count > most:
            raise ValueError(
                f"{count:,} {what} are too many to follow: the picture has room for {most:,}.\n"
                f"  In: views.dataflow on {spec}, {array}\n"
                "  Fix: show a smaller layer or array; views.dataflow_costs compares large ones."
            )


def _values(spec: ConvSpec) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    n, channels, rows, cols = spec.input_shape
    c, h, w = np.ix_(np.arange(channels), np.arange(rows), np.arange(cols))
    images = np.stack([sample_image(i)(c, h, w) for i in range(n)])
    return images, np.stack([sample_filter(k, *spec.weight_shape[1:]) for k in range(spec.k)])


def _as_loops_see(
    done: Execution, spec: ConvSpec, x: npt.NDArray[Any], w: npt.NDArray[Any]
) -> Mapping[str, npt.NDArray[Any]]:
    layer = done.layer
    if done.nest.gemm:
        x = unfold(x, spec).transpose(1, 0, 2)
    return {"x": x.reshape(layer.input_shape), "w": w.reshape(layer.weight_shape)}


def _links(board: Board, moved: Mapping[int, Mapping[Way, int]]) -> Ids:
    """Link the cells of each PE, words with their energy, and each loop with the words that move as it advances."""
    together = [pairs(cells[i], cells[i + 1 :]) for cells in board.slots.values() for i in range(3)]
    ends = {i: sorted({(tensor, end) for tensor, *both in ways for end in both}) for i, ways in moved.items()}
    loops = [
        pairs(np.unique(board.strips[i])[:, np.newaxis], [board.memory(tensor, _LEVEL[end]) for tensor, end in some])
        for i, some in ends.items()
        if i in board.loops
    ]
    return join(*together, *loops, pairs(board.ids["energy"], board.ids["words"]))


def _captions(nest: Dataflow | Nest | str, done: Execution) -> Iterator[str]:
    counts = done.counts
    idea = f", that is: {nest.idea}" if isinstance(nest, Dataflow) else ""
    yield f"The nest is {done.nest}{idea}."
    yield (
        f"{count_text(counts.macs, 'multiply-add')} in {count_text(counts.cycles, 'cycle')}: PEs are busy "
        f"{counts.utilisation:.0%} of the time. Bright is what moves or multiplies. Point at a PE to see what it holds "
        "and where its loops stand, at a loop to see what moves as it advances."
    )
    if done.nest.gemm:
        yield "The loops run over im2col's product: x has a row for each product of a filter, a column for each output."
