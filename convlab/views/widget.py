"""The one widget of all views: it shows a drawn picture, and lights linked cells without asking the kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import anywidget
import traitlets

__all__ = ["SCRIPT", "STYLES", "LinkedGrid", "Shown"]

SCRIPT, STYLES = (Path(__file__).with_name(f"linked_grid.{kind}") for kind in ("js", "css"))


class Shown(Protocol):
    """What a widget or a page shows: a view, or a plot."""

    @property
    def live(self) -> str:
        """The picture at rest, as an SVG."""

    @property
    def still(self) -> dict[str, str]:
        """The picture by media type, for pages that have no widget manager."""


class LinkedGrid(anywidget.AnyWidget):
    """Shows one picture after the other in the same place.

    ``picture`` is an SVG as `convlab.views.svg.draw` makes it, or a plot's.
    ``pressed`` is the number of the cell of a switch panel that was pressed last, and how often one was. ``call`` and
    ``state``, set by an explorer, make the link that restores it; ``wish`` is the state of the link that the page was
    opened with.
    """

    _esm = SCRIPT
    _css = STYLES
    picture = traitlets.Unicode().tag(sync=True)
    pressed = traitlets.Tuple((-1, 0)).tag(sync=True)
    call = traitlets.Unicode().tag(sync=True)
    state = traitlets.Unicode().tag(sync=True)
    wish = traitlets.Unicode().tag(sync=True)

    def __init__(self, view: Shown, **options: Any) -> None:
        super().__init__(picture=view.live, **options)
