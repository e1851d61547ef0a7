"""The plain data of a picture of linked grids: panels of cells, links between cells, frames to step through."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import numpy.typing as npt

from convlab.views.palette import KINDS, SHADES

__all__ = ["CELL_LIMIT", "Frame", "Ids", "Panel", "cell_ids", "join", "number_text", "pairs"]

Ids = npt.NDArray[np.intp]

CELL_LIMIT = 4096  # of one panel: beyond it cells are too small to see, and the page too slow to answer


@dataclass(frozen=True, eq=False, kw_only=True)
class Panel:
    """One grid of cells; everything that is said or shown of a cell is listed row by row.

    >>> panel = Panel(name="x", title="input x", rows=1, cols=2, labels=("x[0] = 3", "x[1] = 5"), values=("3", "5"))
    >>> panel.rows * panel.cols
    2

    Parameters: ``name`` is the word for the panel in sentences, different from the other panels' names;
    ``title`` and ``subtitle`` stand above it; ``labels`` say in words what each cell is, ``values`` are drawn
    into the cells where these are large enough (none when empty); ``kinds`` colour the cells, one kind of
    ``palette.KINDS`` for all or one for each; ``shades``, numbers from 0 to 1, colour them by value instead;
    ``row_axis``, ``col_axis`` are axis letters, ``row_index``, ``col_index`` the numbers along the edges;
    ``operator`` is drawn before the panel; ``line`` counts the lines of panels from 0, top to bottom;
    ``row_lines`` and ``col_lines`` are the rows and columns before which a heavy line is drawn, as at a block's border;
    ``regions``, a number for each cell, draw a heavy line wherever the number changes, as around blocks of any form,
    and around all of the grid that is not 0;
    ``cell_width`` is the width of a cell, in its heights, for texts and bars; ``bars``, numbers from 0 to 1, fill
    each cell from the left by that part of its width; a ``switch`` panel tells Python which cell is pressed; what a
    step writes into the cells of a ``spoken`` panel is read out with their labels; ``message`` stands in place of a
    panel that has no cells.

    Raises ``ValueError`` when a list does not fit the grid, a kind is unknown, or the grid is larger than
    ``CELL_LIMIT``.
    """

    name: str
    title: str
    rows: int
    cols: int
    labels: Sequence[str]
    values: Sequence[str] = ()
    kinds: str | Sequence[str] = "plain"
    shades: Sequence[float] = ()
    subtitle: str = ""
    row_axis: str = ""
    col_axis: str = ""
    row_index: Sequence[str] = ()
    col_index: Sequence[str] = ()
    operator: str = ""
    line: int = 0
    row_lines: Sequence[int] = ()
    col_lines: Sequence[int] = ()
    regions: Sequence[int] = ()
    cell_width: int = 1
    bars: Sequence[float] = ()
    switch: bool = False
    spoken: bool = False
    message: str = ""

    def __post_init__(self) -> None:
        cells = self.rows * self.cols
        if cells > CELL_LIMIT:
            fix = "Show a part of it, and say in the caption what was left out"
            raise ValueError(f"Panel {self.name!r} has {cells} cells, more than {CELL_LIMIT}.\n  Fix: {fix}.")
        kinds = () if isinstance(self.kinds, str) else self.kinds
        optional = {"values": self.values, "kinds": kinds, "shades": self.shades, "bars": self.bars}
        optional |= {"regions": self.regions}
        edges = {"row_index": (self.row_index, self.rows), "col_index": (self.col_index, self.cols)}
        wanted = {name: (items, cells) for name, items in optional.items()} | edges
        for name, (items, count) in wanted.items():
            if len(items) not in (0, count):
                raise self._misfit(name, len(items), count)
        if len(self.labels) != cells:
            raise self._misfit("labels", len(self.labels), cells)
        if unknown := {*self.cell_kinds} - KINDS.keys():
            known = ", ".join(KINDS)
            raise ValueError(f"Panel {self.name!r} has unknown kinds {sorted(unknown)}.\n  Fix: use {known}.")

    def _misfit(self, name: str, found: int, wanted: int) -> ValueError:
        size = f"{self.rows} × {self.cols}"
        return ValueError(
            f"Panel {self.name!r} has {found} {name} for {wanted} places.\n"
            f"  In: a grid of {size} cells\n"
            f"  Fix: give one of the {name} for each place, row by row."
        )

    @property
    def cell_kinds(self) -> Sequence[str]:
        """The kind of each cell, row by row."""
        return [self.kinds] * (self.rows * self.cols) if isinstance(self.kinds, str) else self.kinds

    @property
    def cell_shades(self) -> list[int]:
        """The step of the colour ramp of each cell, row by row; empty where kinds colour the cells."""
        return [min(SHADES - 1, max(0, int(shade * SHADES))) for shade in self.shades]


def join(*links: Ids) -> Ids:
    """Put several arrays of links, each of shape (links, 2), into one."""
    return np.concatenate(links) if links else np.empty((0, 2), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Frame:
    """One step of a picture: what is said, which cells are marked, and which show another value.

    >>> Frame("first product", here=12, lit=(0, 9), values={12: "6"}).caption
    'first product'

    Parameters: cells are numbers as ``cell_ids`` gives them; ``here`` is the cell that the step is about,
    ``lit`` those that take part in it; ``kinds`` has the cells that take another kind for the step; ``links``, of shape
    (links, 2), join the view's links for the step; ``arrows`` are drawn from one cell to another.
    """

    caption: str
    here: int | None = None
    lit: Sequence[int] = ()
    values: Mapping[int, str] = field(default_factory=dict)
    kinds: Mapping[int, str] = field(default_factory=dict)
    links: Ids = field(default_factory=join)
    arrows: Sequence[tuple[int, int]] = ()

    @property
    def cells(self) -> list[int]:
        """All cells that the frame names, of its links the first and the last."""
        ends = [int(self.links.min()), int(self.links.max())] if self.links.size else []
        here = [] if self.here is None else [self.here]
        return [*here, *self.lit, *self.values, *self.kinds, *ends, *chain.from_iterable(self.arrows)]


def cell_ids(panels: Iterable[Panel]) -> dict[str, Ids]:
    """Number the cells of all panels, row by row and panel by panel.

    >>> cell_ids([Panel(name="x", title="x", rows=2, cols=2, labels="abcd")])["x"].tolist()
    [[0, 1], [2, 3]]

    Returns an array of shape (rows, cols) for each panel's name, to be indexed as the tensor itself.
    """
    ids, first = {}, 0
    for panel in panels:
        count = panel.rows * panel.cols
        ids[panel.name] = np.arange(first, first + count).reshape(panel.rows, panel.cols)
        first += count
    return ids


def pairs(a: npt.ArrayLike, b: npt.ArrayLike) -> Ids:
    """Link each cell of ``a`` with the cell of ``b`` at the same place, after broadcasting the two.

    >>> pairs([[0], [1]], [7, 8]).tolist()
    [[0, 7], [0, 8], [1, 7], [1, 8]]

    Returns an array of shape (links, 2).
    """
    left, right = np.broadcast_arrays(a, b)
    return np.stack([left.ravel(), right.ravel()], axis=1)


def number_text(number: float) -> str:
    """Write a number the way a cell shows it: whole or with three digits, with a true minus sign.

    >>> number_text(-12345), number_text(1 / 3)
    ('−12345', '0.333')
    """
    is_short = float(number).is_integer() and abs(number) < 1e5
    return (f"{number:.0f}" if is_short else f"{number:.3g}").replace("-", "−")
