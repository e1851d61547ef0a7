"""A running sum of equal terms: where the numbers of a format lie too far apart for it to grow on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import ml_dtypes
import numpy as np
import numpy.typing as npt

from convlab.views.formats import FORMATS, read
from convlab.views.grid import Frame, Panel, cell_ids, join, pairs
from convlab.views.number_formats import decimal
from convlab.views.view import View
from convlab.views.words import count_text

__all__ = ["DTYPES", "SumView", "running_sum"]

DTYPES: Mapping[str, npt.DTypeLike] = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32}

_ROWS = 16
_MOST = 1 << 26  # terms; all running sums are kept


@dataclass(frozen=True, eq=False, kw_only=True)
class SumView(View):
    """The picture of running sums: by dtype the last of the ``sums``, and after how many terms each ``stops`` to grow.

    A sum that grows to the end has None there.
    """

    sums: Mapping[str, float]
    stops: Mapping[str, int | None]


@dataclass(frozen=True)
class _Growth:
    """A sum's values at the rows that are drawn, and after how many terms it stops, if it does."""

    words: str
    dtype: str
    values: Sequence[float]
    stops: int | None


def running_sum(term: float | str = "0.001", terms: int = 8192, dtypes: Sequence[str] = tuple(DTYPES)) -> SumView:
    """Show what becomes of a sum of many equal terms that is rounded after each addition.

    >>> view = running_sum("0.001", 8192)
    >>> view.stops["float16"], view.sums["float16"]
    (3070, 4.0)

    Parameters: ``term``, a number above 0, is rounded to each of ``dtypes``, the keys of ``DTYPES``; so many ``terms``
    are added one after the other. Raises ``ValueError`` for other numbers and formats. Source: Higham, "The accuracy of
    floating point summation" (1993).
    """
    each = _check(term, terms, dtypes)
    rows = [-(-terms * i // min(terms, _ROWS)) for i in range(1, min(terms, _ROWS) + 1)]
    growths = [_growth(dtype, each, terms, rows) for dtype in dtypes]
    panels = [_exact_panel(each, rows), *(_panel(growth, each, rows) for growth in growths)]
    ids = [cells[:, 0] for cells in cell_ids(panels).values()]
    title = f"A running sum: {terms} times {str(term).strip()}, rounded after each addition"
    captions = list(_captions(growths, each, terms))
    return SumView(
        title=title,
        alt=f"{title}. A bar for each sixteenth of the way. {' '.join(captions)}",
        panels=panels,
        links=join(*(pairs(a, b) for i, a in enumerate(ids) for b in ids[:i])),
        captions=captions,
        legend={"group5": "the sum no longer grows"},
        frames=[
            Frame(f"All {terms} additions; the steps go down the rows."),
            *(_frame(i, row, each, growths, [int(cells[i]) for cells in ids]) for i, row in enumerate(rows)),
        ],
        sums={growth.dtype: growth.values[-1] for growth in growths},
        stops={growth.dtype: growth.stops for growth in growths},
    )


def _check(term: float | str, terms: int, dtypes: Sequence[str]) -> Fraction:
    call = f"views.running_sum({term!r}, {terms!r}, {list(dtypes)!r})"
    if isinstance(terms, bool) or not isinstance(terms, int) or not 1 <= terms <= _MOST:
        raise ValueError(f"terms={terms!r} is no whole number from 1 to {_MOST}.\n  In: {call}\n  Fix: give one.")
    if unknown := [dtype for dtype in dtypes if dtype not in DTYPES]:
        fix = f"choose among {', '.join(DTYPES)}"
        raise ValueError(f"{unknown[0]!r} is no format here.\n  In: {call}\n  Fix: {fix}.")
    exact = read(str(term))
    if not (isinstance(exact, Fraction) and exact > 0):
        raise ValueError(f"The term {term} is no number above 0.\n  In: {call}\n  Fix: give one, such as 0.001.")
    return exact


def _growth(dtype: str, term: Fraction, terms: int, rows: Sequence[int]) -> _Growth:
    with np.errstate(over="ignore"):
        sums = np.add.accumulate(np.full(terms, float(term)).astype(DTYPES[dtype]))
    still = np.flatnonzero(sums[1:] == sums[:-1])
    values = [float(sums[row - 1]) for row in rows]
    return _Growth(FORMATS[dtype].words, dtype, values, int(still[0]) + 1 if still.size else None)


def _exact_panel(term: Fraction, rows: Sequence[int]) -> Panel:
    values = [float(term * row) for row in rows]
    return _bars("exact", "Exact sum", "left: terms added", values, rows, term, "plain")


def _panel(growth: _Growth, term: Fraction, rows: Sequence[int]) -> Panel:
    stops = growth.stops
    kinds = ["output" if stops is None or row <= stops else "group5" for row in rows]
    subtitle = "grows to the end" if stops is None else f"stops after {stops} terms" if growth.values[-1] else "stays 0"
    return _bars(growth.dtype, growth.words, subtitle, growth.values, rows, term, kinds)


def _bars(
    name: str,
    title: str,
    subtitle: str,
    values: Sequence[float],
    rows: Sequence[int],
    term: Fraction,
    kinds: str | Sequence[str],
) -> Panel:
    whole = float(term * rows[-1])
    return Panel(
        name=name,
        title=title,
        subtitle=subtitle,
        rows=len(rows),
        cols=1,
        labels=[f"{title} after {row} terms: {decimal(value)}" for row, value in zip(rows, values, strict=True)],
        values=[decimal(float(f"{value:.7g}")) for value in values],
        kinds=kinds,
        row_index=[str(row) for row in rows],
        cell_width=8,
        bars=[min(1.0, value / whole) for value in values],
    )


def _frame(i: int, row: int, term: Fraction, growths: Sequence[_Growth], cells: Sequence[int]) -> Frame:
    found = ", ".join(f"{growth.words} {decimal(growth.values[i])}" for growth in growths)
    return Frame(f"After {row} terms: exactly {decimal(float(term * row))}; {found}.", lit=cells)


def _captions(growths: Sequence[_Growth], term: Fraction, terms: int) -> Iterator[str]:
    for growth in growths:
        form, last = FORMATS[growth.dtype], growth.values[-1]
        if not last:
            yield f"{growth.words} stays 0: a term is nearer to 0 than to {_short(form.smallest)}, its next number."
        elif growth.stops and math.isfinite(last):
            gap = form.spacing(form.nearest(last))
            yield (
                f"{growth.words} stops at {decimal(last)} after {growth.stops} terms: the numbers there are "
                f"{_short(gap)} apart, and a term is not more than half of that."
            )
        elif growth.stops:
            after = count_text(growth.stops, "term")
            yield f"{growth.words} is infinite after {after}: beyond {decimal(form.largest)}."
        else:
            off = float(abs(Fraction(last) / (term * terms) - 1)) * 100
            yield f"{growth.words} grows to the end, and is {_short(off) + ' % off' if off else 'exact'}."
    yield "So Tensor Cores multiply numbers of 16 bits, and add in FP32."


def _short(value: float) -> str:
    return decimal(float(f"{value:.3g}"))
