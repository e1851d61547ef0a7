"""The controls of explorers: what a table of ranges and choices becomes, and the values that they reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import ipywidgets as widgets

__all__ = ["GRID", "Choice", "Control", "Range", "Text", "check", "make", "row"]

# The layout of a box that holds controls: as many beside each other as fit.
GRID = {"grid_template_columns": "repeat(auto-fit, minmax(330px, 1fr))", "max_width": "960px"}
_NAME_WIDTH = {"description_width": "126px"}
_NARROW = 27  # letters of a choice for which a column has room beside its name
_WHOLE_ROW = {"width": "auto", "max_width": "540px", "grid_area": "auto / 1 / auto / -1"}


class Range(NamedTuple):
    """A control for a whole number: what it is called, and the values that it reaches."""

    label: str
    least: int
    most: int

    def problem(self, value: object) -> str:
        """Why a value is none of the control's, as the end of a sentence; empty where it is."""
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        if is_whole and value in range(self.least, self.most + 1):
            return ""
        return f"is not a whole number from {self.least} to {self.most}"

    def read(self, text: str) -> int:
        """Read a value from a link."""
        return int(text)


class Choice(NamedTuple):
    """A control for one of some values: what it is called, and what each value means, in words."""

    label: str
    words: Mapping[str, str]

    def problem(self, value: object) -> str:
        """Why a value is none of the control's, as the end of a sentence; empty where it is."""
        return "" if value in self.words else f"is none of {', '.join(map(repr, self.words))}"

    def read(self, text: str) -> str:
        """Read a value from a link."""
        return text


class Text(NamedTuple):
    """A control for a text: what it is called, some examples, and what raises ``ValueError`` for nonsense."""

    label: str
    examples: Sequence[str]
    parse: Callable[[str], object]

    def problem(self, value: object) -> str:
        """Why a value is none of the control's, as the end of a sentence; empty where it is."""
        try:
            self.parse(str(value))
        except ValueError as problem:
            return "means nothing: " + str(problem).partition("\n")[0].rstrip(".")
        return ""

    def read(self, text: str) -> str:
        """Read a value from a link."""
        return text


Control = Range | Choice | Text


def check(call: str, values: Mapping[str, object], controls: Mapping[str, Control], instead: str) -> None:
    """Raise ``ValueError`` for the first value that its control does not reach; ``instead`` says what reaches further.

    >>> controls = {"warps": Range("Warps", 1, 16)}
    >>> check("explore.latency", {"warps": 0}, controls, "views.latency(…) draws the others.")
    Traceback (most recent call last):
    ValueError: warps=0 is not a whole number from 1 to 16.
      In: explore.latency(warps=0)
      Fix: stay within the controls; views.latency(…) draws the others.
    """
    for name, value in values.items():
        if problem := controls[name].problem(value):
            given = ", ".join(f"{key}={each!r}" for key, each in values.items())
            fix = f"stay within the controls; {instead}" if instead else "stay within the controls."
            raise ValueError(f"{name}={value!r} {problem}.\n  In: {call}({given})\n  Fix: {fix}")


def make(control: Control, value: Any) -> widgets.BoundedIntText | widgets.Dropdown | widgets.Combobox:
    """Make the field of a control: a number field, a list to choose from, or a line of text."""
    names = {"description": control.label, "tooltip": control.label}
    if isinstance(control, Choice):
        options: Sequence[tuple[str, str]] = [(words, each) for each, words in control.words.items()]
        layout = _WHOLE_ROW if max(map(len, control.words.values())) > _NARROW else {"width": "auto"}
        return widgets.Dropdown(options=options, value=value, style=_NAME_WIDTH, layout=layout, **names)
    if isinstance(control, Text):  # which counts when it is entered, not letter by letter
        texts = {"options": [*control.examples], "continuous_update": False}
        return widgets.Combobox(value=value, style=_NAME_WIDTH, layout={"width": "auto"}, **texts, **names)
    limits, digits = {"min": control.least, "max": control.most}, len(str(control.most))
    layout = {"width": f"{186 + 10 * max(0, digits - 3)}px"}
    return widgets.BoundedIntText(value, style=_NAME_WIDTH, layout=layout, **limits, **names)


def row(field: Any) -> Any:
    """Pair a number field with a slider: sliders are quick, fields can be typed into and left by Escape."""
    if not isinstance(field, widgets.BoundedIntText):
        return field
    layout = {"flex": "1 1 auto", "width": "auto"}
    slider = widgets.IntSlider(field.value, min=field.min, max=field.max, readout=False, layout=layout)
    slider.tooltip = field.tooltip
    # In the browser, so that the field follows the hand at once, and no late message can move the slider back.
    for trait in ("value", "disabled", "min", "max"):
        widgets.jslink((field, trait), (slider, trait))
    return widgets.HBox([field, slider])
