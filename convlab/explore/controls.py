"""The controls of explorers: a number field with a slider beside it, and the values that the two can reach."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import NamedTuple

import ipywidgets as widgets

__all__ = ["GRID", "Range", "check", "number_field", "with_slider"]

# The layout of a box that holds controls: as many beside each other as fit.
GRID = {"grid_template_columns": "repeat(auto-fit, minmax(330px, 1fr))", "max_width": "960px"}


class Range(NamedTuple):
    """What a control is called, and the values that it reaches."""

    label: str
    least: int
    most: int


def check(call: str, values: Mapping[str, object], ranges: Mapping[str, Range], fix: str) -> None:
    """Raise ``ValueError`` for the first value that its control does not reach; ``fix`` says what reaches further.

    >>> check("explore.latency", {"warps": 0}, {"warps": Range("Warps", 1, 16)}, "views.latency(…) draws the others.")
    Traceback (most recent call last):
    ValueError: warps=0 is not a whole number from 1 to 16.
      In: explore.latency(warps=0)
      Fix: stay within the controls; views.latency(…) draws the others.
    """
    for name, value in values.items():
        _, least, most = ranges[name]
        if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
            given = ", ".join(f"{key}={each!r}" for key, each in values.items())
            raise ValueError(
                f"{name}={value!r} is not a whole number from {least} to {most}.\n"
                f"  In: {call}({given})\n"
                f"  Fix: stay within the controls; {fix}"
            )


def number_field(control: Range, value: int) -> widgets.BoundedIntText:
    """Make the number field of a control."""
    label, least, most = control
    style, layout = {"description_width": "110px"}, {"width": "170px"}
    names = {"description": label, "tooltip": label}
    return widgets.BoundedIntText(value, min=least, max=most, style=style, layout=layout, **names)


def with_slider(number: widgets.BoundedIntText) -> widgets.HBox:
    """Pair a number field with a slider: sliders are quick, fields can be typed into and left by Escape."""
    layout = {"flex": "1 1 auto", "width": "auto"}
    slider = widgets.IntSlider(number.value, min=number.min, max=number.max, readout=False, layout=layout)
    slider.tooltip = number.tooltip
    # In the browser, so that the field follows the hand at once, and no late message can move the slider back.
    for trait in ("value", "disabled"):
        widgets.jslink((number, trait), (slider, trait))
    return widgets.HBox([number, slider])
