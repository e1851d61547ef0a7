"""Pictures of what a convolution does, as linked grids; ``explore`` adds controls."""

from __future__ import annotations

from convlab.views import explore
from convlab.views.grid import Frame, Panel, cell_ids, join, number_text, pairs
from convlab.views.view import View
from convlab.views.window import window

__all__ = ["Frame", "Panel", "View", "cell_ids", "explore", "join", "number_text", "pairs", "window"]
