"""Recorded times of one layer as bars: ours plain, peers hatched, each with its spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Patch

__all__ = ["draw"]

_OURS, _PEERS, _INK = "#0072b2", "#e69f00", "#1c2733"  # hues of Okabe and Ito (2008)
_LOOK: Mapping[bool, Mapping[str, Any]] = {
    False: {"color": _OURS},
    True: {"facecolor": _PEERS, "hatch": "///", "edgecolor": _INK},
}
_NAMES = {False: "this course's methods", True: "what people use instead"}


def draw(bars: Sequence[tuple[str, Mapping[str, Any]]], title: str) -> Figure:
    """A horizontal bar for each name and entry, the first on top; milliseconds from zero on.

    >>> entry = {"milliseconds": 2.0, "low": 1.9, "high": 2.2, "method": "naive"}
    >>> [len(axes.patches) for axes in draw([("naive, float32", entry)], "A layer").axes]
    [1]
    """
    figure = Figure(figsize=(8, 1.4 + 0.3 * len(bars)), layout="constrained")
    axes = figure.subplots()
    for number, (_, entry) in enumerate(bars):
        middle, low, high = (float(entry[name]) for name in ("milliseconds", "low", "high"))
        spread = [[max(middle - low, 0)], [max(high - middle, 0)]]
        axes.barh(number, middle, xerr=spread, ecolor=_INK, capsize=2, **_LOOK["peer" in entry])
        axes.annotate(f"{middle:.4g}", (max(middle, high), number), (6, 0), textcoords="offset points", va="center")
    axes.set_yticks(range(len(bars)), [name for name, _ in bars])
    axes.invert_yaxis()
    axes.set(xlabel="milliseconds, median with least and most; shorter is faster")
    axes.set_title(title, loc="left", fontsize=10)
    axes.margins(x=0.15)
    kinds = sorted({"peer" in entry for _, entry in bars})
    figure.legend(handles=[Patch(label=_NAMES[kind], **_LOOK[kind]) for kind in kinds], loc="outside lower right")
    return figure
