"""Explore Winograd's F(2×2, 3×3): any tile of a small image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convlab.explore.controls import Control, Range
from convlab.explore.explorer import Explorer, Limits
from convlab.spec import ConvSpec
from convlab.views.winograd import WinogradView
from convlab.views.winograd import winograd as draw

__all__ = ["winograd"]

_CONTROLS: dict[str, Control] = {
    "h": Range("Input height H", 3, 8),
    "w": Range("Input width W", 3, 8),
    "padding": Range("Padding", 0, 1),
    "row": Range("Tile row", 0, 3),
    "column": Range("Tile column", 0, 3),
}


def winograd(h: int = 6, w: int = 6, padding: int = 1, row: int = 0, column: int = 0) -> Explorer:
    """Explore the stages of F(2×2, 3×3), with controls for the image, its padding, and the tile.

    >>> explorer = winograd(h=5, w=7)
    >>> explorer.controls["row"].max, explorer.controls["column"].max, explorer.view.multiplications
    (2, 3, (192, 315))

    Parameters: where the controls stand at first. Raises ``ValueError`` for a value that its control does not reach.
    """
    initial = {"h": h, "w": w, "padding": padding, "row": row, "column": column}
    instead = "views.winograd(spec, …) draws every other size."
    return Explorer("explore.winograd", _CONTROLS, initial, _draw, limits=_limits, instead=instead)


def _limits(values: Mapping[str, Any]) -> Limits:
    """The last tile: each makes two of the H + 2 · padding − 2 outputs."""
    last = {name: (values[size] + 2 * values["padding"] - 3) // 2 for name, size in (("row", "h"), ("column", "w"))}
    return {name: (0, tile) for name, tile in last.items()}


def _draw(h: int, w: int, padding: int, row: int, column: int) -> WinogradView:
    return draw(ConvSpec(n=1, c=1, h=h, w=w, k=1, r=3, s=3, padding=padding), (row, column))
