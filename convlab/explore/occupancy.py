"""Explore occupancy: registers, threads and shared memory of a block against what an SM can hold."""

from __future__ import annotations

from convlab.explore.controls import Choice, Control, Range
from convlab.explore.explorer import Explorer
from convlab.perf.gpus import GPUS
from convlab.views.figure import Picture
from convlab.views.occupancy import occupancy as draw

__all__ = ["occupancy"]

_CONTROLS: dict[str, Control] = {
    "warps": Range("Warps a block", 1, 32),
    "registers": Range("Registers a thread", 1, 255),
    "shared_kb": Range("Shared a block, KB", 0, 227),
    "gpu": Choice("GPU", {name: name for name in GPUS}),
}


def occupancy(warps: int = 8, registers: int = 40, shared_kb: int = 0, gpu: str = "A100") -> Explorer:
    """Explore how many warps of a kernel an SM holds, and what keeps it from holding more.

    >>> explorer = occupancy(warps=8, registers=64)
    >>> explorer.controls["registers"].value = 65
    >>> explorer.view.alt.partition(",")[0]
    'A100: 3 blocks'

    Parameters: where the controls stand at first, as in ``views.occupancy``, with 32 threads in a warp. Raises
    ``ValueError`` for a value that its control does not reach.
    """
    initial = {"warps": warps, "registers": registers, "shared_kb": shared_kb, "gpu": gpu}
    instead = "perf.occupancy computes every other case."
    return Explorer("explore.occupancy", _CONTROLS, initial, _draw, instead=instead)


def _draw(warps: int, registers: int, shared_kb: int, gpu: str) -> Picture:
    return draw(gpu, 32 * warps, registers, shared_kb)
