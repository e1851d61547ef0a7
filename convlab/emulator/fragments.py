"""Fragments of Tensor Core instructions: which lane of a warp holds which element of a matrix, as index tables.

One rule makes nearly all of them. Cut a matrix into strips of 8 lines by 16 bytes; each strip is one 32-bit register
of every lane: lane ``4·g + t`` holds the ``t``-th four bytes of line ``g``. Registers go down the lines first, then
along them. Lines are the rows of A and C, and the columns of B, so that the numbers of a register lie along the sum (in
A and B) or along a row (in C, whose strips are 8 wide whatever the type). Doubles follow the same rule, one a register.
The half-precision m8n8k4 of Volta is the exception: four products at once, one for each pair of quads.

``mma`` fragments are as PTX prescribes them. ``wmma`` leaves the layout open: here it is the same rule, so that
``frag.x[i]`` of two fragments of a kind means the same element in every lane. In half precision PTX gives A and B 16
elements a lane whatever the shape, so a small matrix is held two or four times; its first holder counts.

Source: PTX ISA, "Warp-level matrix instructions", the figures of mma fragments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convlab.emulator.lanes import Lanes

__all__ = ["BITS", "SHAPES", "Fragment", "access", "dimensions", "fragment", "matrix_rows", "matrix_tiles", "move"]

BITS = {
    **{"f16": 16, "bf16": 16, "tf32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4},
    **{"f32": 32, "s32": 32},
}  # of an element, by type
SHAPES: dict[str, dict[str, tuple[str, ...]]] = {
    "mma": {
        "f16": ("m8n8k4", "m16n8k8", "m16n8k16"),
        "bf16": ("m16n8k8", "m16n8k16"),
        "tf32": ("m16n8k4", "m16n8k8"),
        "f64": ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"),
        **dict.fromkeys(("s8", "u8"), ("m8n8k16", "m16n8k16", "m16n8k32")),
        **dict.fromkeys(("s4", "u4"), ("m8n8k32", "m16n8k32", "m16n8k64")),
    },
    "wmma": {
        **dict.fromkeys(("f16", "bf16", "s8", "u8"), ("m16n16k16", "m32n8k16", "m8n32k16")),
        "tf32": ("m16n16k8",),
        "f64": ("m8n8k4",),
        **dict.fromkeys(("s4", "u4"), ("m8n8k32",)),
    },
}  # instruction → type of A and B → shapes


@dataclass(frozen=True, eq=False)
class Fragment:
    """The part of a matrix in each lane: element ``i`` of lane ``l`` is ``[row[l, i], column[l, i]]``.

    >>> a = fragment("mma", "m16n8k16", "a", "f16")
    >>> a.row.shape, a.registers
    ((32, 8), 4)
    >>> a.row[5].tolist(), a.column[5].tolist()
    ([1, 1, 9, 9, 1, 1, 9, 9], [2, 3, 2, 3, 10, 11, 10, 11])

    Args:
        shape: rows and columns of the matrix.
        row: (32, elements) the row of each element.
        column: (32, elements) its column.
        bits: of an element.
        per_register: elements in a register.
        matrix: (32, elements) which of several matrices it belongs to; all zero but for Volta's four at once.
    """

    shape: tuple[int, int]
    row: NDArray[np.intp]
    column: NDArray[np.intp]
    bits: int
    per_register: int
    matrix: NDArray[np.intp] | int = 0

    @property
    def matrices(self) -> int:
        """How many matrices of this shape a warp holds at once."""
        return int(np.asarray(self.matrix).max()) + 1

    @property
    def registers(self) -> int:
        """How many registers a lane needs: of 32 bits, or of 64 for doubles."""
        elements: int = self.row.shape[1]
        return elements // self.per_register

    @cached_property
    def element(self) -> NDArray[np.intp]:
        """(elements · 32,) the number of the matrix element at each place ``32·i + l``."""
        return ((self.matrix * self.shape[0] + self.row) * self.shape[1] + self.column).T.reshape(-1)

    @cached_property
    def place(self) -> NDArray[np.intp]:
        """(matrix elements,) the place ``32·i + l`` of each element's first holder: the inverse of `element`."""
        places = np.zeros(self.matrices * prod(self.shape), np.intp)
        places[self.element[::-1]] = np.arange(self.element.size)[::-1]  # of equal indices the last one stays
        return places

    def collect(self, registers: Sequence[Any], lanes: Lanes) -> NDArray[Any]:
        """The bits of whole matrices, (matrix elements, warps), from the registers of their lanes."""
        return _elements(registers, self.bits, lanes).take(self.place, axis=0)

    def deal(self, matrices: NDArray[Any], lanes: Lanes) -> tuple[NDArray[Any], ...]:
        """The registers of all lanes from whole matrices: `collect` backwards."""
        return _registers(matrices.take(self.element, axis=0), self.bits, self.per_register, lanes)


def dimensions(shape: str) -> tuple[int, int, int]:
    """M, N and K of a shape as PTX writes it.

    >>> dimensions("m16n8k16")
    (16, 8, 16)
    """
    m, rest = shape.removeprefix("m").split("n")
    n, k = rest.split("k")
    return int(m), int(n), int(k)


@lru_cache(maxsize=256)
def fragment(instruction: str, shape: str, operand: str, kind: str, layout: str = "row") -> Fragment:
    """Who holds which element of an operand.

    >>> fragment("wmma", "m16n16k16", "c", "f32").column[5].tolist()
    [2, 3, 2, 3, 10, 11, 10, 11]

    Args:
        instruction: ``"mma"`` or ``"wmma"``.
        shape: such as ``"m16n8k16"``, one of `SHAPES`.
        operand: ``"a"`` (M × K), ``"b"`` (K × N) or ``"c"`` (M × N, the accumulator).
        kind: the type of this operand, such as ``"f16"``.
        layout: of A or B in ``mma.m8n8k4.f16``, ``"row"`` or ``"col"``; no other fragment depends on it.
    """
    m, n, k = dimensions(shape)
    if (instruction, shape) == ("mma", "m8n8k4") and kind != "f64":
        return _quad_pairs(operand, kind, layout)
    strip = _strip(operand, kind)
    if operand == "b":
        column, row = _spread(n, k, strip)
    else:
        row, column = _spread(m, n if operand == "c" else k, strip)
    if instruction == "wmma" and operand != "c" and kind == "f16":
        row, column = (np.tile(table, 16 // table.shape[1]) for table in (row, column))
    size = {"a": (m, k), "b": (k, n), "c": (m, n)}[operand]
    return Fragment(size, row, column, BITS[kind], max(1, 32 // BITS[kind]))


@lru_cache(maxsize=256)
def access(shape: str, operand: str, kind: str, layout: str) -> tuple[Fragment, int]:
    """How ``wmma.load`` and ``wmma.store`` touch memory: a fragment, and how many of its elements go in one access.

    Our choice, as the layout of `fragment` is: neighbours in memory, 4 bytes of A or B or two accumulators, are one
    access, so that 8 lines of 16 bytes (32 for accumulators) are one request. Where they are no neighbours in the
    registers the warp exchanges them afterwards; where a line is too short for that, elements go one by one.

    >>> half, together = access("m16n16k16", "a", "f16", "col")
    >>> half.row[5].tolist(), half.column[5].tolist(), together
    ([2, 3, 2, 3, 10, 11, 10, 11], [1, 1, 9, 9, 1, 1, 9, 9], 2)
    """
    own = fragment("wmma", shape, operand, kind)
    lines, length = own.shape if layout == "row" else own.shape[::-1]
    together = _strip(operand, kind)
    if lines % 8 or length % (4 * together):
        count = lines * length // 32
        return Fragment(own.shape, own.row[:, :count], own.column[:, :count], own.bits, 1), 1
    tables = _spread(lines, length, together)
    row, column = tables if layout == "row" else tables[::-1]
    return Fragment(own.shape, row, column, own.bits, own.per_register), together


def matrix_tiles(count: int, transposed: bool) -> Fragment:
    """What ``ldmatrix`` fills and ``stmatrix`` empties: ``count`` matrices of 8×8 16-bit elements, one a register."""
    lane, i = np.ogrid[:32, : 2 * count]
    row, column = np.broadcast_arrays(lane // 4, lane % 4 * 2 + i % 2)
    if transposed:
        row, column = column, row
    return Fragment((32, 8), row + i // 2 * 8, column, 16, 2)


def matrix_rows() -> Fragment:
    """What they read and write: each lane a row of 8 elements, the first eight lanes those of the first matrix."""
    row, column = np.broadcast_arrays(*np.ogrid[:32, :8])
    return Fragment((32, 8), row, column, 16, 2)


def move(source: Fragment, target: Fragment, registers: Sequence[Any], lanes: Lanes) -> tuple[NDArray[Any], ...]:
    """The registers of one fragment from those of another one of the same matrix."""
    return target.deal(source.collect(registers, lanes), lanes)


def _strip(operand: str, kind: str) -> int:
    """How many neighbours of a line lie in a lane: 4 bytes of A and B, two accumulators."""
    return 2 if operand == "c" else max(1, 32 // BITS[kind])


def _spread(lines: int, length: int, strip: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rule above: line and position of each element, (32, elements), ``strip`` neighbours of a line at a time."""
    lane, i = np.ogrid[:32, : lines * length // 32]
    number, within = i // strip, i % strip
    line = lane // 4 + 8 * (number % (lines // 8))
    position = strip * (lane % 4 + 4 * (number // (lines // 8))) + within
    return line, position


def _quad_pairs(operand: str, kind: str, layout: str) -> Fragment:
    """Volta's m8n8k4: lanes 4·q … 4·q + 3 and the same plus 16 work on matrix q."""
    lane, i = np.ogrid[:32, : 8 if operand == "c" else 4]
    upper, line = lane // 16 * 4, lane % 4 + lane // 16 * 4
    row, column = {
        ("a", "row"): (line, i),
        ("a", "col"): (i + upper, lane % 4),
        ("b", "row"): (lane % 4, i + upper),
        ("b", "col"): (i, line),
        ("c", "f16"): (line, i),
        ("c", "f32"): ((lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)),
    }[operand, kind if operand == "c" else layout]
    size = {"a": (8, 4), "b": (4, 8), "c": (8, 8)}[operand]
    row, column, matrix = np.broadcast_arrays(row, column, lane // 4 % 4)
    return Fragment(size, row, column, BITS[kind], 32 // BITS[kind], matrix)


def _elements(registers: Sequence[Any], bits: int, lanes: Lanes) -> NDArray[Any]:
    """The elements of some registers, (elements · 32, warps), as unsigned integers of their size; lane fastest."""
    words = _whole(registers, lanes)
    if bits == 4:
        pairs = words.view(np.uint8)
        words = np.stack([pairs & 15, pairs >> 4], axis=-1).reshape(*words.shape[:2], -1)
    else:
        words = words.view(f"u{bits // 8}")
    return words.reshape(len(registers), -1, 32, words.shape[2] // 32).transpose(0, 3, 2, 1).reshape(-1, len(words[0]))


def _registers(elements: NDArray[Any], bits: int, count: int, lanes: Lanes) -> tuple[NDArray[Any], ...]:
    """`_elements` backwards, ``count`` elements a register."""
    apart = np.ascontiguousarray(elements.reshape(-1, count, 32, elements.shape[1]).transpose(0, 3, 2, 1))
    if bits == 4:
        apart = apart[..., ::2] | apart[..., 1::2] << 4
    words = apart.view(f"u{bits * count // 8}")[..., 0]
    return tuple(words.reshape(len(words), -1) if _complete(lanes) else words[:, _ordinal(lanes), lanes.lane])


def _whole(registers: Sequence[Any], lanes: Lanes) -> NDArray[Any]:
    """Some registers of whole warps, (registers, warps, 32); lanes that are not there hold zero."""
    dtype = f"u{registers[0].dtype.itemsize}"
    stacked = np.empty((len(registers), lanes.size), dtype)
    for row, register in zip(stacked, registers, strict=True):
        row[:] = register.view(dtype)
    if _complete(lanes):
        return stacked.reshape(len(registers), -1, 32)
    whole = np.zeros((len(registers), lanes.warps, 32), dtype)
    whole[:, _ordinal(lanes), lanes.lane] = stacked
    return whole


def _complete(lanes: Lanes) -> bool:
    return lanes.size == 32 * lanes.warps


def _ordinal(lanes: Lanes) -> NDArray[np.intp]:
    """The number of each lane's warp among those that are here."""
    return np.cumsum(np.diff(lanes.warp, prepend=lanes.warp[:1]) != 0)
