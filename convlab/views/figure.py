"""A Matplotlib figure with words for those who do not see it."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Picture", "figure"]


@dataclass(frozen=True)
class Picture:
    """A drawn figure: its pixels as a PNG, and what they show in full sentences."""

    png: bytes
    alt: str

    def __repr__(self) -> str:
        return self.alt

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.png).decode("ascii")
        return f'<img src="data:image/png;base64,{data}" alt="{escape(self.alt)}" style="max-width: 100%">'


def figure(drawn: Figure, alt: str) -> Picture:
    """Show a Matplotlib figure with alternative text, which Jupyter's own display has no place for.

    >>> import matplotlib.pyplot as plt
    >>> drawn, axes = plt.subplots(figsize=(2, 1))
    >>> figure(drawn, alt="An empty pair of axes.")
    An empty pair of axes.

    Parameters: ``drawn``, the figure, which is closed; ``alt``, what it shows, in full sentences. Raises ``ValueError``
    without these.
    """
    if not alt.strip():
        raise ValueError("A picture without words helps only those who see it.\n  Fix: say in alt what it shows.")
    from matplotlib import pyplot

    buffer = io.BytesIO()
    drawn.savefig(buffer, format="png", dpi=90)
    pyplot.close(drawn)  # or the notebook would show it a second time
    return Picture(buffer.getvalue(), alt)
