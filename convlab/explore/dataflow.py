"""Explore dataflows: an array of processing elements at work, cycle by cycle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convlab.dataflow.array import Array, Network
from convlab.dataflow.named import DATAFLOWS
from convlab.explore.controls import Choice, Control, Range
from convlab.explore.explorer import Explorer, Limits
from convlab.spec import ConvSpec
from convlab.views.dataflow import DataflowView
from convlab.views.dataflow import dataflow as draw

__all__ = ["NAMES", "dataflow"]

NAMES = {each.name: each.name.replace("_", " ") for each in DATAFLOWS}
_BY_NAME = {each.name: each for each in DATAFLOWS}
_LEAST, _SMALL, _SIDE, _FILTERS = 3, 6, 7, 4
_MULTIPLIES = 600  # a run of more takes longer than a hand on a slider waits
_CONTROLS: dict[str, Control] = {
    "flow": Choice("Dataflow", NAMES),
    "h": Range("Input height H", _LEAST, _SIDE),
    "w": Range("Input width W", _LEAST, _SIDE),
    "c": Range("Channels C", 1, 2),
    "k": Range("Filters K", 1, _FILTERS),
    "r": Range("Filter size R, S", 1, 3),
    "stride": Range("Stride", 1, 2),
    "padding": Range("Padding", 0, 1),
    "rows": Range("Rows of PEs", 1, 4),
    "cols": Range("Columns of PEs", 1, 4),
}


def dataflow(
    flow: str = "weight_stationary",
    h: int = 6,
    w: int = 6,
    c: int = 1,
    k: int = 2,
    r: int = 3,
    stride: int = 1,
    padding: int = 0,
    rows: int = 4,
    cols: int = 4,
) -> Explorer:
    """Explore an array of PEs that runs a dataflow, with controls for the dataflow, the layer and the array.

    >>> explorer = dataflow("output_stationary", k=4)
    >>> explorer.view.done.counts.cycles
    36
    >>> explorer.controls["flow"].value = "row_stationary"
    >>> explorer.view.done.counts["w", "dram"].reads
    36

    Parameters: where the controls stand at first: ``flow`` is the name of one of ``convlab.dataflow.DATAFLOWS``,
    ``r`` the filter's rows and columns. Raises ``ValueError`` for a value that its control does not reach.
    """
    layer = {"h": h, "w": w, "c": c, "k": k, "r": r, "stride": stride, "padding": padding}
    initial = {"flow": flow, **layer, "rows": rows, "cols": cols}
    instead = "views.dataflow(…) draws others."
    return Explorer("explore.dataflow", _CONTROLS, initial, _draw, limits=_limits, instead=instead)


def _spec(values: Mapping[str, Any], k: int) -> ConvSpec:
    sizes = {name: values[name] for name in ("c", "h", "w", "r", "stride", "padding")}
    return ConvSpec(n=1, k=k, s=values["r"], **sizes)


def _limits(values: Mapping[str, Any]) -> Limits:
    # A column of im2col's matrix for each output: of more there is no room.
    side = _SMALL - 2 * values["padding"] if _BY_NAME[values["flow"]].gemm else _SIDE
    smaller = {**values, "h": min(values["h"], side), "w": min(values["w"], side)}
    filters = max(1, min(_FILTERS, _MULTIPLIES // _spec(smaller, 1).macs))
    return {"h": (_LEAST, side), "w": (_LEAST, side), "k": (1, filters)}


def _draw(flow: str, rows: int, cols: int, k: int, **layer: int) -> DataflowView:
    chosen = _BY_NAME[flow]
    network: Network = "systolic" if chosen.gemm else "multicast"
    return draw(chosen, _spec(layer, k), Array(rows, cols, network=network))
