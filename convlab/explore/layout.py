"""Explore layouts: where the elements of a tensor lie in memory, and what a warp's load then moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convlab.explore.controls import Choice, Control, Range
from convlab.explore.explorer import Explorer, Limits
from convlab.views.memory_layout import LOADS, LayoutView, loads_of
from convlab.views.memory_layout import layout as draw_layout

__all__ = ["layout"]

_CONTROLS: dict[str, Control] = {
    "c": Range("Channels C", 1, 8),
    "h": Range("Height H", 1, 4),
    "w": Range("Width W", 1, 8),
    "pack": Choice("A pack holds", {str(size): f"{size} channels" for size in (2, 4, 8)}),
    "load": Choice("Lanes take", LOADS),
    "number": Range("Load", 1, 8),
}


def layout(c: int = 8, h: int = 4, w: int = 8, pack: int | str = 4, load: str = "pixels", number: int = 1) -> Explorer:
    """Explore three layouts of one tensor, with controls for its sizes, the pack, and the load that is marked.

    >>> explorer = layout(load="pixels")
    >>> explorer.view.sectors
    {'NCHW': 4, 'NHWC': 32, 'NC/4HW4': 16}
    >>> explorer.controls["load"].value = "channels"
    >>> explorer.view.sectors
    {'NCHW': 8, 'NHWC': 4, 'NC/4HW4': 4}

    Parameters: where the controls stand at first, as in ``views.layout``; ``pack`` is 2, 4 or 8. Raises ``ValueError``
    for a value that its control does not reach.
    """
    initial = {"c": c, "h": h, "w": w, "pack": str(pack), "load": load, "number": number}
    instead = "views.layout(…) draws others."
    return Explorer("explore.layout", _CONTROLS, initial, _draw, limits=_limits, instead=instead)


def _limits(values: Mapping[str, Any]) -> Limits:
    return {"number": (1, loads_of(values["c"], values["h"], values["w"], values["load"]))}


def _draw(pack: str, **values: Any) -> LayoutView:
    return draw_layout(pack=int(pack), **values)
