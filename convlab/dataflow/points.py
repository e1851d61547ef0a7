"""The points of a nest's loops on a layer, and the word of each tensor that a point needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from convlab.dataflow.nest import INDEXED_BY, LETTERS, Nest, sizes
from convlab.dataflow.trace import PE, Address
from convlab.spec import ConvSpec

__all__ = ["Point", "Points", "Step", "add", "part"]

Point = tuple[int, ...]  # a coordinate for each of LETTERS
_ORIGIN: Point = (0,) * len(LETTERS)
_PLACES = {tensor: tuple(LETTERS.index(letter) for letter in letters) for tensor, letters in INDEXED_BY.items()}


@dataclass(frozen=True, slots=True)
class Step:
    """A point of the loops above the registers: where it starts, where its buffer's tile starts, what has moved."""

    start: Point
    tile: Point
    indices: tuple[int, ...]
    advanced: int
    fresh: bool  # a block of the grid begins, and finds all memories empty

    def index(self, tensor: str) -> Point:
        """What the tensor's tile in the registers follows from."""
        return part(tensor, self.start)


class Points:
    """Walks a fitted nest's loops over a layer."""

    def __init__(self, nest: Nest, layer: ConvSpec) -> None:
        self.nest, self.layer = nest, layer
        self.sizes = tuple(sizes(layer).values())
        self.tiles = {level: tuple(nest.tile(level).values()) for level in ("buffer", "regs")}
        self.footprints: dict[tuple[str, str, Point], frozenset[Address]] = {}

    def steps(self) -> Iterator[Step]:
        """The steps of the loops above the registers, in order."""
        grid = len(self.nest.at("grid"))
        before: tuple[int, ...] | None = None
        for tile, around in self._walk(self._loops("grid", "dram"), _ORIGIN):
            for start, within in self._walk(self._loops("buffer"), tile):
                indices = (*around, *within)
                advanced = 0 if before is None else _first_difference(before, indices)
                yield Step(start, tile, indices, advanced, before is None or advanced < grid)
                before = indices

    def pes(self) -> list[tuple[PE, Point]]:
        """The PEs that the nest uses: each one's place, and how far from a step's start it works."""
        rows, cols = (
            [point for point, _ in self._walk(self._loops(level), _ORIGIN, bounded=False)] for level in ("rows", "cols")
        )
        return [((i, j), add(row, col)) for (i, row), (j, col) in product(enumerate(rows), enumerate(cols))]

    def within(self, start: Point) -> list[Point]:
        """The points of the registers' loops, as distances from where a step starts, in order."""
        points = (point for point, _ in self._walk(self._loops("regs"), start))
        return [tuple(at - begin for at, begin in zip(point, start, strict=True)) for point in points]

    def inside(self, point: Point) -> bool:
        """Whether the layer has a multiply-add there."""
        return all(at < size for at, size in zip(point, self.sizes, strict=True))

    def _loops(self, *levels: str) -> list[tuple[int, int, int]]:
        """Letter, count and stride of each loop of some levels."""
        return [
            (LETTERS.index(loop.letter), loop.times, self.nest.stride(i))
            for i, loop in enumerate(self.nest.order)
            if loop.level in levels
        ]

    def _walk(
        self, loops: Sequence[tuple[int, int, int]], start: Point, bounded: bool = True
    ) -> Iterator[tuple[Point, tuple[int, ...]]]:
        """All points of some loops in order, and each loop's index; a loop ends where the layer does."""
        if not loops:
            yield start, ()
            return
        (letter, times, stride), *rest = loops
        for i in range(times):
            at = start[letter] + i * stride
            if bounded and at >= self.sizes[letter]:
                return
            for point, indices in self._walk(rest, (*start[:letter], at, *start[letter + 1 :]), bounded):
                yield point, (i, *indices)

    def footprint(self, tensor: str, start: Point, level: str) -> frozenset[Address]:
        """The words of a tensor under the tile of a level that starts at a point, padding left out."""
        key = tensor, level, part(tensor, start)
        if key not in self.footprints:
            self.footprints[key] = self._find_footprint(tensor, start, level)
        return self.footprints[key]

    def _find_footprint(self, tensor: str, start: Point, level: str) -> frozenset[Address]:
        ranges = [
            range(at, min(at + far, size)) if place in _PLACES[tensor] else (at,)
            for place, (at, far, size) in enumerate(zip(start, self.tiles[level], self.sizes, strict=True))
        ]
        find = {"x": self.x, "w": self.w, "y": self.y}[tensor]
        addresses = {find(point) for point in product(*ranges)}
        return frozenset(address for address in addresses if address is not None)

    def x(self, point: Point) -> Address | None:
        """The pixel of a point, None where padding is."""
        n, g, _, p, q, c, r, s = point
        (down, right), (row, col), (top, _, left, _) = self.layer.stride, self.layer.dilation, self.layer.padding
        h, w = p * down + r * row - top, q * right + s * col - left
        inside = 0 <= h < self.layer.h and 0 <= w < self.layer.w
        return (n, g * self.sizes[LETTERS.index("c")] + c, h, w) if inside else None

    def w(self, point: Point) -> Address:
        """The weight of a point."""
        _, g, k, _, _, c, r, s = point
        return g * self.sizes[LETTERS.index("k")] + k, c, r, s

    def y(self, point: Point) -> Address:
        """The sum that a point adds to."""
        n, g, k, p, q, *_ = point
        return n, g * self.sizes[LETTERS.index("k")] + k, p, q


def part(tensor: str, point: Point) -> Point:
    """The coordinates that a tensor's index follows from."""
    return tuple(point[place] for place in _PLACES[tensor])


def add(one: Point, other: Point) -> Point:
    """The point as far from one as the other is from the first."""
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _first_difference(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return next(i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
