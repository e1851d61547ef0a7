"""Explorers: views with sliders and number fields, redrawn while a slider moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, Literal, NamedTuple

import ipywidgets as widgets
import traitlets

from convlab.axis import Axis, same_padding
from convlab.spec import ConvSpec
from convlab.views.view import View
from convlab.views.widget import LinkedGrid
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


class _Range(NamedTuple):
    label: str
    least: int
    most: int


_RANGES = {
    "h": _Range("Input height H", 1, 16),
    "w": _Range("Input width W", 1, 16),
    "r": _Range("Filter height R", 1, 7),
    "s": _Range("Filter width S", 1, 7),
    "stride": _Range("Stride", 1, 4),
    "dilation": _Range("Dilation", 1, 3),
    "padding": _Range("Padding", 0, 4),
}
_MODES = {"number": "a number, as set", "same": "“same”: P = ⌈H / stride⌉", "valid": "“valid”: none"}


class WindowExplorer(widgets.VBox):  # type: ignore[misc]
    """The window of a convolution, with a number field and a slider for each of its sizes.

    The controls can be read and set from Python too: ``numbers`` by name, and ``mode``, how the padding is
    given. ``view`` is the picture shown, and ``spec`` its convolution: None where there is no output.
    """

    spec = traitlets.Instance(ConvSpec, allow_none=True)
    view = traitlets.Instance(View)

    def __init__(self, initial: Mapping[str, int | str]) -> None:
        mode = initial["padding"] if initial["padding"] in _MODES else "number"
        values = {**initial, "padding": initial["padding"] if mode == "number" else 0}
        _check(values)
        self.numbers = {name: _number(name, value) for name, value in values.items()}
        self.mode = _mode(mode)
        self._look()
        self._grid = LinkedGrid(self.view)
        fields = [widgets.HBox([number, _slider(number)]) for number in self.numbers.values()]
        layout = {"grid_template_columns": "repeat(auto-fit, minmax(330px, 1fr))", "max_width": "960px"}
        super().__init__([widgets.GridBox([*fields, self.mode], layout=layout), self._grid])
        for control in (*self.numbers.values(), self.mode):
            control.observe(self._redraw, names="value")

    def _redraw(self, _change: object) -> None:
        # JupyterLab keeps a slider's next value back until the kernel is done with the one before, so a fast
        # hand skips values instead of queuing pictures.
        self._look()
        self._grid.show(self.view)

    def _look(self) -> None:
        """Read the controls, and make the spec and the picture that belong to them."""
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
            self.spec, self.view = None, no_window(rows, columns)
            return
        self.spec = ConvSpec(n=1, c=1, k=1, **value | {"padding": (*ends[0], *ends[1])})
        self.view = draw_window(self.spec)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Offer the live explorer, and to pages that have no widget manager the picture alone."""
        live: dict[str, Any] = super()._repr_mimebundle_(**options)
        return live | self.view.still


_PADDINGS: Mapping[str, Callable[[int, int, int, int, int], tuple[int, int]]] = {
    "number": lambda padding, *_: (padding, padding),
    "same": lambda _, *axis: same_padding(*axis),
    "valid": lambda *_: (0, 0),
}


def _check(values: Mapping[str, int | str]) -> None:
    for name, value in values.items():
        _, least, most = _RANGES[name]
        if not isinstance(value, Integral) or not least <= value <= most:
            given = ", ".join(f"{key}={each!r}" for key, each in values.items())
            raise ValueError(
                f"{name}={value!r} is not a whole number from {least} to {most}.\n"
                f"  In: explore.window({given})\n"
                "  Fix: stay within the controls; views.window(spec) draws every other size."
            )


def _number(name: str, value: int | str) -> widgets.BoundedIntText:
    label, least, most = _RANGES[name]
    style = {"description_width": "110px"}
    layout = {"width": "170px"}
    names = {"description": label, "tooltip": label}
    return widgets.BoundedIntText(value, min=least, max=most, style=style, layout=layout, **names)


def _slider(number: widgets.BoundedIntText) -> widgets.IntSlider:
    """Pair a number field with a slider: sliders are quick, fields can be typed into and left by Escape."""
    layout = {"flex": "1 1 auto", "width": "auto"}
    slider = widgets.IntSlider(number.value, min=number.min, max=number.max, readout=False, layout=layout)
    slider.tooltip = number.tooltip
    # In the browser, so that the field follows the hand at once, and no late message can move the slider back.
    for trait in ("value", "disabled"):
        widgets.jslink((number, trait), (slider, trait))
    return slider


def _mode(value: int | str) -> widgets.Dropdown:
    options = [(words, name) for name, words in _MODES.items()]
    style, layout = {"description_width": "110px"}, {"width": "auto"}
    names = {"description": "Padding is", "tooltip": "How the padding is given"}
    return widgets.Dropdown(options=options, value=value, style=style, layout=layout, **names)
