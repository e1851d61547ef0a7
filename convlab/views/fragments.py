"""Fragments of Tensor Core instructions: which lane of a warp holds which element, and what one step multiplies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Literal

import numpy as np
import numpy.typing as npt

from convlab.emulator.fragments import SHAPES, Fragment, dimensions, fragment
from convlab.views.grid import Frame, Ids, Panel, cell_ids, join, pairs
from convlab.views.view import View

__all__ = ["TYPES", "fragments"]

Instruction = Literal["mma", "wmma"]

# dtype → as PTX calls it, in words, PTX's word for the sums, and these in words
TYPES: Mapping[str, tuple[str, str, str, str]] = {
    "float16": ("f16", "FP16", "f32", "FP32"),
    "bfloat16": ("bf16", "BF16", "f32", "FP32"),
    "tf32": ("tf32", "TF32", "f32", "FP32"),
    "float64": ("f64", "FP64", "f64", "FP64"),
    "int8": ("s8", "INT8", "s32", "INT32"),
    "uint8": ("u8", "UINT8", "s32", "INT32"),
    "int4": ("s4", "INT4", "s32", "INT32"),
    "uint4": ("u4", "UINT4", "s32", "INT32"),
}
_NAMES = {"mma": "mma.sync", "wmma": "wmma"}
_PIECES = {1: ("",), 2: (", low half", ", high half"), 4: tuple(f", byte {i}" for i in range(4))}
_PIECES[8] = tuple(f", bits {4 * i} to {4 * i + 3}" for i in range(8))


@dataclass(frozen=True)
class _Operand:
    """One matrix of the product: its letter, the letters of its axes, and its elements' first holders."""

    letter: str
    axes: tuple[str, str]
    kind: str
    who: Fragment
    register: str  # how an element's number becomes the name of where it lies

    def holders(self) -> Iterator[tuple[int, int, int, int]]:
        """List row, column, lane and number of each element held; of four products at once, those of the first."""
        first = np.broadcast_to(self.who.matrix, self.who.row.shape) == 0
        lanes, numbers = np.nonzero(first)
        places = self.who.row[first], self.who.column[first], lanes, numbers
        yield from zip(*(each.tolist() for each in places), strict=True)

    def where(self, number: int) -> str:
        """Name the register of an element, and the part of it."""
        if self.register == "x":
            return f"x[{number}]"
        index, piece = divmod(number, self.who.per_register)
        return f"register {self.register}{index}{_PIECES[self.who.per_register][piece]}"


def fragments(shape: str = "m16n8k16", dtype: str = "float16", instruction: Instruction = "mma", lane: int = 5) -> View:
    """Show which lane of a warp holds which element of the matrices that a Tensor Core multiplies.

    >>> view = fragments("m16n8k16", "float16", lane=5)
    >>> [(panel.name, panel.rows, panel.cols) for panel in view.panels]
    [('A', 16, 16), ('B', 16, 8), ('D', 16, 8), ('lanes', 1, 32)]
    >>> view.panels[0].labels[16 + 2]
    'A[m=1, k=2]: lane 5, register a0, low half'

    Parameters: ``shape`` as PTX writes it, M × N × K; ``dtype`` of A and B, one of ``TYPES``; ``instruction`` is
    ``"mma"``, whose layout PTX prescribes, or ``"wmma"``, which leaves it open, so that the emulator's choice is shown;
    ``lane`` is the one whose registers are listed. The steps go along k. Raises ``ValueError`` for what the emulator
    does not execute, and for a lane that is not there. Source: PTX ISA, "Warp-level matrix instructions".
    """
    _check(shape, dtype, instruction, lane)
    _, words, _, sum_words = TYPES[dtype]
    operands, panels, ids, links = _board(shape, dtype, instruction)
    title = f"{_NAMES[instruction]} {shape}: D = A · B + C by one warp, {words} factors, {sum_words} sums"
    captions = [_holds(lane, operands), *_notes(instruction, operands)]
    grids = " ".join(f"{panel.title}, {panel.rows} × {panel.cols}, {panel.subtitle}." for panel in panels[:3])
    return View(
        title=title,
        alt=f"{title}. {grids} Each cell has the number of the lane that holds the element. {' '.join(captions)}",
        panels=panels,
        links=links,
        captions=captions,
        legend={"idle": "lanes of the three other products"},
        frames=[_whole(shape, lane, operands, ids), *_steps(shape, ids)],
    )


def _check(shape: str, dtype: str, instruction: str, lane: int) -> None:
    call = f"views.fragments({shape!r}, {dtype!r}, instruction={instruction!r}, lane={lane!r})"
    shapes = SHAPES.get(instruction, {}).get(TYPES[dtype][0] if dtype in TYPES else "", ())
    if shape not in shapes:
        known = [f"{each} of {name}" for name, (kind, *_) in TYPES.items() for each in _shapes(instruction, kind)]
        fix = f"With {instruction!r} there are {', '.join(known)}" if known else "Choose 'mma' or 'wmma'"
        raise ValueError(f"The emulator has no {instruction} {shape} of {dtype}.\n  In: {call}\n  Fix: {fix}.")
    if isinstance(lane, bool) or not isinstance(lane, int) or not 0 <= lane < 32:
        raise ValueError(f"lane={lane!r} is not there.\n  In: {call}\n  Fix: A warp has the lanes 0 to 31.")


def _shapes(instruction: str, kind: str) -> tuple[str, ...]:
    return SHAPES.get(instruction, {}).get(kind, ())


@lru_cache(maxsize=8)
def _board(
    shape: str, dtype: str, instruction: str
) -> tuple[Sequence[_Operand], Sequence[Panel], Mapping[str, Ids], Ids]:
    """Make what does not depend on the lane: operands, panels, the numbers of cells, and links."""
    kind, _, sums, _ = TYPES[dtype]
    operands = _operands(instruction, shape, kind, sums)
    panels = [*(_matrix(operand) for operand in operands), _lanes(operands)]
    ids = cell_ids(panels)
    return operands, panels, ids, _links(operands, ids)


def _operands(instruction: str, shape: str, kind: str, sums: str) -> Sequence[_Operand]:
    def operand(letter: str, axes: tuple[str, str], cells: str, of: str, name: str) -> _Operand:
        layout = "col" if letter == "B" else "row"
        who = fragment(instruction, shape, name, of, layout)
        return _Operand(letter, axes, cells, who, "x" if instruction == "wmma" else letter.lower())

    return (
        operand("A", ("m", "k"), "input", kind, "a"),
        operand("B", ("k", "n"), "filter", kind, "b"),
        operand("D", ("m", "n"), "output", sums, "c"),
    )


def _matrix(operand: _Operand) -> Panel:
    rows, cols = operand.who.shape
    held: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for row, col, lane, number in operand.holders():
        held.setdefault((row, col), []).append((lane, number))
    owner = np.array([held[place][0][0] for place in np.ndindex(rows, cols)]).reshape(rows, cols)
    (i, j), count = operand.axes, operand.who.row.shape[1]
    title, operator = {"A": ("A", ""), "B": ("B", "·"), "D": ("D, and C like it", "=")}[operand.letter]
    return Panel(
        name=operand.letter,
        title=title,
        subtitle=f"{count} element{'s' * (count > 1)} in each lane",
        rows=rows,
        cols=cols,
        labels=[
            f"{operand.letter}[{i}={row}, {j}={col}]: lane {owner[row, col]}, "
            + " and ".join(operand.where(number) for _, number in held[row, col])
            for row, col in np.ndindex(rows, cols)
        ],
        values=[str(lane) for lane in owner.ravel().tolist()],
        kinds=operand.kind,
        row_axis=i.upper(),
        col_axis=j.upper(),
        row_index=[str(row) for row in range(rows)],
        col_index=[str(col) for col in range(cols)],
        row_lines=_again(owner[:, 0]),
        col_lines=_again(owner[0]),
        operator=operator,
    )


def _again(owner: npt.NDArray[np.intp]) -> list[int]:
    """Where the lanes begin anew along an edge: the border of the next register."""
    return [i for i in range(1, len(owner)) if owner[i] == owner[0] != owner[i - 1]]


def _lanes(operands: Sequence[_Operand]) -> Panel:
    counts = np.array([np.bincount([lane for *_, lane, _ in each.holders()], minlength=32) for each in operands])
    held = [f"{a} of A, {b} of B, {d} of D" if a else "works on another product" for a, b, d in counts.T.tolist()]
    return Panel(
        name="lanes",
        title="The 32 lanes of the warp",
        subtitle="point at one to see what it holds",
        rows=1,
        cols=32,
        labels=[f"lane {lane}: {held[lane]}" for lane in range(32)],
        values=[str(lane) for lane in range(32)],
        kinds=["register" if a else "idle" for a in counts[0].tolist()],
        col_lines=range(4, 32, 4),
        line=1,
    )


def _links(operands: Sequence[_Operand], ids: Mapping[str, Ids]) -> Ids:
    """Link each element with its lane, and each sum with its row of A and its column of B."""
    a, b, d = (ids[name] for name in "ABD")
    return join(
        *(pairs(ids[each.letter][row, col], ids["lanes"][0, lane]) for each, row, col, lane in _owners(operands)),
        pairs(d[:, :, np.newaxis], a[:, np.newaxis, :]),
        pairs(d[:, :, np.newaxis], b.T),
    )


def _owners(operands: Sequence[_Operand]) -> Iterator[tuple[_Operand, Ids, Ids, Ids]]:
    """Give the places of each operand's elements, once each, and the lane that holds each."""
    for each in operands:
        found = np.unique([place[:3] for place in each.holders()], axis=0)
        yield each, *found.T


def _whole(shape: str, lane: int, operands: Sequence[_Operand], ids: Mapping[str, Ids]) -> Frame:
    m, n, k = dimensions(shape)
    count = operands[0].who.matrices
    work = f"{f'{count} · ' if count > 1 else ''}{m} · {n} · {k} = {count * m * n * k}"
    lit = [
        int(ids[each.letter][row, col]) for each in operands for row, col, owner, _ in each.holders() if owner == lane
    ]
    caption = f"One instruction, {work} multiply-adds: what lane {lane} brings and takes."
    return Frame(caption, here=int(ids["lanes"][0, lane]), lit=sorted({*lit}))


def _steps(shape: str, ids: Mapping[str, Ids]) -> Iterator[Frame]:
    m, n, depth = dimensions(shape)
    for k in range(depth):
        lit = [*ids["A"][:, k].tolist(), *ids["B"][k].tolist(), *ids["D"].ravel().tolist()]
        words = f"k = {k}: column {k} of A times row {k} of B, {m} · {n} = {m * n} products, one for each sum."
        yield Frame(words, lit=lit)


def _holds(lane: int, operands: Sequence[_Operand]) -> str:
    """List a lane's elements, register by register; wmma's have numbers alone, which cells tell."""
    held = [
        (each, row, col, number) for each in operands for row, col, owner, number in each.holders() if owner == lane
    ]
    if not held:
        return f"Lane {lane} works on another product."
    if operands[0].register == "x":
        counts = ", ".join(f"{each.who.row.shape[1]} of {each.letter}" for each in operands)
        return f"Lane {lane} holds {counts}; point at one to see which element x[i] of the fragment it is."
    registers: dict[str, list[str]] = {}
    for each, row, col, number in held:
        name = f"{each.register}{number // each.who.per_register}"
        registers.setdefault(name, []).append(f"{each.letter}[{row}, {col}]")
    return f"Lane {lane}: " + "; ".join(f"{name} = {', '.join(some)}" for name, some in registers.items()) + "."


def _notes(instruction: str, operands: Sequence[_Operand]) -> Iterator[str]:
    if instruction == "wmma":
        yield "Where wmma keeps an element is not specified: this is the emulator's choice; a GPU may choose otherwise."
    else:
        yield "PTX prescribes this map, so that a kernel can fill the registers itself, as ldmatrix does."
    if 32 * operands[0].who.row.shape[1] > prod(operands[0].who.shape) * operands[0].who.matrices:
        yield "Each element of A and B is held twice, since PTX gives them 16 places in each lane."
    if operands[0].who.matrices > 1:
        yield "Four products at once: the one of lanes 0 to 3 and 16 to 19 is drawn."
