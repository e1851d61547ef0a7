"""Explore the window of a convolution: which input cells each output cell reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from convlab.explore.controls import Choice, Control, Range
from convlab.explore.explorer import Explorer, Limits
from convlab.reference.padding import Mode
from convlab.spec import ConvSpec
from convlab.spec.axis import Axis, same_padding
from convlab.views.view import View
from convlab.views.window import no_window
from convlab.views.window import window as draw_window

__all__ = ["window"]

_CONTROLS: dict[str, Control] = {
    "h": Range("Input height H", 1, 16),
    "w": Range("Input width W", 1, 16),
    "r": Range("Filter height R", 1, 7),
    "s": Range("Filter width S", 1, 7),
    "stride": Range("Stride", 1, 4),
    "padding": Range("Padding", 0, 4),
    "dilation": Range("Dilation", 1, 3),
    "mode": Choice(
        "Padding is",
        {"number": "a number, as set", "same": "“same”: P = ⌈H / stride⌉", "valid": "“valid”: none"},
    ),
    "border": Choice(
        "Padding shows",
        {
            "zero": "zeros",
            "reflect": "the image, mirrored at its border pixels",
            "replicate": "the border pixels again",
            "circular": "the image’s other end",
        },
    ),
}


def window(
    h: int = 6,
    w: int = 7,
    r: int = 3,
    s: int = 3,
    stride: int = 1,
    padding: int | Literal["same", "valid"] = 1,
    dilation: int = 1,
    border: Mode = "zero",
) -> Explorer:
    """Explore which input cells each output cell reads, with controls for the sizes of the convolution.

    >>> explorer = window(h=5, w=8, r=3, s=2, stride=2, padding="same")
    >>> explorer.view.panels[-1].rows, explorer.view.panels[-1].cols
    (3, 4)

    Parameters: where the controls stand at first, in pixels; stride, padding and dilation are those of both
    axes; ``border`` is what the padding shows, as ``mode`` in ``views.window``. Raises ``ValueError`` for a
    value that its control does not reach.
    """
    mode = padding if padding in ("same", "valid") else "number"
    number = padding if mode == "number" else 0
    initial: dict[str, Any] = {
        "h": h,
        "w": w,
        "r": r,
        "s": s,
        "stride": stride,
        "padding": number,
        "dilation": dilation,
    }
    initial |= {"mode": mode, "border": border}
    instead = "views.window(spec) draws every other size."
    return Explorer("explore.window", _CONTROLS, initial, _draw, limits=_limits, instead=instead)


def _limits(values: Mapping[str, Any]) -> Limits:
    return {"padding": (0, 4) if values["mode"] == "number" else None}


def _draw(h: int, w: int, r: int, s: int, stride: int, padding: int, dilation: int, mode: str, border: Mode) -> View:
    ends = [_PADDINGS[mode](padding, size, taps, stride, dilation) for size, taps in ((h, r), (w, s))]
    rows = Axis("H", h, *ends[0], r, stride, dilation)
    columns = Axis("W", w, *ends[1], s, stride, dilation)
    if rows.problem or columns.problem:
        return no_window(rows, columns, border)
    sizes = {"n": 1, "c": 1, "h": h, "w": w, "k": 1, "r": r, "s": s}
    spec = ConvSpec(**sizes, stride=stride, padding=(*ends[0], *ends[1]), dilation=dilation)
    return draw_window(spec, mode=border)


_PADDINGS: Mapping[str, Callable[[int, int, int, int, int], tuple[int, int]]] = {
    "number": lambda padding, *_: (padding, padding),
    "same": lambda _, *axis: same_padding(*axis),
    "valid": lambda *_: (0, 0),
}
