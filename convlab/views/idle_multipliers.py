"""Idle multipliers: which factors of a Tensor Core's tile are zeros that only fill it up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from convlab.spec import ConvSpec
from convlab.views.grid import Frame, Ids, Panel, cell_ids, join, pairs
from convlab.views.view import View

__all__ = ["IdleView", "Order", "idle_multipliers"]

Order = Literal["flattened", "per tap"]
Flags = npt.NDArray[np.bool_]

_STEPS = 16  # drawn; a longer sum goes on in the same way
_FIT = {
    "flattened": "the window's elements (c, r, s) in one row",
    "per tap": "the channels of one tap (r, s) at a time",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class IdleView(View):
    """The picture of idle multipliers: how many ``elements`` and ``filters`` are useful of those paid for.

    ``useful`` is the part of all multipliers, 0 to 1, that gets no zero from filling up.
    """

    elements: tuple[int, int]
    filters: tuple[int, int]
    useful: float


def idle_multipliers(spec: ConvSpec, order: Order = "flattened", filters: int = 16, elements: int = 16) -> IdleView:
    """Show which multipliers of a Tensor Core's tile work on zeros, since filters and window do not fill it.

    >>> spec = ConvSpec(n=1, c=3, h=32, w=32, k=7, r=3, s=3, padding=1)
    >>> [idle_multipliers(spec, order).elements for order in ("flattened", "per tap")]
    [(27, 32), (27, 144)]

    Parameters: ``order`` of the sum: ``"flattened"``, all C · R · S elements of the window in one row, cut into steps,
    or ``"per tap"``, steps of their own for the channels of each tap; ``filters`` and ``elements`` are the sides of the
    instruction's tile: 16 filters by 16 elements for wmma, 8 filters where they lie along the columns of
    mma.m16n8k16. With groups, one group is shown. Pixels, the third side of the product, are taken to fill it.
    Raises ``ValueError`` for another order and for sides below 1.
    """
    _check(spec, order, filters, elements)
    count, channels = spec.k // spec.groups, spec.c // spec.groups
    steps = _steps(channels, spec.r * spec.s, order, elements)
    tiles = -(-count // filters)
    last = np.arange((tiles - 1) * filters, tiles * filters)
    taken = (spec.r * spec.s * channels, steps.size), (count, tiles * filters)
    useful = taken[0][0] * taken[1][0] / (taken[0][1] * taken[1][1])
    part = steps[:_STEPS]
    panels = [
        _elements_panel(part, spec, order),
        _multipliers_panel(part[0], last, count, tiles),
        _shares_panel(*taken),
    ]
    ids = cell_ids(panels)
    title = f"Idle multipliers: C = {channels}, K = {count}, {spec.r}×{spec.s} filters, {_FIT[order]}"
    captions = list(_captions(steps, taken, useful, order))
    frames = _frames(steps, last < count, ids)
    return IdleView(
        title=title,
        alt=f"{title}. {' '.join(captions)}",
        panels=panels,
        links=_links(part >= 0, last < count, ids),
        captions=captions,
        legend={"idle": "idle: multiplies by a zero that fills the tile"},
        frames=list(frames),
        elements=taken[0],
        filters=taken[1],
        useful=useful,
    )


def _check(spec: ConvSpec, order: str, filters: int, elements: int) -> None:
    call = f"views.idle_multipliers({spec}, {order!r}, filters={filters!r}, elements={elements!r})"
    if order not in _FIT:
        fix = "Choose 'flattened' or 'per tap'"
        raise ValueError(f"{order!r} is no order of the sum.\n  In: {call}\n  Fix: {fix}.")
    for name, side in (("filters", filters), ("elements", elements)):
        if isinstance(side, bool) or not isinstance(side, int) or not 1 <= side <= 32:
            fix = "Give the sides of an instruction's tile, such as 16 and 16"
            raise ValueError(f"{name}={side!r} is no whole number from 1 to 32.\n  In: {call}\n  Fix: {fix}.")


def _steps(channels: int, taps: int, order: Order, elements: int) -> Ids:
    """Number the elements in the order of the sum, cut into steps; −1 is a zero that fills up."""
    rows = np.arange(channels * taps).reshape(channels, taps)
    rows = rows.T if order == "per tap" else rows.reshape(1, -1)
    filled = np.full((len(rows), -(-rows.shape[1] // elements) * elements), -1)
    filled[:, : rows.shape[1]] = rows
    return filled.reshape(-1, elements)


def _elements_panel(steps: Ids, spec: ConvSpec, order: Order) -> Panel:
    rows, cols = steps.shape
    c, tap = np.divmod(steps, spec.r * spec.s)
    r, s = np.divmod(tap, spec.s)
    words = [f"x and w at c={i}, r={j}, s={k}" for i, j, k in zip(c.flat, r.flat, s.flat, strict=True)]
    taps = [f"{i},{j}" for i, j in zip(r[:, 0], s[:, 0], strict=True)]
    real = (steps >= 0).ravel().tolist()
    return Panel(
        name="elements",
        title="Elements of the sum: a step in each row",
        subtitle="numbers: the channel c" + ("; left: the tap r, s" if order == "per tap" else ""),
        rows=rows,
        cols=cols,
        labels=[
            f"step {i // cols + 1}: {words[i] if is_real else 'no element, zeros fill up'}"
            for i, is_real in enumerate(real)
        ],
        values=[str(each) if is_real else "" for each, is_real in zip(c.flat, real, strict=True)],
        kinds=["input" if is_real else "idle" for is_real in real],
        row_index=taps if order == "per tap" else [str(step + 1) for step in range(rows)],
        col_index=[str(i) for i in range(cols)],
    )


def _multipliers_panel(step: Ids, filters: Ids, count: int, tiles: int) -> Panel:
    work = (filters < count)[:, np.newaxis] & (step >= 0)
    tile = f", tile {tiles} of {tiles}" if tiles > 1 else ""
    return Panel(
        name="multipliers",
        title=f"Multipliers for one pixel{tile}",
        subtitle="a filter in each row; 0: idle in this step",
        rows=work.shape[0],
        cols=work.shape[1],
        labels=[
            f"filter {k}, place {i}" if k < count else f"no filter {k}, place {i}: always idle"
            for k in filters.tolist()
            for i in range(work.shape[1])
        ],
        values=["" if works else "0" for works in work.ravel().tolist()],
        kinds=["filter" if works else "idle" for works in work.ravel().tolist()],
        row_axis="K",
        row_index=[str(k) for k in filters.tolist()],
        col_index=[str(i) for i in range(work.shape[1])],
    )


def _shares_panel(elements: tuple[int, int], filters: tuple[int, int]) -> Panel:
    both = elements[0] * filters[0], elements[1] * filters[1]
    rows = {"elements": elements, "filters": filters, "all multipliers": both}
    texts = [f"{some} of {all_} = {100 * some / all_:.0f} %" for some, all_ in rows.values()]
    return Panel(
        name="shares",
        title="What is useful",
        subtitle="over all steps and all tiles of filters",
        rows=3,
        cols=1,
        labels=[f"useful {name}: {text}" for name, text in zip(rows, texts, strict=True)],
        values=texts,
        kinds=["input", "filter", "output"],
        row_index=list(rows),
        cell_width=12,
        bars=[some / all_ for some, all_ in rows.values()],
        line=1,
    )


def _links(real: Flags, filters: Flags, ids: Mapping[str, Ids]) -> Ids:
    """Link each element with the multipliers at its place, and the shares with what is useful."""
    elements, multipliers, shares = (ids[name] for name in ("elements", "multipliers", "shares"))
    return join(
        pairs(elements[:, np.newaxis, :], multipliers),
        pairs(shares[0, 0], elements[real]),
        pairs(shares[1, 0], multipliers[filters]),
        pairs(shares[2, 0], multipliers[filters][:, real[0]]),
    )


def _frames(steps: Ids, filters: Flags, ids: Mapping[str, Ids]) -> Iterator[Frame]:
    multipliers, shares = ids["multipliers"], ids["shares"].ravel().tolist()
    for i, row in enumerate(ids["elements"]):
        work = filters[:, np.newaxis] & (steps[i] >= 0)
        cells = list(zip(multipliers.ravel().tolist(), work.ravel().tolist(), strict=True))
        caption = (
            f"Step {i + 1} of {len(steps)}: {(steps[i] >= 0).sum()} of {len(row)} elements times {filters.sum()} of "
            f"{len(filters)} filters: {work.sum()} of {work.size} multipliers are useful."
        )
        yield Frame(
            caption,
            lit=[*row.tolist(), *multipliers[work].tolist(), *shares],
            values={cell: "" if works else "0" for cell, works in cells},
            kinds={cell: "filter" if works else "idle" for cell, works in cells},
        )


def _captions(steps: Ids, taken: Sequence[tuple[int, int]], useful: float, order: Order) -> Iterator[str]:
    (real, paid), (count, rows) = taken
    first = f"{(steps[0] >= 0).sum()} of {steps.shape[1]} in the first of {len(steps)} steps"
    why = f"{first}: each tap begins a new one" if order == "per tap" else f"zeros fill the last of {len(steps)} steps"
    yield f"{real} of {paid} elements are useful{f', {why}' if real < paid else ', none is a zero that fills up'}."
    yield f"{count} of {rows} filters times {real} of {paid} elements: {100 * useful:.0f} % of all multipliers work."
    yield "Multiplying by a zero takes as long as by anything else."
    if len(steps) > _STEPS:
        yield f"{_STEPS} of {len(steps)} steps are drawn."
