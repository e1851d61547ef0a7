"""Four-dimensional tensors as one grid of cells: planes side by side, and where each word is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.dataflow.trace import Address
from convlab.views.grid import Ids, Panel, number_text

__all__ = ["INDICES", "KINDS", "Planes", "word"]

INDICES = {"x": "nchw", "w": "kcrs", "y": "nkpq"}  # of an address
KINDS = {"x": "input", "w": "filter", "y": "output"}
_TITLES = {"x": "Input x", "w": "Weights w", "y": "Output y"}


def word(tensor: str, address: Address) -> str:
    """Name a word of a tensor.

    >>> word("x", (0, 1, 4, 5))
    'x[n=0, c=1, h=4, w=5]'
    """
    index = ", ".join(f"{letter}={at}" for letter, at in zip(INDICES[tensor], address, strict=True))
    return f"{tensor}[{index}]"


@dataclass(frozen=True)
class Planes:
    """How a tensor of this shape is laid out: planes two by two, or filters down and channels across.

    >>> weights = Planes("w", (4, 2, 3, 3))
    >>> weights.size, weights.place((3, 1, 0, 2))
    ((12, 6), (9, 5))
    """

    tensor: str
    shape: tuple[int, ...]

    @cached_property
    def _grid(self) -> tuple[Ids, Ids]:
        """The row and the column of each word, of the tensor's shape."""
        first, second, rows, cols = np.indices(self.shape)
        _, seconds, down, across = self.shape
        if self.tensor == "w" and (seconds > 1 or down == 1):
            return first * down + rows, second * across + cols
        plane, beside = first * seconds + second, 1 if down == 1 else 2
        return plane // beside * down + rows, plane % beside * across + cols

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of the whole grid."""
        rows, cols = self._grid
        return int(rows.max()) + 1, int(cols.max()) + 1

    def place(self, address: Address) -> tuple[int, int]:
        """The row and the column of a word."""
        rows, cols = self._grid
        return int(rows[address]), int(cols[address])

    def short(self, address: Address) -> str:
        """Write an address as short as it can be, without the axes of length 1.

        >>> Planes("x", (1, 2, 6, 6)).short((0, 1, 4, 5)), Planes("w", (1, 1, 1, 1)).short((0, 0, 0, 0))
        ('1,4,5', '0')
        """
        shown = [str(at) for at, size in zip(address, self.shape, strict=True) if size > 1]
        return ",".join(shown) or "0"

    @property
    def longest(self) -> str:
        """The last word's short address."""
        return self.short(tuple(size - 1 for size in self.shape))

    @cached_property
    def addresses(self) -> list[Address]:
        """The words in the order of their cells; the last row of planes may have fewer than the others."""
        rows, cols = self._grid
        order = np.argsort((rows * self.size[1] + cols).ravel())
        return [tuple(map(int, np.unravel_index(at, self.shape))) for at in order]

    def panel(self, values: npt.NDArray[Any] | None) -> Panel:
        """The panel of the tensor with its values, or without while there are none yet."""
        height, width = self.size
        cells: dict[tuple[int, int], Address] = {self.place(at): at for at in self.addresses}
        places = [cells.get((row, col)) for row in range(height) for col in range(width)]
        texts = ["" if at is None or values is None else number_text(values[at]) for at in places]
        names = ["no word" if at is None else word(self.tensor, at) for at in places]
        at_rest = "idle" if values is None else "plain"
        (row_axis, row_index, row_lines), (col_axis, col_index, col_lines) = self._edge(0), self._edge(1)
        return Panel(
            name=self.tensor,
            title=_TITLES[self.tensor],
            subtitle=self._subtitle(),
            rows=height,
            cols=width,
            labels=[f"{name} = {text}" if text else name for name, text in zip(names, texts, strict=True)],
            values=texts if values is not None else (),
            kinds=["gap" if at is None else at_rest for at in places],
            row_axis=row_axis,
            col_axis=col_axis,
            row_index=row_index,
            col_index=col_index,
            row_lines=row_lines,
            col_lines=col_lines,
            cell_width=2 if values is None and self.shape[2] > 1 else 1,  # sums have more digits
            spoken=values is None,
        )

    def _edge(self, axis: int) -> tuple[str, list[str], list[int]]:
        """The letter, the index and the heavy lines along the rows or columns; planes of one row need no lines."""
        size, length, letters = self.shape[2 + axis], self.size[axis], INDICES[self.tensor].upper()
        if size > 1 or length == 1:
            return letters[2 + axis], [str(i % size) for i in range(length)], [*range(size, length, size)]
        named = {"w": letters[axis]}.get(self.tensor, letters[1] if self.shape[1] > 1 else letters[0])
        return named, [str(i) for i in range(length)], []

    def _subtitle(self) -> str:
        """Say which planes there are, if there are several."""
        several = [letter for letter, size in zip(INDICES[self.tensor][:2], self.shape[:2], strict=True) if size > 1]
        if not several or self.shape[2] == 1:
            return ""
        if self.tensor == "w" and self.shape[1] > 1:
            return "k down, c across"
        return f"planes: {', '.join(several)}"
