"""When a nest's loops advance, and where tiles lie then, letter by letter: steps that count alike are one moment.

Away from the ends of an axis, all steps at which a certain loop advances move the same words. So the number of moments
does not grow with the layer.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import product
from math import prod
from typing import NamedTuple

from convlab.dataflow.nest import LETTERS, SPATIAL, Nest, sizes
from convlab.spec import ConvSpec

__all__ = ["TAP_OF", "Letter", "Line", "Moment", "lines"]

TAP_OF = {"p": "r", "q": "s"}  # letters that share an axis of x


class Moment(NamedTuple):
    """Where a tile starts after and before a loop advances, and how often; None before where nothing was held."""

    after: int
    before: int | None
    times: int


class Letter(NamedTuple):
    """Where the tiles of a level lie along one letter, at all steps at which a certain loop advances.

    ``offsets`` is by how much the PEs along it are apart.
    """

    size: int
    tile: int
    offsets: tuple[int, ...]
    moments: tuple[Moment, ...]


class Line(NamedTuple):
    """One letter above a level: its loops' strides by their positions, and how far all of its loops reach.

    Tiles that start from ``low`` to ``high`` are whole, and touch no padding: all that they count is alike.
    """

    size: int
    tile: int
    offsets: tuple[int, ...]
    strides: dict[int, int]
    reach: int
    low: int
    high: int

    def moments(self, position: int, fresh: bool) -> tuple[Moment, ...]:
        """Where the tile starts, after and before, whenever the loop at a position advances (-1: at the start)."""
        if position < 0:
            return (Moment(0, None, 1),)
        outside = min((stride for i, stride in self.strides.items() if i < position), default=self.reach)
        unit = min(self.strides.values(), default=self.reach)
        if position in self.strides:
            own = self.strides[position]
            every = self._moments(range(own, self.size, own), -unit, unit)
            other = self._moments(range(outside, self.size, outside), -unit, unit)  # an outer loop's, not this one's
            moments = [*every, *(each._replace(times=-each.times) for each in other)]
        else:
            moments = self._moments(range(0, self.size, outside), outside - unit, unit)
        return tuple(each._replace(before=None) if fresh else each for each in moments)

    def _moments(self, starts: range, ahead: int, unit: int) -> list[Moment]:
        """The tile comes to each start from so far ahead, or from the last start there is; what is alike is one."""
        first = bisect_left(starts, max(self.low, self.low - ahead))
        end = max(first, bisect_right(starts, min(self.high, self.high - ahead)))
        last = (self.size - 1) // unit * unit
        edges = [Moment(start, min(start + ahead, last), 1) for start in (*starts[:first], *starts[end:])]
        return edges + [Moment(start, start + ahead, end - first) for start in starts[first:end][:1]]


def lines(nest: Nest, layer: ConvSpec, level: str, above: int) -> dict[str, Line]:
    """Each letter of a nest, seen from a level with so many loops above it."""
    strides = [nest.stride(i) for i in range(len(nest.order))]
    tile, size = nest.tile(level), sizes(layer)
    found = {}
    for letter in LETTERS:
        own = {i: stride for i, stride in enumerate(strides) if nest.order[i].letter == letter}
        spread = [range(0, nest.order[i].times * own[i], own[i]) for i in own if nest.order[i].level in SPATIAL]
        offsets = tuple(sum(each) for each in product(*spread)) if level == "regs" else (0,)
        reach = prod(nest.order[i].times for i in own)
        outer = {i: own[i] for i in own if i < above}
        alike = _alike(layer, letter, size[letter], tile[letter] + max(offsets))
        found[letter] = Line(size[letter], tile[letter], offsets, outer, reach, *alike)
    return found


def _alike(layer: ConvSpec, letter: str, size: int, span: int) -> tuple[int, int]:
    """From where to where all PEs' tiles along a letter, which span so much, are whole and away from padding."""
    if letter in TAP_OF.values():
        return 0, -1  # where a tap falls depends on the output, too
    if letter not in TAP_OF:
        return 0, size - span
    axis = layer.axes["pq".index(letter)]
    last = (axis.size - 1 + axis.before - (axis.window - 1) * axis.dilation) // axis.stride
    return -(-axis.before // axis.stride), last - (span - 1)
