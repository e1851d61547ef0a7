"""Explore tiles with a halo: who brings which pixel, and what the halo costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convlab.explore.controls import Control, Range
from convlab.explore.explorer import Explorer, Limits
from convlab.spec import ConvSpec
from convlab.views.halo import HaloView
from convlab.views.halo import halo as draw

__all__ = ["halo"]

_ROWS, _COLS = 21, 19  # of the input: as many as there is room for in cells that show a number
_SPAN = 7  # rows of a filter with its gaps, at most, for the same reason
_DILATION = 3

_CONTROLS: dict[str, Control] = {
    "r": Range("Filter size R, S", 1, _SPAN),
    "dilation": Range("Dilation", 1, _DILATION),
    "block": Range("Block", 0, 3),
}


def halo(r: int = 3, dilation: int = 1, block: int = 0) -> Explorer:
    """Explore the tile of one block, with controls for the filter, its dilation and the block.

    >>> explorer = halo()
    >>> round(explorer.view.cost, 2)
    1.27
    >>> explorer.controls["r"].value = 5
    >>> round(explorer.view.cost, 2)
    1.56

    Parameters: where the controls stand at first; ``r`` is the filter's height and width. The input has 21 × 19 pixels,
    padded so that the output has about as many. Raises ``ValueError`` for a value that its control does not reach.
    """
    initial = {"r": r, "dilation": dilation, "block": block}
    instead = "views.halo(spec) draws others."
    return Explorer("explore.halo", _CONTROLS, initial, _draw, limits=_limits, instead=instead)


def _spec(r: int, dilation: int) -> ConvSpec:
    padding = dilation * (r - 1) // 2
    return ConvSpec(n=1, c=1, h=_ROWS, w=_COLS, k=1, r=r, s=r, padding=padding, dilation=dilation)


def _limits(values: Mapping[str, Any]) -> Limits:
    most = _most(values["r"])
    return {"dilation": (1, most) if most > 1 else None}


def _most(r: int) -> int:
    """The greatest dilation for which the tile has room; a filter of one row knows none."""
    return min(_DILATION, (_SPAN - 1) // (r - 1)) if r > 1 else 1


def _draw(r: int, dilation: int, block: int) -> HaloView:
    return draw(_spec(r, min(dilation, _most(r))), block)
