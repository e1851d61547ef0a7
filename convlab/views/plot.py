"""A Matplotlib figure that is redrawn under a slider: what stays is drawn once, what moves is drawn on top of it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from convlab.views.figure import DPI, Picture

if TYPE_CHECKING:  # Matplotlib takes a second to import: whoever draws nothing with it need not wait
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["HUES", "INK", "QUIET", "Plot", "calm"]

HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")  # of Okabe and Ito (2008)
INK, QUIET = "#1c2733", "#5a6772"


class Plot:
    """A figure whose ``moving`` artists change from picture to picture.

    >>> from matplotlib.figure import Figure
    >>> figure = Figure(figsize=(4, 2))
    >>> (line,) = figure.add_subplot(xlim=(0, 1), ylim=(0, 1)).plot([], [])
    >>> plot = Plot(figure, [line])
    >>> line.set_data([0, 1], [0, 1])
    >>> plot.picture("A rising line.").width
    360

    A whole figure takes 50 ms to draw; a few lines and texts on a background that is kept take a tenth of it.
    """

    def __init__(self, figure: Figure, moving: Sequence[Artist]) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        self.figure, self.moving = figure, moving
        figure.set_dpi(DPI)
        self.canvas = FigureCanvasAgg(figure)
        for artist in moving:
            artist.set_animated(True)
        self.canvas.draw()
        self.background = self.canvas.copy_from_bbox(figure.bbox)

    def picture(self, alt: str) -> Picture:
        """Draw the moving artists as they are now."""
        from matplotlib.image import imsave

        self.canvas.restore_region(self.background)
        for artist in self.moving:
            self.figure.draw_artist(artist)
        pixels, buffer = np.asarray(self.canvas.buffer_rgba()), io.BytesIO()
        imsave(buffer, pixels, format="png", pil_kwargs={"compress_level": 1})
        height, width, _ = pixels.shape
        return Picture(buffer.getvalue(), alt, width, height)


def calm(axes: Axes) -> None:
    """Give axes the quiet look of all plots."""
    axes.grid(which="major", color="#dfe4e8", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(colors=QUIET, labelsize=9)
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)
    axes.title.set_color(INK)
    for side in axes.spines.values():
        side.set_color("#b5bec6")
