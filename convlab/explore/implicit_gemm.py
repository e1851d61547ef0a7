"""Explore implicit GEMM: where the elements of a tile come from, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convlab.explore.controls import Control, Range
from convlab.explore.explorer import Explorer, Limits
from convlab.spec import ConvSpec
from convlab.spec.axis import Axis
from convlab.views.gemm_panels import COLUMNS
from convlab.views.implicit_gemm import implicit_gemm as draw
from convlab.views.view import View

__all__ = ["implicit_gemm"]

_CONTROLS: dict[str, Control] = {
    "c": Range("Channels C", 1, 3),
    "r": Range("Filter R = S", 1, 3),
    "stride": Range("Stride", 1, 2),
    "padding": Range("Padding", 0, 1),
    "dilation": Range("Dilation", 1, 2),
    "part": Range("Sixteen columns", 0, 6),
}
_ROWS = 18  # of the matrix: more of them would be too small to read
_SIZES = {"n": 2, "h": 5, "w": 6, "k": 16}


def implicit_gemm(
    c: int = 3, r: int = 2, stride: int = 1, padding: int = 1, dilation: int = 1, part: int = 1
) -> Explorer:
    """Explore implicit GEMM, with controls for the convolution of two small images and for the columns drawn.

    >>> explorer = implicit_gemm(c=1, r=3)
    >>> [panel.rows for panel in explorer.view.panels]
    [10, 9, 4, 4]

    Parameters: where the controls stand at first; ``part`` counts the columns by sixteens. Raises ``ValueError`` for a
    value that its control does not reach.
    """
    initial = {"c": c, "r": r, "stride": stride, "padding": padding, "dilation": dilation, "part": part}
    instead = "views.implicit_gemm(spec) draws other convolutions."
    return Explorer("explore.implicit_gemm", _CONTROLS, initial, _draw, limits=_limits, instead=instead)


def _limits(values: Mapping[str, Any]) -> Limits:
    """A matrix of at most 18 rows, and columns that are there."""
    ends, steps = 2 * (values["padding"],), (values["stride"], values["dilation"])
    rows, columns = (Axis(name, _SIZES[name.lower()], *ends, values["r"], *steps).outputs for name in ("H", "W"))
    return {"c": (1, min(3, _ROWS // values["r"] ** 2)), "part": (0, max(0, -(-2 * rows * columns // COLUMNS) - 1))}


def _draw(c: int, r: int, part: int, **steps: int) -> View:
    return draw(ConvSpec(**_SIZES, c=c, r=r, s=r, **steps), part=part)
