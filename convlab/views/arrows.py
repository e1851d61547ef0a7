"""Arrows from cell to cell, as two paths for all of a step: what moves from where to where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import hypot
from typing import NamedTuple

from convlab.views.layout import Place

__all__ = ["Paths"]

_CLEAR = 7  # pixels between an arrow's end and the point that it runs to
_HEAD = 6.0  # its length; it is as wide
# The colour is that of the text around the picture, in any theme.
_LOOKS = 'fill="none" stroke="currentColor" pointer-events="none"'
_WEIGHTS = ('stroke-width="1" stroke-opacity="0.45"', 'stroke-width="2" stroke-opacity="0.85"')

Point = tuple[float, float]


class _Box(NamedTuple):
    """A cell as it is drawn: its panel, its left upper corner, its width and its height."""

    panel: str
    x: float
    y: float
    width: float
    height: float


class Paths:
    """Draws arrows between the cells of some panels, which are numbered as ``cell_ids`` does.

    Inside of a panel an arrow runs from the upper left corner of a cell to that of the other, along the lines between
    cells, where no text is; from panel to panel, finer, from edge to edge.

    >>> from convlab.views.grid import Panel
    >>> from convlab.views.layout import arrange
    >>> row = Panel(name="a", title="a", rows=1, cols=3, labels="abc")
    >>> Paths(arrange([row], top=0).places).drawn([(0, 2)])
    ('', 'M47 50L101 50M95 53L101 50L95 47')
    """

    def __init__(self, places: Sequence[Place]) -> None:
        self.places = places
        self._known: dict[tuple[int, int], tuple[bool, str]] = {}  # the same arrows come in many steps

    @cached_property
    def boxes(self) -> list[_Box]:
        """All cells by their number."""
        return [
            _Box(place.panel.name, place.x + col * wide, place.y + row * place.pitch, wide, place.pitch)
            for place, wide in ((place, place.pitch * place.panel.cell_width) for place in self.places)
            for row in range(place.panel.rows)
            for col in range(place.panel.cols)
        ]

    def drawn(self, arrows: Iterable[tuple[int, int]]) -> tuple[str, str]:
        """The data of the two paths that show all arrows: those from panel to panel, and those inside of one."""
        parts: tuple[list[str], list[str]] = [], []
        for arrow in arrows:
            if arrow not in self._known:
                self._known[arrow] = self._drawn(*arrow)
            inside, data = self._known[arrow]
            parts[inside].append(data)
        return "".join(parts[0]), "".join(parts[1])

    def _drawn(self, start: int, end: int) -> tuple[bool, str]:
        a, b = self.boxes[start], self.boxes[end]
        inside = a.panel == b.panel
        return inside, _arrow(*((a.x, a.y), (b.x, b.y)) if inside else (_edge(a, b), _edge(b, a)))

    def layer(self, arrows: Iterable[tuple[int, int]]) -> str:
        """The paths themselves, which the front end fills anew at every step."""
        paths = (f'<path d="{data}" {weight}/>' for data, weight in zip(self.drawn(arrows), _WEIGHTS, strict=True))
        return f'<g class="cl-arrows" {_LOOKS}>{"".join(paths)}</g>'


def _edge(box: _Box, other: _Box) -> Point:
    """Where the line from the middle of a cell to that of another leaves the cell."""
    x, y = box.x + box.width / 2, box.y + box.height / 2
    along, down = other.x + other.width / 2 - x, other.y + other.height / 2 - y
    part = min(size / 2 / abs(way) for size, way in ((box.width, along), (box.height, down)) if way)
    return x + part * along, y + part * down


def _arrow(start: Point, end: Point) -> str:
    (x, y), (to_x, to_y) = start, end
    length = hypot(to_x - x, to_y - y)
    if not length:
        return ""
    along, down = (to_x - x) / length, (to_y - y) / length
    clear = min(_CLEAR, length / 4)
    x, y, to_x, to_y = x + along * clear, y + down * clear, to_x - along * clear, to_y - down * clear
    base_x, base_y, half = to_x - along * _HEAD, to_y - down * _HEAD, _HEAD / 2
    tip = f"{to_x:.0f} {to_y:.0f}"
    wings = [f"{base_x + side * down:.0f} {base_y - side * along:.0f}" for side in (-half, half)]
    return f"M{x:.0f} {y:.0f}L{tip}M{wings[0]}L{tip}L{wings[1]}"
