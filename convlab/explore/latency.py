"""Explore latency hiding: how many warps it takes until a scheduler is never idle."""

from __future__ import annotations

from convlab.explore.controls import Range
from convlab.explore.explorer import Explorer
from convlab.views.latency import latency as draw

__all__ = ["latency"]

_CONTROLS = {
    "warps": Range("Warps", 1, 16),
    "busy": Range("Work (cycles)", 1, 8),
    "wait": Range("Wait (cycles)", 0, 40),
}


def latency(warps: int = 2, busy: int = 4, wait: int = 12) -> Explorer:
    """Explore latency hiding, with controls for the warps, their work, and their wait.

    >>> explorer = latency(warps=3, busy=2, wait=6)
    >>> explorer.controls["warps"].value = 4
    >>> explorer.view.utilisation
    1.0

    Parameters: where the controls stand at first, as in ``views.latency``. Raises ``ValueError`` for a value that its
    control does not reach.
    """
    initial = {"warps": warps, "busy": busy, "wait": wait}
    return Explorer("explore.latency", _CONTROLS, initial, draw, instead="views.latency(…) draws every other size.")
