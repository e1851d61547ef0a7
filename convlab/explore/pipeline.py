"""Explore pipelines: what a second stage in shared memory hides of a load's latency."""

from __future__ import annotations

from convlab.explore.controls import Control, Range
from convlab.explore.explorer import Explorer
from convlab.views.pipeline import pipeline as draw

__all__ = ["pipeline"]

_CONTROLS: dict[str, Control] = {
    "steps": Range("Steps along k", 2, 6),
    "latency": Range("Latency (cycles)", 0, 1200),
    "issue": Range("Issue (cycles)", 1, 4),
}


def pipeline(steps: int = 4, latency: int = 400, issue: int = 1) -> Explorer:
    """Explore what a second stage hides, with controls for the steps, a load's latency and an instruction's cycles.

    >>> explorer = pipeline()
    >>> explorer.controls["latency"].value = 600
    >>> explorer.view.one.waits, explorer.view.two.waits
    (2384, 601)

    Parameters: where the controls stand at first, as in ``views.pipeline``. Raises ``ValueError`` for a value that its
    control does not reach.
    """
    initial = {"steps": steps, "latency": latency, "issue": issue}
    return Explorer("explore.pipeline", _CONTROLS, initial, draw, instead="views.pipeline(…) draws others.")
