"""Arrows from cell to cell, as one path for all of a step: what moves from where to where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import hypot

from convlab.views.layout import Place

__all__ = ["Paths"]

_CLEAR = 9  # pixels between an arrow's end and the middle of its cell, if there is room
_HEAD = 6.0  # its length; it is as wide
# The colour is that of the text around the picture, in any theme.
_LOOKS = 'fill="none" stroke="currentColor" stroke-width="1.7" stroke-opacity="0.75" pointer-events="none"'


class Paths:
    """Draws arrows between the cells of some panels, which are numbered as ``cell_ids`` does.

    >>> from convlab.views.grid import Panel
    >>> from convlab.views.layout import arrange
    >>> row = Panel(name="a", title="a", rows=1, cols=3, labels="abc")
    >>> Paths(arrange([row], top=0).places).drawn([(0, 2)])
    'M66 67L116 67M110 70L116 67L110 64'
    """

    def __init__(self, places: Sequence[Place]) -> None:
        self.places = places

    @cached_property
    def middles(self) -> list[tuple[float, float]]:
        """The middle of every cell."""
        return [
            (place.x + (col + 0.5) * place.pitch * place.panel.cell_width, place.y + (row + 0.5) * place.pitch)
            for place in self.places
            for row in range(place.panel.rows)
            for col in range(place.panel.cols)
        ]

    def drawn(self, arrows: Iterable[tuple[int, int]]) -> str:
        """The data of a path that shows all arrows."""
        return "".join(_arrow(*self.middles[start], *self.middles[end]) for start, end in arrows if start != end)

    def layer(self, arrows: Iterable[tuple[int, int]]) -> str:
        """The path itself, which the front end fills anew at every step."""
        return f'<path class="cl-arrows" d="{self.drawn(arrows)}" {_LOOKS}/>'


def _arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    length = hypot(to_x - x, to_y - y)
    along, down = (to_x - x) / length, (to_y - y) / length
    clear = min(_CLEAR, length / 4)
    x, y, to_x, to_y = x + along * clear, y + down * clear, to_x - along * clear, to_y - down * clear
    base_x, base_y, half = to_x - along * _HEAD, to_y - down * _HEAD, _HEAD / 2
    tip = f"{to_x:.0f} {to_y:.0f}"
    wings = [f"{base_x + side * down:.0f} {base_y - side * along:.0f}" for side in (-half, half)]
    return f"M{x:.0f} {y:.0f}L{tip}M{wings[0]}L{tip}L{wings[1]}"
