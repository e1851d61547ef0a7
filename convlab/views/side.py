"""One side of a window picture: which part of an axis is drawn, and who reads what along it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from convlab.reference.padding import Mode, source_index
from convlab.spec.axis import Axis
from convlab.views.grid import Ids, number_text

__all__ = ["PART", "WHOLE", "Side"]

WHOLE = 34  # cells along a side that are drawn whole: all that the explorer's controls reach
PART = 24  # cells drawn of a longer side, from its beginning, large enough to hold numbers


@dataclass(frozen=True)
class Side:
    """The part of an axis that is drawn; places are counted from the first row (or column) of padding.

    >>> side = Side(Axis("H", size=224, before=3, after=3, window=7, stride=2, dilation=1))
    >>> side.inputs, side.span, side.outputs
    (24, 7, 9)
    >>> side.left_out
    ['24 of 230 input rows', '9 of 112 output rows']

    Where an axis is too long, the outputs drawn are those whose windows are drawn whole, and at least one.

    Parameters: ``mode`` is what the padding shows, as in ``reference.padding``; at most ``whole`` cells are drawn of
    the padded input, and ``part`` of a longer one.
    """

    axis: Axis
    mode: Mode = "zero"
    whole: int = WHOLE
    part: int = PART

    @property
    def inputs(self) -> int:
        """Cells of the padded input that are drawn."""
        return self.axis.padded if self.axis.padded <= self.whole else max(self.part, self.span)

    @property
    def span(self) -> int:
        """Cells of the dilated filter that are drawn, gaps included."""
        return self.axis.effective if self.axis.effective <= self.whole else self.part

    @property
    def outputs(self) -> int:
        """Cells of the output that are drawn."""
        whole = (self.inputs - self.span) // self.axis.stride + 1
        return min(self.axis.outputs, max(1, whole))

    @cached_property
    def sources(self) -> Ids:
        """The index h or w of the pixel that each place of the padded input shows, −1 where it is zero."""
        return source_index(self.axis.size, self.axis.before, self.axis.after, self.mode)

    @property
    def places(self) -> Ids:
        """For each drawn place, the place of the pixel that it shows, drawn or not; −1 where it is zero."""
        sources = self.sources[: self.inputs]
        return np.where(sources < 0, -1, sources + self.axis.before)

    @property
    def inside(self) -> npt.NDArray[np.bool_]:
        """Which of the drawn places are input and not padding."""
        places = np.arange(self.inputs)
        return (places >= self.axis.before) & (places < self.axis.before + self.axis.size)

    @property
    def index(self) -> list[str]:
        """The index h or w of each drawn place, negative in the padding."""
        return [number_text(place - self.axis.before) for place in range(self.inputs)]

    def windows(self) -> Ids:
        """Give the place that each drawn output reads with each tap, of shape (outputs, window)."""
        p = np.arange(self.outputs)[:, np.newaxis]
        return p * self.axis.stride + np.arange(self.axis.window) * self.axis.dilation

    def readings(self) -> tuple[Ids, Ids, Ids]:
        """List which output reads with which tap at which place, as far as drawn."""
        places = self.windows()
        p, r = np.nonzero(places < self.inputs)
        return p, r, places[p, r]

    @property
    def left_out(self) -> list[str]:
        """What is drawn in part, in words."""
        counts = {
            "input": (self.inputs, self.axis.padded),
            "filter": (self.span, self.axis.effective),
            "output": (self.outputs, self.axis.outputs),
        }
        return [
            f"{drawn} of {whole} {name} {self.axis.lines}" for name, (drawn, whole) in counts.items() if drawn < whole
        ]
