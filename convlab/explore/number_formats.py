"""Explore number formats: flip the bits of a number, or round one to a format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convlab.explore.controls import Choice, Control, Text
from convlab.explore.explorer import Explorer
from convlab.views.formats import FORMATS
from convlab.views.number_formats import code_of, written
from convlab.views.number_formats import number_formats as draw

__all__ = ["number_formats"]

_WIDEST = FORMATS["float32"]
_EXAMPLES = ("0.1", "1", "-2.5", "3.14159265", "300", "65504", "1e6", "1e-7", "1e-40", "0", "inf", "nan", "0x7c")
_CONTROLS: dict[str, Control] = {
    "dtype": Choice("Format", {name: form.words for name, form in FORMATS.items()}),
    "number": Text("Number, or bits", _EXAMPLES, lambda text: code_of(text, _WIDEST)),
}


def number_formats(number: float | str = "0.1", dtype: str = "float16") -> Explorer:
    """Explore number formats, with a field for the number, a list of formats, and bits that a press flips.

    >>> explorer = number_formats("1", "float16")
    >>> explorer._grid.pressed = (1, 1)  # the highest bit of the exponent
    >>> explorer.values, explorer.view.value
    ({'dtype': 'float16', 'number': 'inf'}, inf)

    Parameters: where the controls stand at first, as in ``views.number_formats``. Raises ``ValueError`` for a value
    that its control does not reach.
    """
    initial = {"dtype": dtype, "number": str(number)}
    return Explorer("explore.number_formats", _CONTROLS, initial, draw, press=_flipped)


def _flipped(values: Mapping[str, Any], cell: int) -> Mapping[str, Any]:
    """Flip a bit: the bits are the first cells of the picture, from the left."""
    form = FORMATS[values["dtype"]]
    code = code_of(values["number"], form)
    return {"number": written(form, code ^ 1 << (form.bits - 1 - cell))}
