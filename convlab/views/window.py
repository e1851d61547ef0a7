"""The window of a convolution: which input cells and which taps of the filter make each output cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.reference.padding import Mode
from convlab.spec import ConvSpec
from convlab.spec.axis import Axis
from convlab.views.channels import channel_links, channel_panels
from convlab.views.drawn import Sides, sums
from convlab.views.grid import Ids, Panel, cell_ids, join, pairs
from convlab.views.samples import check_index, filter_of, image, sample_filter, sample_image
from convlab.views.side import Side
from convlab.views.view import View
from convlab.views.window_panels import filter_panel, input_panel, output_panel

__all__ = ["no_window", "window"]

_LEGEND = {"copy": "padding: repeats a pixel"}
_PADDING: Mapping[Mode, str] = {
    "reflect": "The padding mirrors the image at its border pixels.",
    "replicate": "The padding repeats the border pixels.",
    "circular": "The padding shows the other end of the image.",
}


def window(
    spec: ConvSpec,
    n: int = 0,
    c: int = 0,
    k: int = 0,
    x: npt.ArrayLike | None = None,
    w: npt.ArrayLike | None = None,
    mode: Mode = "zero",
) -> View:
    """Show how a convolution reads: point at an output cell, and its window in the input lights up.

    >>> view = window(ConvSpec(n=1, c=1, h=5, w=6, k=1, r=3, s=2, stride=2, padding=1))
    >>> [(panel.name, panel.rows, panel.cols) for panel in view.panels]
    [('input', 7, 8), ('filter', 3, 2), ('output', 3, 4)]

    Parameters: ``n`` is the image, ``k`` the filter and ``c`` the channel of that filter which are drawn (with
    groups, a filter has only the channels of its own group, and two strips show which); ``x`` of shape (N, C, H, W)
    and ``w`` of shape (K, C/G, R, S) are the values, small whole numbers where None; ``mode`` is what the padding
    shows, one of ``reference.padding.MODES``, and all but "zero" link each padded cell with the pixel that it repeats.
    The output's values are those of the whole convolution, all channels added.

    Raises ``ValueError`` for an index that is not there, for arrays of another shape, and for padding that would repeat
    more pixels than there are. Of an input with more than ``side.WHOLE`` rows or columns a part is shown, and a caption
    says which.
    """
    check_index(spec, {"n": (n, spec.n), "c": (c, spec.c // spec.groups), "k": (k, spec.k)})
    pixels, weights = image(x, n, spec), filter_of(w, k, spec)
    first = k // (spec.k // spec.groups) * len(weights)  # the first channel that filter k reads
    sides = Side(spec.axes[0], mode), Side(spec.axes[1], mode)
    panels = [
        input_panel(f"x[{n}, {first + c}]", sides, pixels, first + c),
        filter_panel(f"w[{k}, {c}]", sides, weights[c]),
        output_panel(f"y[{n}, {k}]", sides, sums(pixels, first, weights, sides)),
    ]
    notes = [f"One of {len(weights)} channels is drawn; y adds the products of all."] * (len(weights) > 1)
    if spec.groups > 1:
        panels += channel_panels(spec, first + c, k)
    ids = cell_ids(panels)
    links = [_links(sides, ids)]
    if spec.groups > 1:
        links.append(channel_links(spec, k, ids))
    example = int(ids["output"][0, :2][-1])  # in the first row, where windows reach into the padding
    return _view(str(spec), sides, panels, notes, links=join(*links), example=example)


def no_window(rows: Axis, columns: Axis, mode: Mode = "zero") -> View:
    """Show an input with a filter that does not fit into it, and say why there is no output.

    >>> rows, columns = Axis("H", 4, 0, 0, 7, 1, 1), Axis("W", 9, 0, 0, 3, 1, 1)
    >>> no_window(rows, columns).panels[-1].message
    'No output: the window spans 7 rows but the padded input has 4.'

    Parameters: the two axes, at least one of which has no output, and the padding mode, as in ``window``.
    """
    sides = Side(rows, mode), Side(columns, mode)
    weights = sample_filter(0, 1, rows.window, columns.window)[0]
    reasons = ", and ".join(axis.problem for axis in (rows, columns) if axis.problem)
    message = f"No output: {reasons}."
    panels = [
        input_panel("x[0, 0]", sides, sample_image(0), channel=0),
        filter_panel("w[0, 0]", sides, weights),
        Panel(name="output", title="Output", rows=0, cols=0, labels=(), operator="=", message=message),
    ]
    sizes = f"{rows.size}×{columns.size} input, {rows.window}×{columns.window} filter"
    return _view(f"{sizes}: no output", sides, panels, [])


def _view(title: str, sides: Sides, panels: Sequence[Panel], notes: Sequence[str], **extras: Any) -> View:
    formulas = [side.axis.explain() for side in sides]
    parts = [part for side in sides for part in side.left_out]
    notes = [*_padding(sides), *notes, *([f"Too large to draw whole: {', '.join(parts)} are shown."] if parts else [])]
    grids = [panel.message or f"{panel.title}, {panel.subtitle}." for panel in panels]
    alt = " ".join([f"{title}.", *grids, *(f"{formula}." for formula in formulas), *notes])
    return View(title=title, alt=alt, panels=panels, captions=[*formulas, *notes], legend=_LEGEND, **extras)


def _padding(sides: Sides) -> list[str]:
    """Say what the padding shows, where it is there and no zero."""
    padded, words = any(side.axis.padded > side.axis.size for side in sides), _PADDING.get(sides[0].mode)
    return [words] if padded and words else []


def _links(sides: Sides, ids: Mapping[str, Ids]) -> Ids:
    """Link outputs with their windows and with all taps, taps with the cells they meet, repeated pixels with theirs."""
    (p, r, row), (q, s, column) = (side.readings() for side in sides)
    x = ids["input"][row[:, np.newaxis], column]
    taps = ids["filter"][:: sides[0].axis.dilation, :: sides[1].axis.dilation]
    y = ids["output"]
    return join(
        pairs(y[p[:, np.newaxis], q], x),
        pairs(taps[r[:, np.newaxis], s], x),
        pairs(y.reshape(-1, 1), taps.ravel()),
        _repeats(sides, ids["input"]),
    )


def _repeats(sides: Sides, cells: Ids) -> Ids:
    """Link each padded cell with the pixel that it repeats, where both are drawn."""
    here = np.indices(cells.shape)
    there = np.stack(np.meshgrid(*(side.places for side in sides), indexing="ij"))
    limits = np.array(cells.shape)[:, np.newaxis, np.newaxis]
    wanted = ((there >= 0) & (there < limits)).all(axis=0) & (there != here).any(axis=0)
    return pairs(cells[wanted], cells[tuple(there[:, wanted])])
