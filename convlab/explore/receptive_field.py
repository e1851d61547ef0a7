"""Explore the receptive field of stacked convolutions, and the gaps that equal dilations leave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convlab.explore.controls import Control, Range
from convlab.explore.explorer import Explorer, Limits
from convlab.views.receptive_field import WIDEST, Layer, spans
from convlab.views.receptive_field import receptive_field as draw
from convlab.views.view import View

__all__ = ["receptive_field"]

_MOST = 4  # layers
_CONTROLS: dict[str, Control] = {
    "layers": Range("Layers", 1, _MOST),
    "kernel": Range("Kernel of each", 2, 3),
    "stride": Range("Stride of each", 1, 2),
    **{f"d{at}": Range(f"Dilation of {at}", 1, 8) for at in range(1, _MOST + 1)},
}


def receptive_field(
    layers: int = 3, kernel: int = 3, stride: int = 1, d1: int = 2, d2: int = 2, d3: int = 2, d4: int = 2
) -> Explorer:
    """Explore stacked convolutions, with controls for their number, kernel and stride, and the dilation of each.

    >>> explorer = receptive_field(layers=3, d1=1, d2=2, d3=4)
    >>> explorer.view.size, explorer.view.read
    (15, 15)

    Parameters: where the controls stand at first. Raises ``ValueError`` for a value that its control does not reach.
    """
    initial = {"layers": layers, "kernel": kernel, "stride": stride, "d1": d1, "d2": d2, "d3": d3, "d4": d4}
    instead = "views.receptive_field(layers) draws every other stack."
    return Explorer("explore.receptive_field", _CONTROLS, initial, _draw, limits=_limits, instead=instead)


def _stack(layers: int, kernel: int, stride: int, **dilations: int) -> list[Layer]:
    return [Layer(kernel, stride, dilations[f"d{at}"]) for at in range(1, layers + 1)]


def _limits(values: Mapping[str, Any]) -> Limits:
    """Dilations of layers that are there; a stride with which the receptive field can still be drawn."""
    fits = spans(_stack(**{**values, "stride": 2}))[-1].size <= WIDEST
    here = {f"d{at}": (1, 8) if at <= values["layers"] else None for at in range(1, _MOST + 1)}
    return {"stride": (1, 2 if fits else 1), **here}


def _draw(**values: int) -> View:
    return draw(_stack(**values))
