"""The three panels of a window picture: the padded input, the dilated filter, the output."""

from __future__ import annotations

import numpy as np

from convlab.views.drawn import Sides, padded
from convlab.views.grid import Panel, number_text
from convlab.views.samples import Array, Pixels, numbers
from convlab.views.side import Side

__all__ = ["filter_panel", "input_panel", "output_panel"]

# What a cell of the input is, from its place, the pixel that it shows, and the value.
_WORDS = {
    "input": "{1} = {2}",
    "padding": "padding at {0}, counts as 0",
    "copy": "padding at {0}, repeats {1} = {2}",
}


def input_panel(name: str, sides: Sides, pixels: Pixels, channel: int) -> Panel:
    """Draw one channel of the input with its padding."""
    rows, cols = sides
    places = np.arange(rows.inputs), np.arange(cols.inputs)
    values = numbers(padded(pixels, np.array([channel]), sides, places))
    h, w = (side.sources[: side.inputs] for side in sides)
    inside = rows.inside[:, np.newaxis] & cols.inside
    kinds = np.where(inside, "input", np.where((h < 0)[:, np.newaxis] | (w < 0), "padding", "copy")).ravel().tolist()
    shown = [f"x[h={i}, w={j}]" for i in h for j in w]
    index = [f"h={i}, w={j}" for i in rows.index for j in cols.index]
    return Panel(
        name="input",
        title=f"Input {name}",
        subtitle=_size("padded to", *((side.axis.size, side.axis.padded) for side in sides)),
        rows=rows.inputs,
        cols=cols.inputs,
        labels=[_WORDS[kind].format(*words) for kind, *words in zip(kinds, index, shown, values, strict=True)],
        values=["" if kind == "padding" else value for kind, value in zip(kinds, values, strict=True)],
        kinds=kinds,
        row_axis="H",
        col_axis="W",
        row_index=rows.index,
        col_index=cols.index,
        regions=inside.ravel().tolist() if "copy" in kinds else (),
    )


def filter_panel(name: str, sides: Sides, weights: Array) -> Panel:
    """Draw one channel of the filter, weights of shape (R, S), with the gaps of its dilation."""
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


def output_panel(name: str, sides: Sides, sums: Array) -> Panel:
    """Draw the output, sums of shape (P, Q), each cell with the ends of its window in words."""
    rows, cols = sides
    values = numbers(sums)
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
