"""One spatial axis of a convolution: how many window positions it has, and the formula that says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["Axis", "same_padding"]


@dataclass(frozen=True, slots=True)
class Axis:
    """One spatial axis of a convolution, which may turn out to have no output at all.

    >>> Axis("H", size=5, before=1, after=1, window=3, stride=2, dilation=2).outputs
    2
    >>> print(Axis("W", size=4, before=0, after=0, window=7, stride=1, dilation=1).problem)
    the window spans 7 columns but the padded input has 4

    Parameters: ``name`` is "H" or "W"; ``size`` is the input's extent, ``before`` and ``after`` the padding
    at the two ends, ``window`` the filter's extent (R or S), ``stride`` and ``dilation`` the two steps, all
    in pixels. The numbers are taken as they are: ``ConvSpec`` checks them, a slider cannot leave its range.

    Source: Dumoulin and Visin, A guide to convolution arithmetic for deep learning (2016), relationship 15,
    with the padding of the two ends kept apart.
    """

    name: Literal["H", "W"]
    size: int
    before: int
    after: int
    window: int
    stride: int
    dilation: int

    @property
    def padded(self) -> int:
        """The input's extent with the padding at both ends."""
        return self.size + self.before + self.after

    @property
    def effective(self) -> int:
        """The extent that the dilated window spans, gaps included: dilation·(window − 1) + 1."""
        return self.dilation * (self.window - 1) + 1

    @property
    def outputs(self) -> int:
        """The number of window positions: P or Q, and 0 where the window does not fit."""
        return max(0, self._formula_value)

    @property
    def lines(self) -> str:
        """What the axis counts: "rows" or "columns"."""
        return _WORDS[self.name].lines

    @property
    def problem(self) -> str | None:
        """Why the axis has no output, as a clause; None where it has one."""
        if self.effective <= self.padded:
            return None
        return f"the window spans {self.effective} {self.lines} but the padded input has {self.padded}"

    def explain(self) -> str:
        """Give the output-size formula in letters and with the numbers filled in, on one line of plain text.

        >>> print(Axis("H", size=5, before=1, after=1, window=3, stride=2, dilation=2).explain())
        P = ⌊(H + top + bottom − dilation·(R − 1) − 1) / stride⌋ + 1
          = ⌊(5 + 1 + 1 − 2·(3 − 1) − 1) / 2⌋ + 1 = 2

        An axis without an output says so, and why, at the end of the line.
        """
        words = _WORDS[self.name]
        letters = _formula(self.name, words.before, words.after, "dilation", words.window, "stride")
        numbers = _formula(self.size, self.before, self.after, self.dilation, self.window, self.stride)
        value = str(self._formula_value).replace("-", "−")
        text = f"{words.output} = {letters} = {numbers} = {value}"
        return text if self.problem is None else f"{text}: no output, because {self.problem}"

    @property
    def _formula_value(self) -> int:
        return (self.padded - self.effective) // self.stride + 1


def same_padding(size: int, window: int, stride: int, dilation: int) -> tuple[int, int]:
    """Give the padding (before, after) with which an axis has ⌈size / stride⌉ outputs.

    >>> same_padding(size=6, window=3, stride=2, dilation=1)
    (0, 1)

    An odd pixel goes to the end, as in TensorFlow's SAME and ONNX's SAME_UPPER. Parameters are those of
    ``Axis``.
    """
    outputs = -(-size // stride)
    total = max(0, (outputs - 1) * stride + dilation * (window - 1) + 1 - size)
    return total // 2, total - total // 2


class _Words(NamedTuple):
    output: str
    before: str
    after: str
    window: str
    lines: str


_WORDS = {
    "H": _Words("P", "top", "bottom", "R", "rows"),
    "W": _Words("Q", "left", "right", "S", "columns"),
}


def _formula(*terms: str | int) -> str:
    return "⌊({} + {} + {} − {}·({} − 1) − 1) / {}⌋ + 1".format(*terms)
