"""Explore the window of a convolution: which input cells each output cell reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import ipywidgets as widgets
import traitlets

from convlab.explore.controls import Range, check, number_field
from convlab.explore.explorer import Explorer
from convlab.spec import ConvSpec
from convlab.spec.axis import Axis, same_padding
from convlab.views.view import View
from convlab.views.window import no_window
from convlab.views.window import window as draw_window

__all__ = ["WindowExplorer", "window"]


def window(
    h: int = 6,
    w: int = 7,
    r: int = 3,
    s: int = 3,
    stride: int = 1,
    padding: int | Literal["same", "valid"] = 1,
    dilation: int = 1,
) -> WindowExplorer:
    """Explore which input cells each output cell reads, with controls for the sizes of the convolution.

    >>> explorer = window(h=5, w=8, r=3, s=2, stride=2, padding="same")
    >>> explorer.spec.output_shape
    (1, 1, 3, 4)

    Parameters: where the controls stand at first, in pixels; stride, padding and dilation are those of both
    axes. Raises ``ValueError`` for a value that its control does not reach.
    """
    initial = {"h": h, "w": w, "r": r, "s": s, "stride": stride, "dilation": dilation, "padding": padding}
    return WindowExplorer(initial)


_RANGES = {
    "h": Range("Input height H", 1, 16),
    "w": Range("Input width W", 1, 16),
    "r": Range("Filter height R", 1, 7),
    "s": Range("Filter width S", 1, 7),
    "stride": Range("Stride", 1, 4),
    "dilation": Range("Dilation", 1, 3),
    "padding": Range("Padding", 0, 4),
}
_MODES = {"number": "a number, as set", "same": "“same”: P = ⌈H / stride⌉", "valid": "“valid”: none"}


class WindowExplorer(Explorer):
    """The window of a convolution, with controls for its sizes.

    ``mode`` is the control for how the padding is given; ``spec`` is the convolution shown: None where there is no
    output.
    """

    spec = traitlets.Instance(ConvSpec, allow_none=True)

    def __init__(self, initial: Mapping[str, Any]) -> None:
        mode = initial["padding"] if initial["padding"] in _MODES else "number"
        values = {**initial, "padding": initial["padding"] if mode == "number" else 0}
        check("explore.window", values, _RANGES, "views.window(spec) draws every other size.")
        self.mode = _mode(mode)
        super().__init__({name: number_field(_RANGES[name], value) for name, value in values.items()}, [self.mode])

    def look(self) -> View:
        """Make the spec and the picture that belong to the controls."""
        value = {name: number.value for name, number in self.numbers.items()}
        self.numbers["padding"].disabled = self.mode.value != "number"
        steps = value["stride"], value["dilation"]
        ends = [
            _PADDINGS[self.mode.value](value["padding"], size, taps, *steps)
            for size, taps in ((value["h"], value["r"]), (value["w"], value["s"]))
        ]
        rows = Axis("H", value["h"], *ends[0], value["r"], *steps)
        columns = Axis("W", value["w"], *ends[1], value["s"], *steps)
        if rows.problem or columns.problem:
            self.spec = None
            return no_window(rows, columns)
        self.spec = ConvSpec(n=1, c=1, k=1, **value | {"padding": (*ends[0], *ends[1])})
        return draw_window(self.spec)


_PADDINGS: Mapping[str, Callable[[int, int, int, int, int], tuple[int, int]]] = {
    "number": lambda padding, *_: (padding, padding),
    "same": lambda _, *axis: same_padding(*axis),
    "valid": lambda *_: (0, 0),
}


def _mode(value: int | str) -> widgets.Dropdown:
    options = [(words, name) for name, words in _MODES.items()]
    style, layout = {"description_width": "110px"}, {"width": "auto"}
    names = {"description": "Padding is", "tooltip": "How the padding is given"}
    return widgets.Dropdown(options=options, value=value, style=style, layout=layout, **names)
