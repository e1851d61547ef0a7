"""Explore what more outputs a thread save in loads, and cost in registers and occupancy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convlab.executors.resources import ARCHITECTURES
from convlab.explore.controls import Choice, Control, Range
from convlab.explore.explorer import Explorer, Limits
from convlab.perf.gpus import GPUS
from convlab.views.register_tiles import TILES
from convlab.views.registers import registers as draw_registers

__all__ = ["registers"]

_CONTROLS: dict[str, Control] = {
    "kernel": Choice(
        "Kernel", {"gemm_register": "gemm_register: a matrix product", "multi_output": "multi_output: a convolution"}
    ),
    "gpu": Choice("GPU", {name: name for name, record in GPUS.items() if record.arch in ARCHITECTURES}),
    "row": Range("Tile: row", 1, max(map(len, TILES.values()))),
}


def registers(kernel: str = "gemm_register", gpu: str = "A100", row: int = 7) -> Explorer:
    """Explore the variants of a kernel with more and more outputs a thread, on a GPU to choose.

    >>> explorer = registers("multi_output", "A100", row=5)
    >>> explorer.view.tile.registers["sm_80"], explorer.view.occupancy.share
    (125, 0.25)

    Parameters: where the controls stand at first; ``row`` is the variant whose tile is drawn, from 1. Raises
    ``ValueError`` for a value that its control does not reach.
    """
    return Explorer("explore.registers", _CONTROLS, {"kernel": kernel, "gpu": gpu, "row": row}, draw_registers, _limits)


def _limits(values: Mapping[str, Any]) -> Limits:
    return {"row": (1, len(TILES[values["kernel"]]))}
