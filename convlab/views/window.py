"""The window of a convolution: which input cells and which taps of the filter make each output cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.reference.direct import oracle
from convlab.spec import ConvSpec
from convlab.spec.axis import Axis
from convlab.views.grid import Ids, Panel, cell_ids, join, number_text, pairs
from convlab.views.side import Side
from convlab.views.view import View

__all__ = ["no_window", "window"]

Array = npt.NDArray[Any]
Sides = tuple[Side, Side]
Pixels = Callable[[Array, Array, Array], Array]  # indices c, h, w, broadcast together, to the values there

_CHANNELS_AT_ONCE = 64  # bounds the memory that the sums take
_WEIGHTS = np.array([2, -1, 1, 3, -2, 4, -3])  # never 0, so that every tap shows


def window(
    spec: ConvSpec,
    n: int = 0,
    c: int = 0,
    k: int = 0,
    x: npt.ArrayLike | None = None,
    w: npt.ArrayLike | None = None,
) -> View:
    """Show how a convolution reads: point at an output cell, and its window in the input lights up.

    >>> view = window(ConvSpec(n=1, c=1, h=5, w=6, k=1, r=3, s=2, stride=2, padding=1))
    >>> [(panel.name, panel.rows, panel.cols) for panel in view.panels]
    [('input', 7, 8), ('filter', 3, 2), ('output', 3, 4)]

    Parameters: ``n`` is the image, ``k`` the filter and ``c`` the channel of that filter which are drawn (with
    groups, a filter has only the channels of its own group); ``x`` of shape (N, C, H, W) and ``w`` of shape
    (K, C/G, R, S) are the values, small whole numbers where None. The output's values are those of the whole
    convolution, all channels added.

    Raises ``ValueError`` for an index that is not there, and for arrays of another shape. Of an input with more
    than ``side.WHOLE`` rows or columns a part is shown, and a caption says which.
    """
    _check_index(spec, {"n": (n, spec.n), "c": (c, spec.c // spec.groups), "k": (k, spec.k)})
    pixels = _sample_pixels(n) if x is None else _given_pixels(_shaped("x", x, spec.input_shape, spec)[n])
    weights = _sample_weights(k, spec) if w is None else _shaped("w", w, spec.weight_shape, spec)[k]
    first = k // (spec.k // spec.groups) * len(weights)  # the first channel that filter k reads
    sides = Side(spec.axes[0]), Side(spec.axes[1])
    panels = [
        _input_panel(f"x[{n}, {first + c}]", sides, pixels, first + c),
        _filter_panel(f"w[{k}, {c}]", sides, weights[c]),
        _output_panel(f"y[{n}, {k}]", sides, _sums(pixels, first, weights, sides)),
    ]
    notes = [f"One of {len(weights)} channels is drawn; y adds the products of all."] * (len(weights) > 1)
    ids = cell_ids(panels)
    example = int(ids["output"][0, :2][-1])  # in the first row, where windows reach into the padding
    return _view(str(spec), sides, panels, notes, links=_links(sides, ids), example=example)


def no_window(rows: Axis, columns: Axis) -> View:
    """Show an input with a filter that does not fit into it, and say why there is no output.

    >>> rows, columns = Axis("H", 4, 0, 0, 7, 1, 1), Axis("W", 9, 0, 0, 3, 1, 1)
    >>> no_window(rows, columns).panels[-1].message
    'No output: the window spans 7 rows but the padded input has 4.'

    Parameters: the two axes, at least one of which has no output.
    """
    sides = Side(rows), Side(columns)
    weights = _weights(0, np.arange(1), rows.window, columns.window)[0]
    reasons = ", and ".join(axis.problem for axis in (rows, columns) if axis.problem)
    message = f"No output: {reasons}."
    panels = [
        _input_panel("x[0, 0]", sides, _sample_pixels(0), channel=0),
        _filter_panel("w[0, 0]", sides, weights),
        Panel(name="output", title="Output", rows=0, cols=0, labels=(), operator="=", message=message),
    ]
    sizes = f"{rows.size}×{columns.size} input, {rows.window}×{columns.window} filter"
    return _view(f"{sizes}: no output", sides, panels, [])


def _view(title: str, sides: Sides, panels: Sequence[Panel], notes: Sequence[str], **extras: Any) -> View:
    formulas = [side.axis.explain() for side in sides]
    parts = [part for side in sides for part in side.left_out]
    notes = [*notes, *([f"Too large to draw whole: {', '.join(parts)} are shown."] if parts else [])]
    grids = [panel.message or f"{panel.title}, {panel.subtitle}." for panel in panels]
    alt = " ".join([f"{title}.", *grids, *(f"{formula}." for formula in formulas), *notes])
    return View(title=title, alt=alt, panels=panels, captions=[*formulas, *notes], **extras)


def _links(sides: Sides, ids: Mapping[str, Ids]) -> Ids:
    """Link each output with its window, each tap with the input cells that it meets, each output with each tap."""
    (p, r, row), (q, s, column) = (side.readings() for side in sides)
    x = ids["input"][row[:, np.newaxis], column]
    taps = ids["filter"][:: sides[0].axis.dilation, :: sides[1].axis.dilation]
    y = ids["output"]
    return join(
        pairs(y[p[:, np.newaxis], q], x),
        pairs(taps[r[:, np.newaxis], s], x),
        pairs(y.reshape(-1, 1), taps.ravel()),
    )


def _input_panel(name: str, sides: Sides, pixels: Pixels, channel: int) -> Panel:
    rows, cols = sides
    places = np.arange(rows.inputs), np.arange(cols.inputs)
    values = _numbers(_padded(pixels, np.array([channel]), sides, places))
    real = (rows.inside[:, np.newaxis] & cols.inside).ravel().tolist()
    index = [f"h={h}, w={w}" for h in rows.index for w in cols.index]
    return Panel(
        name="input",
        title=f"Input {name}",
        subtitle=_size("padded to", *((side.axis.size, side.axis.padded) for side in sides)),
        rows=rows.inputs,
        cols=cols.inputs,
        labels=[
            f"x[{place}] = {value}" if is_real else f"padding at {place}, counts as 0"
            for place, value, is_real in zip(index, values, real, strict=True)
        ],
        values=[value if is_real else "" for value, is_real in zip(values, real, strict=True)],
        kinds=["input" if is_real else "padding" for is_real in real],
        row_axis="H",
        col_axis="W",
        row_index=rows.index,
        col_index=cols.index,
    )


def _filter_panel(name: str, sides: Sides, weights: Array) -> Panel:
    rows, cols = sides
    values = [""] * (rows.span * cols.span)
    labels = ["gap of the dilation, no weight"] * len(values)
    for r in range(-(-rows.span // rows.axis.dilation)):
        for s in range(-(-cols.span // cols.axis.dilation)):
            cell = r * rows.axis.dilation * cols.span + s * cols.axis.dilation
            values[cell] = number_text(float(weights[r, s]))
            labels[cell] = f"w[r={r}, s={s}] = {values[cell]}"
    return Panel(
        name="filter",
        title=f"Filter {name}",
        subtitle=_size("dilated to", *((side.axis.window, side.axis.effective) for side in sides)),
        rows=rows.span,
        cols=cols.span,
        labels=labels,
        values=values,
        kinds=["filter" if value else "gap" for value in values],
        row_axis="R",
        col_axis="S",
        row_index=_tap_index(rows),
        col_index=_tap_index(cols),
        operator="∗",
    )


def _output_panel(name: str, sides: Sides, sums: Array) -> Panel:
    rows, cols = sides
    values = _numbers(sums)
    (tops, bottoms), (lefts, rights) = (_window_ends(side) for side in sides)
    return Panel(
        name="output",
        title=f"Output {name}",
        subtitle=_size("", *((side.axis.outputs,) * 2 for side in sides)),
        rows=rows.outputs,
        cols=cols.outputs,
        labels=[
            f"y[p={p}, q={q}] = {values[p * cols.outputs + q]}, "
            f"window h={tops[p]} to {bottoms[p]}, w={lefts[q]} to {rights[q]}"
            for p in range(rows.outputs)
            for q in range(cols.outputs)
        ],
        values=values,
        kinds="output",
        row_axis="P",
        col_axis="Q",
        row_index=[str(p) for p in range(rows.outputs)],
        col_index=[str(q) for q in range(cols.outputs)],
        operator="=",
    )


def _size(words: str, rows: tuple[int, int], cols: tuple[int, int]) -> str:
    """Write a size, and the size that it grows to where that is another."""
    (r, grown_r), (c, grown_c) = rows, cols
    return f"{r} × {c}" + (f", {words} {grown_r} × {grown_c}" if (r, c) != (grown_r, grown_c) else "")


def _tap_index(side: Side) -> list[str]:
    r, gap = np.divmod(np.arange(side.span), side.axis.dilation)
    return [str(tap) if not between else "" for tap, between in zip(r.tolist(), gap.tolist(), strict=True)]


def _window_ends(side: Side) -> tuple[list[str], list[str]]:
    """Give the first and the last input index that each output reads."""
    starts = range(-side.axis.before, side.outputs * side.axis.stride - side.axis.before, side.axis.stride)
    return [number_text(start) for start in starts], [number_text(start + side.axis.effective - 1) for start in starts]


def _numbers(values: Array) -> list[str]:
    return [number_text(value) for value in values.ravel().tolist()]


def _padded(pixels: Pixels, channels: Array, sides: Sides, places: tuple[Ids, Ids]) -> Array:
    """Take the pixels at the given rows and columns of the padded input, of shape (channels, rows, columns)."""
    (rows, cols), (row, column) = sides, places
    h, w = row - rows.axis.before, column - cols.axis.before
    inside = rows.is_inside(row)[:, np.newaxis] & cols.is_inside(column)
    values = np.zeros((len(channels), *inside.shape))
    taken = np.ix_(np.arange(len(channels)), rows.is_inside(row), cols.is_inside(column))
    values[taken] = pixels(*np.ix_(channels, h[rows.is_inside(row)], w[cols.is_inside(column)]))
    return values


def _sums(pixels: Pixels, first: int, weights: Array, sides: Sides) -> Array:
    """Convolve as far as drawn: the rows that the windows read are put one below the other, then it is R steps."""
    rows, cols = sides
    places = rows.windows().ravel(), cols.windows().ravel()
    total = np.zeros((rows.outputs, cols.outputs))
    for start in range(0, len(weights), _CHANNELS_AT_ONCE):
        some = weights[start : start + _CHANNELS_AT_ONCE]
        x = _padded(pixels, first + start + np.arange(len(some)), sides, places)
        spec = ConvSpec.from_shapes((1, *x.shape), (1, *some.shape), stride=some.shape[1:])
        total += oracle(x[np.newaxis], some[np.newaxis], None, spec)[0, 0]
    return total


def _sample_pixels(n: int) -> Pixels:
    """Digits without a pattern that the eye would follow."""
    return lambda c, h, w: (17 * h + 43 * w + 3 * h * h + 17 * w * w + 20 * h * w + 23 * c + 41 * n + 3) % 97 % 10


def _given_pixels(x: Array) -> Pixels:
    return lambda c, h, w: x[c, h, w]


def _sample_weights(k: int, spec: ConvSpec) -> Array:
    return _weights(k, np.arange(spec.c // spec.groups), spec.r, spec.s)


def _weights(k: int, channels: Array, r: int, s: int) -> Array:
    c, i, j = np.ix_(channels, np.arange(r), np.arange(s))
    weights: Array = _WEIGHTS[(3 * i + 2 * j + 4 * c + k) % len(_WEIGHTS)]
    return weights


def _shaped(name: str, array: npt.ArrayLike, shape: tuple[int, ...], spec: ConvSpec) -> Array:
    values = np.asarray(array)
    if values.shape != shape:
        raise ValueError(f"{name} has shape {values.shape}.\n  In: {spec}\n  Fix: give {name} the shape {shape}.")
    return values


def _check_index(spec: ConvSpec, indices: Mapping[str, tuple[int, int]]) -> None:
    for name, (index, count) in indices.items():
        if not 0 <= index < count:
            raise ValueError(
                f"{name}={index} is not there: {name} runs from 0 to {count - 1}.\n  In: {spec}\n"
                f"  Fix: choose {name} in this range."
            )
