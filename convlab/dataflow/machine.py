"""Memories and PEs that move real words, one at a time, and count each move."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.dataflow.array import TENSORS, Array
from convlab.dataflow.counts import MEMORIES, Counts, Traffic
from convlab.dataflow.nest import INDEXED_BY, LETTERS, Nest, sizes
from convlab.dataflow.trace import PE, Address, Recorder, Work
from convlab.spec import ConvSpec

__all__ = ["Machine", "Step"]

Point = tuple[int, ...]  # a coordinate for each of LETTERS
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
        return _part(tensor, self.start)


@dataclass(slots=True, eq=False)
class Element:
    """A processing element: its place, where in the loops it works, and its registers."""

    place: PE
    offset: Point
    held: dict[str, dict[Address, float]] = field(default_factory=lambda: {tensor: {} for tensor in TENSORS})
    added: set[Address] = field(default_factory=set)  # the sums that have a product of this PE's
    busy: bool = False


class Machine:
    """Runs a fitted nest on a layer: ``x`` (N, C, H, W) and ``w`` (K, C/G, R, S) lie in DRAM, ``y`` will."""

    def __init__(
        self,
        nest: Nest,
        layer: ConvSpec,
        x: npt.NDArray[Any],
        w: npt.NDArray[Any],
        array: Array,
        recorder: Recorder | None,
    ) -> None:
        self.nest, self.layer, self.array, self.recorder = nest, layer, array, recorder
        self.sizes = tuple(sizes(layer).values())
        self.dram: dict[str, Any] = {"x": x, "w": w, "y": {}}
        self.buffer: dict[str, dict[Address, float]] = {tensor: {} for tensor in TENSORS}
        self.resumable: set[Address] = set()  # sums that PEs have left in the buffer
        self.elements = [
            Element((row, col), _add(down, right))
            for (row, down), (col, right) in product(self._places("rows"), self._places("cols"))
        ]
        self.tiles = {level: tuple(nest.tile(level).values()) for level in ("buffer", "regs")}
        self.within = self._steps("regs")
        self.footprints: dict[tuple[str, str, Point], frozenset[Address]] = {}
        self.count: Counter[tuple[str, str, str]] = Counter()
        self.held: Counter[tuple[str, str]] = Counter()
        self.cycles = self.macs = self.behind = 0
        self.before: Step | None = None

    def _places(self, level: str) -> list[tuple[int, Point]]:
        """The index and the offset of each row or column of PEs that the nest uses."""
        return list(enumerate(point for point, _ in self._walk(self._steps(level), (0,) * len(LETTERS), bounded=False)))

    def _steps(self, *levels: str) -> list[tuple[int, int, int]]:
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

    def steps(self) -> Iterator[Step]:
        """The steps of the loops above the registers, in order."""
        grid = len(self.nest.at("grid"))
        before: tuple[int, ...] | None = None
        for tile, around in self._walk(self._steps("grid", "dram"), (0,) * len(LETTERS)):
            for start, within in self._walk(self._steps("buffer"), tile):
                indices = (*around, *within)
                advanced = 0 if before is None else _first_difference(before, indices)
                yield Step(start, tile, indices, advanced, before is None or advanced < grid)
                before = indices

    def run(self) -> None:
        """Do every step, and bring the last sums home."""
        for step in self.steps():
            self._advance(step)
        if self.recorder:
            self.recorder.finish()
        self._collect()
        self._drain()
        if self.array.network == "systolic":
            self.cycles += self.behind

    def _advance(self, step: Step) -> None:
        points = [_subtract(point, step.start) for point, _ in self._walk(self.within, step.start)]
        if self.recorder:
            self.recorder.step(step.indices, step.advanced, len(points))
        if self._moves_on("y", step):
            self._collect()
        self._fill_buffer(step)
        self._fill_registers(step)
        for element in self.elements:
            if element.busy:
                self.behind = max(self.behind, sum(element.place))
                self._multiply(element, _add(step.start, element.offset), points)
        self.cycles += len(points)
        self.before = step
        self._look()

    def _moves_on(self, tensor: str, step: Step) -> bool:
        return step.fresh or self.before is None or step.index(tensor) != self.before.index(tensor)

    def _fill_buffer(self, step: Step) -> None:
        """Make the buffer's tile that of the step: what both tiles have stays, the rest comes from DRAM."""
        if step.fresh:
            self._drain()
            for tensor in TENSORS:
                self.buffer[tensor].clear()
        for tensor in self.nest.keeps:
            old = None if self.before is None or step.fresh else _part(tensor, self.before.tile)
            if _part(tensor, step.tile) == old:
                continue
            if tensor == "y":
                self._drain()
            wanted = self._footprint(tensor, step.tile, "buffer")
            kept = {address: value for address, value in self.buffer[tensor].items() if address in wanted}
            self.buffer[tensor] = kept
            for address in wanted - kept.keys():
                if tensor != "y" or address in self.dram["y"]:
                    kept[address] = self._read_dram(tensor, address)
                    self._move(tensor, address, "dram", "buffer")
                    self.count[tensor, "buffer", "writes"] += 1

    def _fill_registers(self, step: Step) -> None:
        """Give every PE its tile: a word that several want is read once."""
        wanted: defaultdict[tuple[str, Address], list[Element]] = defaultdict(list)
        for element in self.elements:
            start = _add(step.start, element.offset)
            busy = all(at < size for at, size in zip(start, self.sizes, strict=True))
            for tensor in TENSORS:
                if self._moves_on(tensor, step):
                    tile = self._footprint(tensor, start, "regs") if busy else frozenset()
                    held = element.held[tensor] if element.busy and busy and not step.fresh else {}
                    element.held[tensor] = {at: value for at, value in held.items() if at in tile}
                    for address in sorted(tile - element.held[tensor].keys()):
                        wanted[tensor, address].append(element)
            element.busy = busy
        for (tensor, address), takers in wanted.items():
            self._deliver(tensor, address, takers)

    def _deliver(self, tensor: str, address: Address, takers: list[Element]) -> None:
        source = self._home(tensor)
        if tensor == "y":
            if address not in (self.buffer["y"] if source == "buffer" else self.dram["y"]):
                return  # nobody has begun this sum: it begins at zero
            takers = takers[:1]
            self.count["y", "buffer", "resumed"] += address in self.resumable
        value = self._read_buffer(tensor, address) if source == "buffer" else self._read_dram(tensor, address)
        for i, element in enumerate(takers):
            element.held[tensor][address] = value
            self.count[tensor, "register", "writes"] += 1
            hops = self.array.network == "systolic" and i > 0
            self._move(tensor, address, takers[i - 1].place if hops else source, element.place)
        if tensor != "y":
            self.count[tensor, "array", "moves"] += len(takers)
            self.count[tensor, "array", "multicasts"] += len(takers) - 1

    def _multiply(self, element: Element, start: Point, points: Sequence[Point]) -> None:
        """Multiply and add at the points of the registers' loops, in their cycles, as far as the layer reaches."""
        x, w, sums = (element.held[tensor] for tensor in TENSORS)
        done = zeros = found = own = 0
        for cycle, distance in enumerate(points):
            point = _add(start, distance)
            if any(at >= size for at, size in zip(point, self.sizes, strict=True)):
                continue
            pixel_at, weight_at, sum_at = self._x(point), self._w(point), self._y(point)
            pixel, weight = 0.0 if pixel_at is None else x[pixel_at], w[weight_at]
            done, zeros = done + 1, zeros + (pixel_at is None)
            found, own = found + (sum_at in sums), own + (sum_at in element.added)
            sums[sum_at] = sums.get(sum_at, 0.0) + pixel * weight
            element.added.add(sum_at)
            if self.recorder:
                work = Work(pixel_at, weight_at, sum_at, (pixel, weight), sums[sum_at])
                self.recorder.work(cycle, element.place, work)
        self.macs += done
        self.count["x", "register", "reads"] += done - zeros
        self.count["w", "register", "reads"] += done
        self.count["y", "register", "reads"] += found
        self.count["y", "register", "writes"] += done
        self.count["y", "register", "resumed"] += own

    def _collect(self) -> None:
        """Add up what PEs have of the same sums, from PE to PE, and send the totals home."""
        parts: defaultdict[Address, list[Element]] = defaultdict(list)
        for element in self.elements:
            for address in element.held["y"]:
                parts[address].append(element)
        home = self._home("y")
        for address, chain in parts.items():
            total = 0.0
            for i, element in enumerate(chain):
                total += element.held["y"].pop(address)
                self.count["y", "register", "reads"] += 1
                self.count["y", "array", "moves"] += i > 0
                follower = chain[i + 1].place if i + 1 < len(chain) else home
                self._move("y", address, element.place, follower)
            if home == "dram":
                self._write_dram(address, total)
            else:
                self.buffer["y"][address] = total
                self.resumable.add(address)
                self.count["y", "buffer", "writes"] += 1
        for element in self.elements:
            element.added.clear()

    def _drain(self) -> None:
        """Write the buffer's sums to DRAM."""
        for address in list(self.buffer["y"]):
            self._write_dram(address, self._read_buffer("y", address))
            self._move("y", address, "buffer", "dram")
        self.resumable.clear()

    def _home(self, tensor: str) -> str:
        return "buffer" if tensor in self.nest.keeps else "dram"

    def _read_buffer(self, tensor: str, address: Address) -> float:
        self.count[tensor, "buffer", "reads"] += 1
        return self.buffer[tensor].pop(address) if tensor == "y" else self.buffer[tensor][address]

    def _read_dram(self, tensor: str, address: Address) -> float:
        self.count[tensor, "dram", "reads"] += 1
        self.count["y", "dram", "resumed"] += tensor == "y"
        return float(self.dram[tensor][address])

    def _write_dram(self, address: Address, value: float) -> None:
        self.count["y", "dram", "writes"] += 1
        self.dram["y"][address] = value

    def _move(self, tensor: str, address: Address, source: str | PE, target: str | PE) -> None:
        if self.recorder:
            self.recorder.move(tensor, address, source, target)

    def _look(self) -> None:
        """Note how much is held."""
        for tensor in TENSORS:
            most = max(len(element.held[tensor]) for element in self.elements)
            self.held[tensor, "register"] = max(self.held[tensor, "register"], most)
            self.held[tensor, "buffer"] = max(self.held[tensor, "buffer"], len(self.buffer[tensor]))
        if self.recorder:
            for element in self.elements:
                self.recorder.hold(element.place, element.held)

    def _footprint(self, tensor: str, start: Point, level: str) -> frozenset[Address]:
        """The words of a tensor under the tile of a level that starts at a point, padding left out."""
        key = tensor, level, _part(tensor, start)
        if key not in self.footprints:
            self.footprints[key] = self._find_footprint(tensor, start, level)
        return self.footprints[key]

    def _find_footprint(self, tensor: str, start: Point, level: str) -> frozenset[Address]:
        reach = [1] * len(LETTERS)
        for place in _PLACES[tensor]:
            reach[place] = self.tiles[level][place]
        ranges = [
            range(at, min(at + far, max(size, at + (i not in _PLACES[tensor]))))
            for i, (at, far, size) in enumerate(zip(start, reach, self.sizes, strict=True))
        ]
        addresses = {self._address(tensor, point) for point in product(*ranges)}
        return frozenset(address for address in addresses if address is not None)

    def _address(self, tensor: str, point: Point) -> Address | None:
        return {"x": self._x, "w": self._w, "y": self._y}[tensor](point)

    def _x(self, point: Point) -> Address | None:
        n, g, _, p, q, c, r, s = point
        (down, right), (row, col), (top, _, left, _) = self.layer.stride, self.layer.dilation, self.layer.padding
        h, w = p * down + r * row - top, q * right + s * col - left
        inside = 0 <= h < self.layer.h and 0 <= w < self.layer.w
        return (n, g * self.sizes[LETTERS.index("c")] + c, h, w) if inside else None

    def _w(self, point: Point) -> Address:
        _, g, k, _, _, c, r, s = point
        return g * self.sizes[LETTERS.index("k")] + k, c, r, s

    def _y(self, point: Point) -> Address:
        n, g, k, p, q, *_ = point
        return n, g * self.sizes[LETTERS.index("k")] + k, p, q

    def output(self) -> npt.NDArray[np.float64]:
        """The output (N, K, P, Q), NaN where nothing was written."""
        y = np.full(self.layer.output_shape, np.nan)
        for address, value in self.dram["y"].items():
            y[address] = value
        return y

    def counts(self) -> Counts:
        """What was counted so far."""
        fields = ("reads", "writes", "moves", "multicasts", "resumed")
        traffic = {
            (tensor, level): Traffic(**{name: self.count[tensor, level, name] for name in fields})
            for tensor, level in product(TENSORS, MEMORIES)
        }
        return Counts(self.array, self.macs, self.cycles, traffic, dict(self.held))


def _part(tensor: str, point: Point) -> Point:
    return tuple(point[place] for place in _PLACES[tensor])


def _add(one: Point, other: Point) -> Point:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _subtract(one: Point, other: Point) -> Point:
    return tuple(a - b for a, b in zip(one, other, strict=True))


def _first_difference(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return next(i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
