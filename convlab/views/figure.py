"""A Matplotlib figure with words for those who do not see it."""

from __future__ import annotations

import base64
import io
import json
import struct
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["DPI", "Picture", "figure"]

DPI = 90


@dataclass(frozen=True)
class Picture:
    """A drawn figure: its pixels as a PNG, their number, and what they show in full sentences."""

    png: bytes
    alt: str
    width: int
    height: int

    def __repr__(self) -> str:
        return self.alt

    @property
    def _source(self) -> str:
        return f"data:image/png;base64,{base64.b64encode(self.png).decode('ascii')}"

    @property
    def live(self) -> str:
        """The picture for the front end: an SVG without cells, in which the pixels stand."""
        alt, size = escape(self.alt), f'width="{self.width}" height="{self.height}"'
        metadata = escape(json.dumps({"title": self.alt, "links": "", "frames": []}))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="cl-view" role="img" aria-label="{alt}" {size}'
            f' viewBox="0 0 {self.width} {self.height}"><metadata>{metadata}</metadata>'
            f'<image href="{self._source}" {size}/></svg>'
        )

    @property
    def still(self) -> dict[str, str]:
        """The picture without its widget, by media type, for pages that have no widget manager."""
        return {"text/html": self._repr_html_(), "text/plain": self.alt}

    def _repr_html_(self) -> str:
        return f'<img src="{self._source}" alt="{escape(self.alt)}" style="max-width: 100%">'


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
    drawn.savefig(buffer, format="png", dpi=DPI, bbox_inches="tight", pad_inches=0.1)  # images leave room unused
    pyplot.close(drawn)  # or the notebook would show it a second time
    width, height = struct.unpack(">II", buffer.getvalue()[16:24])
    return Picture(buffer.getvalue(), alt, width, height)
