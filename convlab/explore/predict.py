"""Predict, run, look, explain: a field for the learner's guess, and the guess beside what the run says."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import ipywidgets as widgets

__all__ = ["Prediction", "Revealed", "predict"]

_CLOSE = 0.1  # of the result: nobody guesses more closely than that
# Groups of three only, since a decimal comma marks no thousands.
_THOUSANDS = re.compile(r"(?<=\d)[,\s_](?=\d{3}(?!\d))")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_COUNTED = re.compile(r"[a-z-]{3,}[a-rt-z]s")  # "sectors", but not "ms", "bit/s" or "sectors per request"


def predict(question: str, unit: str = "", choices: Sequence[str] | None = None) -> Prediction:
    """Ask for a guess before an experiment: a number, or one of some choices.

    >>> guess = predict("How many sectors does one load of a warp take?", unit="sectors")
    >>> guess.reveal(4)
    No prediction yet; the run says 4 sectors.
    >>> guess.field.value = "32"
    >>> guess.reveal(4)
    You predicted 32 sectors, the run says 4: 8 times fewer.

    Parameters: ``unit`` stands behind the number; ``choices`` are texts to choose from, and no number is asked for.

    Raises ``ValueError`` for fewer than two choices, or one that is there twice.
    """
    return Prediction(question, unit, choices)


@dataclass(frozen=True)
class Revealed:
    """A prediction beside the result: one sentence, and a note on where the result comes from."""

    sentence: str
    note: str = ""

    def __repr__(self) -> str:
        return f"{self.sentence} ({self.note})" if self.note else self.sentence

    def _repr_html_(self) -> str:
        note = f'<br><small style="opacity:0.75">{escape(self.note)}</small>' if self.note else ""
        return f'<div style="{_BOX}">{escape(self.sentence)}{note}</div>'


# Written out, since pages that show a stored notebook drop style sheets; JupyterLab's theme gives the colours.
_BOX = "border-left:4px solid #0072b2;padding:6px 12px;margin:4px 0;line-height:1.5"


class Prediction(widgets.VBox):  # type: ignore[misc]
    """A question with a field for the answer: ``value`` is the guess, None as long as there is none."""

    def __init__(self, question: str, unit: str = "", choices: Sequence[str] | None = None) -> None:
        self.question, self.unit, self.choices = question, unit, choices
        if choices is not None and (len(choices) < 2 or len({*choices}) < len(choices)):
            raise ValueError(
                f"There is nothing to choose from in {list(choices)}.\n"
                f"  In: predict({question!r})\n"
                "  Fix: give two or more choices, each different from the others."
            )
        self.field = _number_field(question) if choices is None else _choice_field(question, choices)
        self._note = widgets.HTML()
        asked = widgets.HTML(f"<b>{escape(question)}</b>")
        super().__init__([asked, widgets.HBox([self.field, widgets.Label(unit)]), self._note])
        self.field.observe(self._read, names="value")

    @property
    def value(self) -> float | str | None:
        """What was predicted; None when nothing was, or nothing that is a number."""
        return _number(self.field.value, self.unit) if self.choices is None else self.field.value

    def reveal(self, actual: float | str, note: str = "", who: str = "the run") -> Revealed:
        """Put the prediction beside the result.

        >>> predict("Which is faster?", choices=["NCHW", "NHWC"]).reveal("NHWC")
        No prediction yet; the run says “NHWC”.

        Parameters: ``actual`` is the result, one of the choices where there are some; ``note`` says where it comes
        from, as "counted, in the emulator"; ``who`` says it, as "the model" or "the data sheet" where nothing ran.

        Raises ``ValueError`` when the result is none of the choices.
        """
        if self.choices is None:
            return Revealed(_numbers_compared(self.value, float(actual), self.unit, who), note)
        if actual not in self.choices:
            raise ValueError(
                f"{actual!r} is none of the choices.\n"
                f"  In: predict({self.question!r}, choices={list(self.choices)})\n"
                "  Fix: reveal one of them."
            )
        return Revealed(_choices_compared(self.field.value, str(actual), who), note)

    def _read(self, change: Any) -> None:
        """Say what was chosen, since a button shows it by its shade alone; or how a number is written."""
        if self.choices is not None:
            words = f"You predict “{self.value}”."
        else:
            words = _HOW if self.value is None and change["new"].strip() else ""
        self._note.value = f"<small>{escape(words)}</small>" if words else ""

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Offer the live field, and to pages that have no widget manager the question."""
        live: dict[str, Any] = super()._repr_mimebundle_(**options)
        choices = f" ({' / '.join(self.choices)})" if self.choices else ""
        text = f"Your prediction: {self.question}{choices}"
        return live | {"text/plain": text, "text/html": f'<div style="{_BOX}">{escape(text)}</div>'}


_HOW = "Not read as a number yet. Write it as 32, 0.5, 1,000 or 1e6."


def _number_field(question: str) -> widgets.Text:
    names = {"description": "Your prediction", "tooltip": question, "placeholder": "a number"}
    return widgets.Text(layout={"width": "250px"}, style={"description_width": "initial"}, **names)


def _choice_field(question: str, choices: Sequence[str]) -> widgets.ToggleButtons:
    # Not radio buttons: JupyterLab takes their arrow keys, and leaves for the next cell.
    style = {"description_width": "initial", "button_width": "auto"}
    names = {"description": "Your prediction", "tooltip": question}
    return widgets.ToggleButtons(options=list(choices), value=None, style=style, **names)


def _number(text: str, unit: str = "") -> float | None:
    """Read what a learner wrote, with or without the unit that stands beside the field.

    >>> _number("1,000"), _number(" 1e6"), _number("−2.5"), _number("2,5"), _number("many"), _number("")
    (1000.0, 1000000.0, -2.5, None, None, None)
    >>> _number("25 %", "%")
    25.0
    """
    written = _THOUSANDS.sub("", text.strip().removesuffix(unit).strip()).replace("−", "-")
    number = float(written) if _NUMBER.fullmatch(written) else math.inf
    return number if math.isfinite(number) else None


def _written(number: float) -> str:
    """Write a number for a sentence: whole, or with three digits that count.

    >>> _written(221184.0), _written(-0.123456), _written(7.0), _written(1.5e20)
    ('221,184', '−0.123', '7', '1.5e+20')
    """
    is_whole = number.is_integer() and abs(number) < 1e15
    is_large = 1000 <= abs(number) < 1e15
    return (f"{number:,.0f}" if is_whole or is_large else f"{number:.3g}").replace("-", "−")


def _with_unit(number: float, unit: str) -> str:
    singular = number == 1 and _COUNTED.fullmatch(unit)
    return f"{_written(number)} {unit[:-1] if singular else unit}".rstrip()


def _numbers_compared(predicted: Any, actual: float, unit: str, who: str) -> str:
    if predicted is None:
        return f"No prediction yet; {who} says {_with_unit(actual, unit)}."
    guess = f"You predicted {_with_unit(predicted, unit)}"
    if math.isclose(predicted, actual, rel_tol=1e-9):
        return f"{guess}, and {who} says the same."
    result = _written(actual) if _COUNTED.fullmatch(unit) else _with_unit(actual, unit)
    difference = f": {_difference(predicted, actual, unit)}" if math.isfinite(actual) else ""
    return f"{guess}, {who} says {result}{difference}."


def _difference(predicted: float, actual: float, unit: str) -> str:
    """Say in words how far the result is from the prediction, in the way that suits the two numbers."""
    is_count = _COUNTED.fullmatch(unit) or (not unit and predicted.is_integer() and actual.is_integer())
    more = "more" if actual > predicted else "fewer" if is_count else "less"
    if unit == "%":  # a percentage of a percentage confuses everybody
        return f"{_with_unit(abs(actual - predicted), 'points')} {more}"
    if predicted * actual <= 0:
        return f"{_written(abs(actual - predicted))} {more}"
    if abs(predicted - actual) <= _CLOSE * abs(actual):
        return f"within {100 * _CLOSE:.0f} %"
    factor = max(actual / predicted, predicted / actual)
    if factor < 2:
        return f"{100 * abs(actual / predicted - 1):.0f} % {more}"
    written = _written(float(f"{factor:.2g}"))
    much = "many" if is_count else "much"
    return f"{written} times as {much}" if actual > predicted else f"{written} times {more}"


def _choices_compared(predicted: str | None, actual: str, who: str) -> str:
    if predicted is None:
        return f"No prediction yet; {who} says “{actual}”."
    if predicted == actual:
        return f"You predicted “{predicted}”, and {who} says the same."
    return f"You predicted “{predicted}”, {who} says “{actual}”."
