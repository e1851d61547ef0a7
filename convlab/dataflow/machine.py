"""Memories and PEs that move real words, one at a time, and count each move."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm.auto import tqdm

from convlab.dataflow.array import TENSORS, Array
from convlab.dataflow.counts import MEMORIES, Counts, Traffic
from convlab.dataflow.nest import Nest
from convlab.dataflow.points import Point, Points, Step, add, part
from convlab.dataflow.trace import PE, Address, Recorder, Work
from convlab.spec import ConvSpec

__all__ = ["Machine"]

PATIENCE = 2  # seconds without a bar


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
        self.points = Points(nest, layer)
        self.dram: dict[str, Any] = {"x": x, "w": w, "y": {}}
        self.buffer: dict[str, dict[Address, float]] = {tensor: {} for tensor in TENSORS}
        self.resumable: set[Address] = set()  # sums that PEs have left in the buffer
        self.elements = [Element(place, offset) for place, offset in self.points.pes()]
        self.count: Counter[tuple[str, str, str]] = Counter()
        self.held: Counter[tuple[str, str]] = Counter()
        self.cycles = self.macs = self.behind = 0
        self.before: Step | None = None

    def run(self) -> None:
        """Do every step, and bring the last sums home."""
        with tqdm(total=self.layer.macs, delay=PATIENCE, leave=False, desc="executing", unit="MAC") as bar:
            for step in self.points.steps():
                self._advance(step)
                bar.update(self.macs - bar.n)
        if self.recorder:
            self.recorder.finish()
        self._collect()
        self._drain()
        if self.array.network == "systolic":
            self.cycles += self.behind

    def _advance(self, step: Step) -> None:
        points = self.points.within(step.start)
        if self.recorder:
            self.recorder.step(step.indices, step.advanced, len(points))
        if self._moves_on("y", step):
            self._collect()
        self._fill_buffer(step)
        self._fill_registers(step)
        for element in self.elements:
            if element.busy:
                self.behind = max(self.behind, sum(element.place))
                self._multiply(element, add(step.start, element.offset), points)
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
            old = None if self.before is None or step.fresh else part(tensor, self.before.tile)
            if part(tensor, step.tile) == old:
                continue
            if tensor == "y":
                self._drain()
            wanted = self.points.footprint(tensor, step.tile, "buffer")
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
            start = add(step.start, element.offset)
            busy = self.points.inside(start)
            for tensor in TENSORS:
                if self._moves_on(tensor, step):
                    tile = self.points.footprint(tensor, start, "regs") if busy else frozenset()
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
            point = add(start, distance)
            if not self.points.inside(point):
                continue
            pixel_at, weight_at, sum_at = self.points.x(point), self.points.w(point), self.points.y(point)
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
