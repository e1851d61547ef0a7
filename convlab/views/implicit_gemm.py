"""Implicit GEMM: the column matrix that is never stored, of which a block makes one tile after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from convlab.spec import ConvSpec
from convlab.views.gemm_panels import Part, filters_panel, matrix_panel, output_panel, tensor_panel
from convlab.views.grid import Frame, Ids, cell_ids, join, pairs
from convlab.views.view import View
from convlab.views.words import count_text

__all__ = ["ImplicitGemmView", "implicit_gemm"]

_LEGEND = {
    "idle": "of the matrix that is never stored: not made in this step",
    "shared": "made in this step, in shared memory",
    "padding": "padding: a zero, nothing is loaded",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class ImplicitGemmView(View):
    """The picture of a block's tiles; ``loads`` counts the elements of the input that are loaded for the columns drawn,
    from the trace, ``rows`` are those of a tile."""

    loads: int
    rows: int


def implicit_gemm(spec: ConvSpec, block: int = 0, part: int = 0) -> ImplicitGemmView:
    """Show where the tiles of implicit GEMM come from: point at an element of a tile, and its pixel lights up.

    >>> view = implicit_gemm(ConvSpec(n=2, c=2, h=5, w=6, k=16, r=3, s=3, padding=1))
    >>> [(panel.name, panel.rows, panel.cols) for panel in view.panels]
    [('input', 10, 12), ('matrix', 18, 16), ('weights', 4, 18), ('output', 4, 16)]
    >>> view.rows, len(view.frames)
    (8, 3)

    The frames are the steps along gemm_k. What is loaded in each comes from a trace of the kernel of the ladder, which
    the emulator runs.

    Parameters: ``block`` is the block by its linear number, and ``part`` the 16 of its columns that are drawn, with its
    first four filters.

    Raises ``ValueError`` for a block or a part that is not there, for a spec that the kernel does not support, and for
    a convolution that is too large to be drawn whole.
    """
    drawn = Part(spec, block, part)
    panels = [tensor_panel(drawn), matrix_panel(drawn), filters_panel(drawn), output_panel(drawn)]
    ids = cell_ids(panels)
    captions = _captions(drawn)
    title = f"Implicit GEMM of {spec}: block {block}"
    return ImplicitGemmView(
        title=title,
        alt=" ".join([f"{title}.", *(f"{panel.title}: {panel.subtitle}." for panel in panels), *captions]),
        panels=panels,
        links=_links(drawn, ids),
        captions=captions,
        legend=_LEGEND,
        frames=_frames(drawn, ids),
        loads=len(drawn.sources),
        rows=drawn.rows_of_tile,
    )


def _captions(drawn: Part) -> list[str]:
    spec, columns, threads = drawn.spec, drawn.columns, drawn.threads
    k, n = spec.im2col_shape
    return [
        f"X_col would have {k} × {n} elements. A block makes {drawn.rows_of_tile} × {drawn.width} of them at a time, "
        f"in {count_text(len(drawn.steps), 'step')}.",
        "gemm_k = (c·R + r)·S + s, gemm_n = (n·P + p)·Q + q: point at an element to see it taken apart.",
        "Each thread divides once, for its column, and then counts through the rows.",
        f"Drawn: columns {columns[0]} to {columns[-1]} of {n}, which threads {threads[0]} to {threads[-1]} fill, "
        f"and {len(drawn.filters)} of {spec.k} filters.",
    ]


def _links(drawn: Part, ids: Mapping[str, Ids]) -> Ids:
    """Link elements of the matrix with their pixels, as loaded; and each output with all that it is made of."""
    cells, y, w = ids["matrix"], ids["output"], ids["weights"]
    taken = np.array([(row, col) for row, col in drawn.sources], int).reshape(-1, 2).T
    pixels = np.array([drawn.pixel_cell(each) for each in drawn.sources.values()], int).reshape(-1, 2).T
    x = ids["input"][tuple(pixels)]
    return join(
        pairs(cells[tuple(taken)], x),
        pairs(y[:, taken[1]], x),
        pairs(y[:, np.newaxis, :], cells),
        pairs(y[:, :, np.newaxis], w[:, np.newaxis, :]),
        pairs(w[:, :, np.newaxis], cells),
    )


def _frames(drawn: Part, ids: Mapping[str, Ids]) -> list[Frame]:
    return [_frame(drawn, ids, step) for step in range(len(drawn.steps))]


def _frame(drawn: Part, ids: Mapping[str, Ids], step: int) -> Frame:
    """One step along gemm_k: the rows that are made, the weights beside them, and the pixels that are loaded."""
    rows = drawn.rows_of(step)
    cells = ids["matrix"][rows.start : rows.stop]
    here = {(row, col): each for (row, col), each in drawn.sources.items() if row in rows}
    kinds = np.full(cells.shape, "padding", object)
    values = np.full(cells.shape, "0", object)
    for (row, col), (_, _, h, w) in here.items():
        kinds[row - rows.start, col], values[row - rows.start, col] = "shared", f"{h}{w}"
    pixels = {int(ids["input"][drawn.pixel_cell(each)]) for each in here.values()}
    c, r, s = drawn.tap_words(rows.start)
    made, stored = cells.ravel().tolist(), [int(ids["weights"][cell]) for cell in drawn.weights_of(step)]
    return Frame(
        f"gemm_k = {rows.start} to {rows.stop - 1}: from {c}, {r}, {s}. "
        f"{count_text(len(here), 'element')} loaded, from {count_text(len(pixels), 'pixel')}.",
        lit=[*made, *stored, *sorted(pixels)],
        values=dict(zip(made, values.ravel().tolist(), strict=True)),
        kinds={**dict(zip(made, kinds.ravel().tolist(), strict=True)), **dict.fromkeys(stored, "shared")},
    )
