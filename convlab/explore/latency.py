"""Explore latency hiding: how many warps it takes until a scheduler is never idle."""

from __future__ import annotations

from convlab.explore.controls import Range, check, number_field
from convlab.explore.explorer import Explorer
from convlab.views.latency import LatencyView
from convlab.views.latency import latency as draw_latency

__all__ = ["LatencyExplorer", "latency"]


def latency(warps: int = 2, busy: int = 4, wait: int = 12) -> LatencyExplorer:
    """Explore latency hiding, with controls for the warps, their work, and their wait.

    >>> explorer = latency(warps=3, busy=2, wait=6)
    >>> explorer.numbers["warps"].value = 4
    >>> explorer.view.utilisation
    1.0

    Parameters: where the controls stand at first, as in ``views.latency``. Raises ``ValueError`` for a value that its
    control does not reach.
    """
    return LatencyExplorer({"warps": warps, "busy": busy, "wait": wait})


_RANGES = {
    "warps": Range("Warps", 1, 16),
    "busy": Range("Work (cycles)", 1, 8),
    "wait": Range("Wait (cycles)", 0, 40),
}


class LatencyExplorer(Explorer):
    """The cycles of one warp scheduler, with controls."""

    def __init__(self, initial: dict[str, int]) -> None:
        check("explore.latency", initial, _RANGES, "views.latency(…) draws every other size.")
        super().__init__({name: number_field(_RANGES[name], value) for name, value in initial.items()})

    def look(self) -> LatencyView:
        """Make the picture that belongs to the controls."""
        return draw_latency(**{name: number.value for name, number in self.numbers.items()})
