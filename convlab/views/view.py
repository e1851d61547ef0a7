"""A view: one picture of linked grids, with the words for those who do not see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from convlab.views.grid import Frame, Ids, Panel, cell_ids, join
from convlab.views.palette import KINDS
from convlab.views.svg import draw
from convlab.views.widget import LinkedGrid

__all__ = ["MOST_CELLS", "View"]

MOST_CELLS = 0xFFFF  # of all panels: links travel as 16-bit numbers


@dataclass(frozen=True, eq=False, kw_only=True)
class View:
    """Panels of cells, links between cells, and frames to step through: plain data that shows itself.

    >>> from convlab.views import pairs
    >>> a = Panel(name="a", title="a", rows=1, cols=2, labels=("a[0]", "a[1]"))
    >>> b = Panel(name="b", title="b", rows=1, cols=1, labels=("b[0]",))
    >>> view = View(title="Sum", alt="b is a[0] + a[1].", panels=(a, b), links=pairs([0, 1], 2))
    >>> view.linked(2), view.svg()[:4]
    ([0, 1], '<svg')

    Parameters: ``title`` and ``captions`` are drawn above and below the panels; ``alt`` says in full
    sentences what the picture shows; ``links``, of shape (links, 2), pairs cells by their numbers, as
    ``cell_ids`` counts them, and works in both directions; ``legend`` explains kinds of cells, in other words than
    ``palette.KINDS`` where it has some, and in none where they are empty; ``frames`` are the steps, if any;
    ``example`` is the cell that the still picture shows as if it were pointed at.

    Raises ``ValueError`` when two panels share a name, a cell or a kind is named that is not there, or there are more
    cells than ``MOST_CELLS``.
    """

    title: str
    alt: str
    panels: Sequence[Panel]
    links: Ids = field(default_factory=join)
    captions: Sequence[str] = ()
    legend: Mapping[str, str] = field(default_factory=dict)
    frames: Sequence[Frame] = ()
    example: int | None = None

    def __post_init__(self) -> None:
        names = [panel.name for panel in self.panels]
        if len({*names}) < len(names):
            raise ValueError(f"Panels share a name: {', '.join(names)}.\n  Fix: give each a name of its own.")
        count = sum(panel.rows * panel.cols for panel in self.panels)
        if count > MOST_CELLS:
            raise ValueError(f"The panels have {count} cells, more than {MOST_CELLS}.\n  Fix: show fewer of them.")
        kinds = {*self.legend, *(kind for frame in self.frames for kind in frame.kinds.values())}
        if unknown := kinds - KINDS.keys():
            raise ValueError(f"There are no kinds {sorted(unknown)}.\n  Fix: use {', '.join(KINDS)}.")
        cells = [cell for frame in self.frames for cell in frame.cells]
        cells += [] if self.example is None else [self.example]
        cells += [int(self.links.min()), int(self.links.max())] if self.links.size else []
        if wrong := [cell for cell in cells if not 0 <= cell < count]:
            raise ValueError(
                f"Cell {wrong[0]} is not there: the panels have {count} cells.\n"
                f"  In: the links, frames and example of {self.title!r}\n"
                "  Fix: take the numbers of cells from cell_ids(panels)."
            )

    @cached_property
    def ids(self) -> dict[str, Ids]:
        """The numbers of the cells of each panel, of shape (rows, cols), by the panel's name."""
        return cell_ids(self.panels)

    def linked(self, cell: int) -> list[int]:
        """Give the numbers of the cells that light with a cell, in order."""
        forward, backward = self.links[:, 0] == cell, self.links[:, 1] == cell
        return sorted({*self.links[forward, 1].tolist(), *self.links[backward, 0].tolist()})

    def svg(self, frame: int = 0) -> str:
        """Draw the still picture as an SVG element: the numbered frame, or else the example."""
        if self.frames:
            return draw(self, self.frames[frame])
        if self.example is None:
            return draw(self)
        return draw(self, Frame("", here=self.example, lit=self.linked(self.example)))

    @property
    def live(self) -> str:
        """The picture at rest, for the front end, which marks cells itself."""
        return draw(self)

    @cached_property
    def widget(self) -> LinkedGrid:
        """The live widget of this view, made once however often the view is displayed."""
        return LinkedGrid(self)

    @property
    def still(self) -> dict[str, str]:
        """The picture without its widget, by media type, for pages that have no widget manager."""
        return {"image/svg+xml": self.svg(), "text/plain": self.alt}

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, Any], dict[str, Any]]:
        """Offer the live widget, and the still picture."""
        live, metadata = self.widget._repr_mimebundle_() or ({}, {})
        return live | self.still, metadata
