"""Explore what two dataflows cost on the same layer and the same array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convlab.dataflow.array import Array
from convlab.dataflow.named import DATAFLOWS
from convlab.explore.controls import Choice, Control, Range
from convlab.explore.dataflow import NAMES
from convlab.explore.explorer import Explorer, Limits
from convlab.spec import ConvSpec
from convlab.views.dataflow_costs import DataflowCostsView
from convlab.views.dataflow_costs import dataflow_costs as draw

__all__ = ["dataflow_costs"]

_BY_NAME = {each.name: each for each in DATAFLOWS}
_ALL = "all"
_FILTERS = 256
_LAYERS = {"full": "all channels meet", "depthwise": "depthwise: each channel alone"}
_CONTROLS: dict[str, Control] = {
    "first": Choice("Dataflow", NAMES),
    "second": Choice("Beside", {**NAMES, _ALL: "all"}),
    "layer": Choice("Layer", _LAYERS),
    "h": Range("Input size H, W", 4, 64),
    "c": Range("Channels C", 1, 256),
    "k": Range("Filters K", 1, _FILTERS),
    "r": Range("Filter size R, S", 1, 7),
    "stride": Range("Stride", 1, 4),
    "rows": Range("Rows of PEs", 1, 32),
    "cols": Range("Columns of PEs", 1, 32),
    "registers": Range("Words of a PE", 16, 512),
    "buffer": Range("Buffer (k words)", 4, 256),
}


def dataflow_costs(
    first: str = "weight_stationary",
    second: str = "row_stationary",
    layer: str = "full",
    h: int = 28,
    c: int = 64,
    k: int = 96,
    r: int = 3,
    stride: int = 1,
    rows: int = 12,
    cols: int = 14,
    registers: int = 256,
    buffer: int = 54,
) -> Explorer:
    """Explore the costs of two dataflows side by side, with controls for the layer, the array and its memories.

    >>> explorer = dataflow_costs()
    >>> view = explorer.view
    >>> explorer.controls["layer"].value = "depthwise"
    >>> busy, less = (each.counts["weight stationary"].utilisation for each in (view, explorer.view))
    >>> less < busy / 10
    True

    Parameters: where the controls stand at first: ``first`` and ``second`` are names of ``convlab.dataflow.DATAFLOWS``,
    ``second`` may be "all"; ``layer`` is "full" or "depthwise"; ``h`` is the input's rows and columns, ``r`` the
    filter's. Raises ``ValueError`` for a value that its control does not reach.
    """
    sizes = {"h": h, "c": c, "k": k, "r": r, "stride": stride}
    machine = {"rows": rows, "cols": cols, "registers": registers, "buffer": buffer}
    initial = {"first": first, "second": second, "layer": layer, **sizes, **machine}
    instead = "views.dataflow_costs(…) draws others."
    return Explorer("explore.dataflow_costs", _CONTROLS, initial, _draw, limits=_limits, instead=instead)


def _limits(values: Mapping[str, Any]) -> Limits:
    return {"k": None if values["layer"] == "depthwise" else (1, _FILTERS)}


def _draw(first: str, second: str, layer: str, **values: int) -> DataflowCostsView:
    alone, sizes = layer == "depthwise", {name: values[name] for name in ("c", "h", "r", "stride")}
    spec = ConvSpec(
        n=1,
        w=values["h"],
        s=values["r"],
        k=values["c" if alone else "k"],
        padding=values["r"] // 2,
        groups=values["c"] if alone else 1,
        **sizes,
    )
    array = Array(values["rows"], values["cols"], registers=values["registers"], buffer=1024 * values["buffer"])
    pair = dict.fromkeys((_BY_NAME[first], _BY_NAME[second])) if second != _ALL else DATAFLOWS
    return draw([*pair], spec, array)
