"""Explore bank conflicts: which pitch, block, stride and element let a warp read shared memory at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convlab.explore.controls import Choice, Control, Range
from convlab.explore.explorer import Explorer, Limits
from convlab.views.banks import PITCHES, SIZES, WIDTHS, BanksView
from convlab.views.banks import banks as draw

__all__ = ["banks"]

_WIDTHS = {
    "32": "32 threads wide: one row",
    "16": "16 threads wide: 2 rows of 16",
    "8": "8 threads wide: 4 rows of 8",
    "4": "4 threads wide: 8 rows of 4",
    "2": "2 threads wide: 16 rows of 2",
    "1": "1 thread wide: a column of 32",
}
_SIZES = {"4": "4 bytes: float", "8": "8 bytes: float2", "16": "16 bytes: float4"}
_ORDERS = {"plain": "as it is", "swizzle": "swizzled: column xor row"}
_CONTROLS: dict[str, Control] = {
    "pitch": Range("Pitch of the tile", PITCHES[0], PITCHES[-1]),
    "width": Choice("Block", {str(width): _WIDTHS[str(width)] for width in reversed(WIDTHS)}),
    "stride": Range("Stride", 0, 4),
    "size": Choice("Element", {str(size): _SIZES[str(size)] for size in SIZES}),
    "order": Choice("Columns", _ORDERS),
}


def banks(pitch: int = 18, width: str = "16", stride: int = 1, size: str = "4", order: str = "plain") -> Explorer:
    """Explore bank conflicts, with controls for the tile's pitch, the block, the stride, the element and a swizzle.

    >>> explorer = banks(pitch=32, width="1")
    >>> explorer.view.wavefronts
    32
    >>> explorer.controls["order"].value = "swizzle"
    >>> explorer.view.wavefronts
    1

    Parameters: where the controls stand at first, as in ``views.banks``; a press on a pitch of the table chooses it.
    Raises ``ValueError`` for a value that its control does not reach.
    """
    initial = {"pitch": pitch, "width": width, "stride": stride, "size": size, "order": order}
    instead = "views.banks(…) draws greater strides."
    return Explorer("explore.banks", _CONTROLS, initial, _draw, limits=_limits, instead=instead, press=_press)


def _limits(values: Mapping[str, Any]) -> Limits:
    width = int(values["width"])
    length = (width - 1) * values["stride"] + 1
    return {"pitch": None if width == WIDTHS[-1] else (max(length, PITCHES[0]), PITCHES[-1])}


def _press(values: Mapping[str, Any], cell: int) -> Mapping[str, Any]:
    """The table of pitches comes last."""
    pitches = _draw(**values).ids["pitches"].ravel().tolist()
    pitch = PITCHES[pitches.index(cell)]
    least, _ = _limits(values)["pitch"] or (1, 0)
    return {"pitch": max(pitch, least)}


def _draw(pitch: int, width: str, stride: int, size: str, order: str) -> BanksView:
    return draw(pitch, int(width), stride, int(size), swizzle=order == "swizzle")
