"""The panels of a dataflow's picture: tensors, loop nest, memories and PEs; and where in them a word is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy.typing as npt

from convlab.dataflow.array import TENSORS
from convlab.dataflow.counts import MEMORIES, Counts
from convlab.dataflow.executor import Execution
from convlab.dataflow.nest import LETTERS, SPATIAL, Loop, Nest
from convlab.dataflow.trace import PE, Address, Work
from convlab.views.dataflow_tensors import KINDS, Planes
from convlab.views.grid import Ids, Panel, cell_ids
from convlab.views.words import count_text

__all__ = ["LEVELS", "SLOTS", "Board", "energy_panel", "level_words"]

LEVELS = {"dram": "DRAM", "buffer": "buffer", "array": "PE array", "register": "registers"}
SLOTS = ("w", "x", "y", "sum")  # the cells of a PE, two by two
_STRIP = 12  # cells of a loop: with more indices, each cell stands for several


def level_words(counts: Counts, tensor: str, level: str) -> int:
    """The words of a tensor that go into a level or out of it; at the array, those that PEs take or hand on."""
    traffic = counts[tensor, level]
    return traffic.moves if level == "array" else traffic.reads + traffic.writes


@dataclass(frozen=True, eq=False)
class Board:
    """All panels of an executed nest's picture, and the cells of what the trace names.

    ``values`` are the tensors x and w; ``notes`` say of each loop, by its position, what it moves.
    """

    done: Execution
    values: Mapping[str, npt.NDArray[Any]]
    notes: Mapping[int, str]

    @property
    def nest(self) -> Nest:
        """The nest as it ran."""
        return self.done.nest

    @cached_property
    def loops(self) -> list[int]:
        """The positions of the loops that are shown: those that run more than once, or else the last."""
        shown = [i for i, loop in enumerate(self.nest.order) if loop.times > 1]
        return shown or [len(self.nest.order) - 1]

    @cached_property
    def planes(self) -> dict[str, Planes]:
        """How the tensors, as the loops see them, are laid out."""
        layer = self.done.layer
        shapes = {"x": layer.input_shape, "w": layer.weight_shape, "y": layer.output_shape}
        return {tensor: Planes(tensor, shape) for tensor, shape in shapes.items()}

    @cached_property
    def panels(self) -> list[Panel]:
        """The panels, in the order of their cells' numbers."""
        counts = self.done.counts
        tensors = [planes.panel(self.values.get(tensor)) for tensor, planes in self.planes.items()]
        return [*tensors, energy_panel(counts, line=0), self._nest(), self._memories(), self._pes()]

    @cached_property
    def ids(self) -> dict[str, Ids]:
        """The numbers of the cells, by the panel's name."""
        return cell_ids(self.panels)

    @cached_property
    def places(self) -> dict[tuple[str, Address], int]:
        """The cell of each word of a tensor."""
        return {
            (tensor, at): int(self.ids[tensor][planes.place(at)])
            for tensor, planes in self.planes.items()
            for at in planes.addresses
        }

    @cached_property
    def slots(self) -> dict[PE, list[int]]:
        """The four cells of each PE."""
        cells = self.ids["PEs"]
        array = self.done.counts.array
        return {
            (row, col): cells[2 * row : 2 * row + 2, 2 * col : 2 * col + 2].ravel().tolist()
            for row, col in product(range(array.rows), range(array.cols))
        }

    @cached_property
    def slot(self) -> dict[tuple[PE, str], int]:
        """The cell of a PE that shows its word of a tensor, or its ``sum``."""
        return {(pe, name): cell for pe, cells in self.slots.items() for name, cell in zip(SLOTS, cells, strict=True)}

    def memory(self, tensor: str, level: str) -> int:
        """The cell of a tensor's words at a level."""
        return int(self.ids["words"][MEMORIES.index(level), TENSORS.index(tensor)])

    @cached_property
    def strips(self) -> dict[int, list[int]]:
        """The cell of each index of the loops shown, by the loop's position."""
        rows = zip(self.loops, self.ids["loop nest"].tolist(), strict=True)
        return {i: [row[at // self._chunk(i)] for at in range(self.nest.order[i].times)] for i, row in rows}

    def stands(self, work: Work, level: str = "") -> list[int]:
        """The cells where the loops, or those of one level, stand at a multiply-add."""
        layer = self.done.layer
        n, k, p, q = work.y
        each = layer.k // layer.groups
        point = (n, k // each, k % each, p, q, *work.w[1:])  # as LETTERS
        return [cells[point[at] // far % len(cells)] for name, at, far, cells in self._steps if level in ("", name)]

    @cached_property
    def _steps(self) -> list[tuple[str, int, int, list[int]]]:
        """Of each loop shown: its level, the place of its letter, its stride and its cells."""
        order = self.nest.order
        return [
            (order[i].level, LETTERS.index(order[i].letter), self.nest.stride(i), cells)
            for i, cells in self.strips.items()
        ]

    def _chunk(self, position: int) -> int:
        """How many indices a cell of a loop stands for."""
        return -(-self.nest.order[position].times // _STRIP)

    def _nest(self) -> Panel:
        loops = {i: self.nest.order[i] for i in self.loops}
        cols = max(-(-loop.times // self._chunk(i)) for i, loop in loops.items())
        names, heads = self.nest.names(), {True: "parallel", False: "for"}
        cells = [cell for i, loop in loops.items() for cell in self._loop(i, loop, names[i], cols)]
        labels, values, kinds = zip(*cells, strict=True)
        return Panel(
            name="loop nest",
            title="Loop nest",
            subtitle="lit: now",
            rows=len(loops),
            cols=cols,
            labels=labels,
            values=values,
            kinds=kinds,
            row_index=[f"{loop.level}: {heads[loop.level in SPATIAL]} {names[i]}" for i, loop in loops.items()],
            line=1,
        )

    def _loop(self, position: int, loop: Loop, name: str, cols: int) -> Iterator[tuple[str, str, str]]:
        """Label, value and kind of each cell in the row of a loop; those beyond its end are empty."""
        kind, chunk = "shared" if loop.level in SPATIAL else "plain", self._chunk(position)
        for at in range(0, cols * chunk, chunk):
            if at < loop.times:
                label = f"{loop.level}: {name} = {at} of 0 to {loop.times - 1}. {self.notes[position]}"
                yield label, str(at), kind
            else:
                yield f"beyond the end of {name}", "", "gap"

    def _memories(self) -> Panel:
        counts = self.done.counts
        words = [[level_words(counts, tensor, level) for tensor in TENSORS] for level in MEMORIES]
        most = max(map(max, words))
        return Panel(
            name="words",
            title="Words moved",
            subtitle="so far; bars: in all",
            rows=len(MEMORIES),
            cols=len(TENSORS),
            labels=[
                f"{LEVELS[level]}, {tensor}: {count_text(words[i][j], 'word')} in all, so far"
                for (i, level), (j, tensor) in product(enumerate(MEMORIES), enumerate(TENSORS))
            ],
            values=[f"{each:,}" for row in words for each in row],
            kinds=[KINDS[tensor] for _ in MEMORIES for tensor in TENSORS],
            bars=[each / most for row in words for each in row],
            row_index=[*LEVELS.values()],
            col_index=TENSORS,
            cell_width=3,
            line=1,
            spoken=True,
        )

    def _pes(self) -> Panel:
        array = self.done.counts.array
        names = {"w": "its weight", "x": "its pixel", "y": "its output", "sum": "its sum"}
        cells = [
            (row, col, SLOTS[2 * lower + right])
            for row, lower, col, right in product(range(array.rows), range(2), range(array.cols), range(2))
        ]
        longest = max(len(each.longest) for each in self.planes.values())
        return Panel(
            name="PEs",
            title=f"{array.rows} × {array.cols} PEs",
            subtitle="in each: w x, and below y and its sum",
            rows=2 * array.rows,
            cols=2 * array.cols,
            labels=[f"PE ({row}, {col}), {names[slot]}" for row, col, slot in cells],
            kinds=[KINDS[slot if slot in KINDS else "y"] for _, _, slot in cells],
            row_index=[str(i // 2) if i % 2 == 0 else "" for i in range(2 * array.rows)],
            col_index=[str(i // 2) if i % 2 == 0 else "" for i in range(2 * array.cols)],
            row_lines=range(0, 2 * array.rows + 1, 2),
            col_lines=range(0, 2 * array.cols + 1, 2),
            cell_width=2 if longest <= 5 else 3,
            line=1,
            spoken=True,
        )


def energy_panel(counts: Counts, line: int) -> Panel:
    """Where the energy goes: bars by level and tensor."""
    energies = counts.energies
    parts = [energies[tensor, level] for level in MEMORIES for tensor in TENSORS]
    most = max(parts)
    each = counts.energy / counts.macs
    return Panel(
        name="energy",
        title="Energy",
        subtitle=f"{each:.3g} a multiply-add",
        rows=len(MEMORIES),
        cols=len(TENSORS),
        labels=[
            f"{LEVELS[level]}, {tensor}: energy {energies[tensor, level]:,.0f}, "
            f"{energies[tensor, level] / counts.energy:.0%} of {counts.energy:,.0f}"
            for level in MEMORIES
            for tensor in TENSORS
        ],
        values=[f"{part / counts.energy:.0%}" for part in parts],
        kinds=[KINDS[tensor] for _ in MEMORIES for tensor in TENSORS],
        bars=[part / most for part in parts],
        row_index=[*LEVELS.values()],
        col_index=TENSORS,
        cell_width=2,
        line=line,
    )
