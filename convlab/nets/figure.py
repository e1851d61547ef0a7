"""The layers of a network as bars: those that take half of the time dark and named, the rest light."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from convlab.nets.row import LayerProfile

__all__ = ["draw"]

INK, SLOW, QUICK = "#1c2733", "#0b3c5d", "#d9dee3"  # by lightness alone apart: grey print keeps them so
MEMORY = "////"  # of layers that memory bounds


def draw(rows: Sequence[LayerProfile], slow: Sequence[LayerProfile], title: str) -> Figure:
    """A bar for each layer, from the input on the left; hatched where memory is the bound by the definition's bytes.

    Parameters: ``slow`` are the layers to stand out.
    """
    figure = Figure(figsize=(max(7.0, min(16.0, 2 + 0.13 * len(rows))), 4.6), layout="constrained")
    axes = figure.subplots()
    for number, row in enumerate(rows):
        axes.bar(number, row.milliseconds, width=0.82, **_look(row in slow, row.bound == "memory"))
        if row in slow:
            axes.annotate(
                row.layer.name[:24], (number, row.milliseconds), (0, 4), textcoords="offset points", rotation=90,
                ha="center", va="bottom", fontsize=7, color=INK,
            )  # fmt: skip
    axes.set(ylabel="milliseconds", xlabel="layers, from the input on", xlim=(-1, len(rows)))
    axes.set_xticks([])
    axes.set_ylim(top=1.45 * (max((row.milliseconds for row in rows), default=0) or 1))  # room for names
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    figure.legend(handles=_legend(), loc="outside lower center", fontsize=8, ncols=3)
    return figure


def _look(slow: bool, memory: bool) -> dict[str, Any]:
    return {
        "facecolor": SLOW if slow else QUICK,
        "edgecolor": "white" if slow else INK,
        "hatch": MEMORY if memory else None,
        "linewidth": 0.4,
    }


def _legend() -> list[Patch]:
    return [
        Patch(label="take half of the time", **_look(True, False)),
        Patch(label="the rest", **_look(False, False)),
        Patch(label="hatched: bound by memory", **_look(False, True)),
    ]
