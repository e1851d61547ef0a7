"""Explore idle multipliers: how channels, filters and the order of the sum fill a Tensor Core's tile."""

from __future__ import annotations

from typing import Literal

from convlab.explore.controls import Choice, Control, Range
from convlab.explore.explorer import Explorer
from convlab.spec import ConvSpec
from convlab.views.idle_multipliers import IdleView, Order
from convlab.views.idle_multipliers import idle_multipliers as draw

__all__ = ["idle_multipliers"]

_TILES = {"16": "wmma: rows of 16 filters", "8": "mma: columns of 8 filters"}
_CONTROLS: dict[str, Control] = {
    "c": Range("Channels C", 1, 32),
    "k": Range("Filters K", 1, 32),
    "r": Range("Filter height R", 1, 5),
    "s": Range("Filter width S", 1, 5),
    "order": Choice("Sum", {"flattened": "flattened: c, r, s in a row", "per tap": "one tap after the other"}),
    "tile": Choice("Instruction", _TILES),
}


def idle_multipliers(
    c: int = 3, k: int = 7, r: int = 3, s: int = 3, order: Order = "flattened", tile: Literal["16", "8"] = "16"
) -> Explorer:
    """Explore which multipliers of a Tensor Core are idle, with controls for the sizes and for what lies where.

    >>> explorer = idle_multipliers()
    >>> explorer.controls["order"].value = "per tap"
    >>> explorer.view.elements
    (27, 144)

    Parameters: where the controls stand at first; ``tile`` is the side of the instruction along which filters lie.
    Raises ``ValueError`` for a value that its control does not reach.
    """
    initial = {"c": c, "k": k, "r": r, "s": s, "order": order, "tile": tile}
    instead = "views.idle_multipliers(spec, …) draws every other size."
    return Explorer("explore.idle_multipliers", _CONTROLS, initial, _draw, instead=instead)


def _draw(c: int, k: int, r: int, s: int, order: Order, tile: str) -> IdleView:
    return draw(ConvSpec(n=1, c=c, h=32, w=32, k=k, r=r, s=s), order, filters=int(tile))
