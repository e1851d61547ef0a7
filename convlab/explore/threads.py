"""Explore which thread computes which output, and what a warp reads at each step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convlab.explore.controls import Choice, Control, Range
from convlab.explore.explorer import Explorer, Limits
from convlab.spec import ConvSpec
from convlab.views.mapping import MAPPINGS
from convlab.views.threads import ThreadsView, warps_of
from convlab.views.threads import threads as draw_threads

__all__ = ["threads"]

_ROWS, _COLS = 8, 12  # of the input: as many as there is room for in cells that show a number

_CONTROLS: dict[str, Control] = {
    "mapping": Choice("Threads", {name: way.words for name, way in MAPPINGS.items()}),
    "across": Range("Block: x", 8, 64),
    "down": Range("Block: y", 1, 8),
    "filters": Range("Filters K", 1, 2),
    "r": Range("Filter size R, S", 1, 3),
    "stride": Range("Stride", 1, 3),
    "dilation": Range("Dilation", 1, 2),
    "warp": Range("Warp", 0, 55),
}


def threads(
    mapping: str = "line",
    across: int = 32,
    down: int = 4,
    filters: int = 1,
    r: int = 3,
    stride: int = 1,
    dilation: int = 1,
    warp: int = 0,
) -> Explorer:
    """Explore which thread computes which output, with controls for the mapping, the block and the convolution.

    >>> explorer = threads("blocks", across=8, down=4)
    >>> explorer.view.threads, explorer.view.idle
    (128, 32)
    >>> explorer.controls["mapping"].value = "line"
    >>> explorer.view.threads, explorer.view.idle
    (96, 0)

    Parameters: where the controls stand at first: ``mapping`` as in ``views.threads``, ``across`` and ``down`` are the
    block's threads along x and y, ``r`` is the filter's height and width, ``warp`` the one whose steps are shown. The
    input has 8 × 12 pixels, padded so that at stride 1 the output has about as many. Raises ``ValueError`` for a value
    that its control does not reach.
    """
    initial = {"mapping": mapping, "across": across, "down": down, "filters": filters, "r": r}
    initial |= {"stride": stride, "dilation": dilation, "warp": warp}
    instead = "views.threads(spec) draws others."
    return Explorer("explore.threads", _CONTROLS, initial, _draw, limits=_limits, instead=instead)


def _spec(filters: int, r: int, stride: int, dilation: int) -> ConvSpec:
    padding = dilation * (r - 1) // 2
    sizes = {"n": 1, "c": 1, "h": _ROWS, "w": _COLS, "k": filters, "r": r, "s": r}
    return ConvSpec(**sizes, stride=stride, padding=padding, dilation=dilation)


def _limits(values: Mapping[str, Any]) -> Limits:
    down = None if MAPPINGS[values["mapping"]].flat else (1, 8)
    spec = _spec(*(values[name] for name in ("filters", "r", "stride", "dilation")))
    warps = warps_of(spec, values["mapping"], (values["across"], values["down"]))
    return {"down": down, "warp": (0, warps - 1)}


def _draw(
    mapping: str, across: int, down: int, filters: int, r: int, stride: int, dilation: int, warp: int
) -> ThreadsView:
    return draw_threads(_spec(filters, r, stride, dilation), mapping, (across, down), warp)
