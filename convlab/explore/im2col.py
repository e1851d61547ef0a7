"""Explore im2col: the matrix of all windows, its copies, and the memory it takes, whole or in chunks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.explore.controls import Choice, Control, Range
from convlab.explore.explorer import Explorer, Limits
from convlab.spec import ConvSpec
from convlab.spec.axis import Axis
from convlab.views.im2col import im2col as draw
from convlab.views.view import View

__all__ = ["im2col"]

_CONTROLS: dict[str, Control] = {
    "h": Range("Input height H", 1, 5),
    "w": Range("Input width W", 1, 5),
    "c": Range("Channels C", 1, 3),
    "r": Range("Filter height R", 1, 3),
    "s": Range("Filter width S", 1, 3),
    "stride": Range("Stride", 1, 3),
    "padding": Range("Padding", 0, 1),
    "dilation": Range("Dilation", 1, 2),
    "chunk": Range("Chunk (0: none)", 0, 36),
    "values": Choice("Pixels are", {"letters": "letters", "numbers": "numbers"}),
}
_ROWS = 18  # of the matrix: more of them would be too small to read
_FIRST_LETTERS = "aAα"  # of each channel, whose alphabets have 25 letters at least


def im2col(
    h: int = 3,
    w: int = 3,
    c: int = 1,
    r: int = 2,
    s: int = 2,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    chunk: int = 0,
    values: str = "letters",
) -> Explorer:
    """Explore im2col, with controls for the sizes of the convolution and for the columns that exist at a time.

    >>> explorer = im2col(h=4, w=4, r=3, s=3)
    >>> explorer.view.panels[1].rows, explorer.view.panels[1].cols, explorer.view.factor
    (9, 4, 2.25)

    Parameters: where the controls stand at first; ``chunk`` counts columns, 0 stands for the whole matrix. Raises
    ``ValueError`` for a value that its control does not reach.
    """
    sizes = {"h": h, "w": w, "c": c, "r": r, "s": s, "stride": stride, "padding": padding, "dilation": dilation}
    initial = {**sizes, "chunk": chunk, "values": values}
    instead = "views.im2col(spec) draws every other size."
    return Explorer("explore.im2col", _CONTROLS, initial, _draw, limits=_limits, instead=instead)


def _limits(values: Mapping[str, Any]) -> Limits:
    """A matrix of at most 18 rows; padding where the filter reaches across it; chunks of the columns there are."""
    r, s, dilation = values["r"], values["s"], values["dilation"]
    channels, padding = min(3, _ROWS // (r * s)), int(min(r, s) > 1)
    ends = 2 * (min(padding, values["padding"]),)
    axes = (
        Axis("H", values["h"], *ends, r, values["stride"], dilation),
        Axis("W", values["w"], *ends, s, values["stride"], dilation),
    )
    columns = axes[0].outputs * axes[1].outputs
    return {"c": (1, channels), "padding": (0, padding), "chunk": (0, columns)}


def _draw(chunk: int, values: str, **sizes: int) -> View:
    spec = ConvSpec(n=1, k=1, **sizes)
    return draw(spec, x=_letters(spec) if values == "letters" else None, chunk=chunk or None)


def _letters(spec: ConvSpec) -> npt.NDArray[np.str_]:
    """Give each pixel a letter, each channel an alphabet."""
    texts = [chr(ord(_FIRST_LETTERS[c]) + at) for c in range(spec.c) for at in range(spec.h * spec.w)]
    return np.array(texts).reshape(spec.input_shape)
