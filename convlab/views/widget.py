"""The one widget of all views: it shows a drawn picture, and lights linked cells without asking the kernel."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import numpy as np
import traitlets

from convlab.views.svg import draw

if TYPE_CHECKING:
    from convlab.views.view import View

__all__ = ["LinkedGrid"]

_HERE = Path(__file__).parent


class LinkedGrid(anywidget.AnyWidget):
    """Shows one view after the other in the same place."""

    _esm = _HERE / "linked_grid.js"
    _css = _HERE / "linked_grid.css"
    # One trait, so that a picture and its links always arrive together.
    picture = traitlets.Dict().tag(sync=True)

    def __init__(self, view: View, **options: Any) -> None:
        super().__init__(**options)
        self.show(view)

    def show(self, view: View) -> None:
        """Replace the picture."""
        self.picture = {
            "svg": draw(view),
            "title": view.title,
            "links": view.links.astype(np.uint32).tobytes(),  # cell, cell, cell, cell, …
            "frames": [asdict(frame) for frame in view.frames],
        }
