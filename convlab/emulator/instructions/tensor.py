"""Tensor Core instructions: products of matrices by whole warps, and moving their fragments in and out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convlab.emulator.fragments import (
    BITS,
    SHAPES,
    Fragment,
    access,
    dimensions,
    fragment,
    matrix_rows,
    matrix_tiles,
    move,
)
from convlab.emulator.instructions.table import handles
from convlab.emulator.lanes import WARP, Lanes
from convlab.emulator.memory import Memory
from convlab.emulator.numerics.tensor import DECODE, encode, multiply_add, useful
from convlab.emulator.program import Instruction, Operand, Place, Vector
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES

__all__ = [
    "ACCUMULATORS",
    "Form",
    "Product",
    "form_of",
    "load_matrix",
    "macs",
    "multiply",
    "store_matrix",
    "transpose_matrix",
    "wmma",
]

ACCUMULATORS = {
    "f16": {"f16", "f32"},
    "bf16": {"f32"},
    "tf32": {"f32"},
    "f64": {"f64"},
    **{kind: {"s32"} for kind in ("s8", "u8", "s4", "u4")},
}  # type of A and B → types of C and D
SHAPE = re.compile(r"m\d+n\d+k\d+")
PLAIN = {"mma", "wmma", "sync", "aligned", "satfinite", "rn"}  # parts that need no further thought


@dataclass(frozen=True, slots=True)
class Form:
    """What a product is: ``"mma"`` or ``"wmma"``, its shape, the layouts of A and B, the types of D, A, B and C."""

    instruction: str
    shape: str
    layouts: tuple[str, ...]
    kinds: tuple[str, ...]


def form_of(instruction: Instruction) -> Form | None:
    """The form of an ``mma`` or ``wmma.mma``; ``None`` for one that is not supported."""
    parts = instruction.parts
    shape = next((part for part in parts if SHAPE.fullmatch(part)), "")
    layouts = tuple(part for part in parts if part in ("row", "col"))
    kinds = tuple(part for part in parts if part in BITS)
    if len(kinds) == 2:  # wmma of half precision names D and C only
        kinds = (kinds[0], "f16", "f16", kinds[1])
    if set(parts) - PLAIN - {shape, *layouts, *kinds} or len(kinds) != 4 or len(layouts) != 2:
        return None
    d, a, b, c = kinds
    known = shape in SHAPES[parts[0]].get(a, ()) and {c, d} <= ACCUMULATORS[a]
    same = a == b or {a, b} in ({"s8", "u8"}, {"s4", "u4"})
    free = (parts[0] == "wmma" and a not in ("s4", "u4")) or (a, shape) == ("f16", "m8n8k4")
    if not known or not same or not (free or layouts == ("row", "col")):
        return None
    return Form(parts[0], shape, layouts, kinds)


def macs(known: Form) -> int:
    """Multiply-adds that a warp does in one product; a Tensor Core counts two operations for each."""
    a = fragment(known.instruction, known.shape, "a", known.kinds[1])
    return prod(dimensions(known.shape)) * a.matrices


class Product:
    """D = A·B + C of whole warps, as generated code calls it."""

    def __init__(self, known: Form, saturate: bool) -> None:
        self.kinds = known.kinds
        self.saturate = saturate
        self.macs = macs(known)
        self.d, self.a, self.b, self.c = (
            fragment(known.instruction, known.shape, operand, kind, layout)
            for operand, kind, layout in zip("cabc", known.kinds, ("row", *known.layouts, "row"), strict=True)
        )

    def __call__(self, a: Any, b: Any, c: Any, lanes: Lanes, memory: Memory) -> tuple[NDArray[Any], ...]:
        """The registers of D from those of A, B and C; observers hear of the operations and of the useful ones."""
        x, y, z = self.matrices(a, b, c, lanes)
        for tell in memory.hooks["multiply"]:
            tell(2 * self.macs, 2 * useful(x, y), lanes)
        result = encode(multiply_add(x, y, z), self.kinds[0], self.saturate)
        return self.d.deal(result.reshape(-1, result.shape[-1]), lanes)

    def matrices(self, a: Any, b: Any, c: Any, lanes: Lanes) -> tuple[NDArray[np.float64], ...]:
        """A, B and C as numbers, (matrices, rows, columns, warps)."""
        operands = zip((self.a, self.b, self.c), self.kinds[1:], (a, b, c), strict=True)
        return tuple(
            DECODE[kind](who.collect(registers, lanes)).reshape(who.matrices, *who.shape, -1)
            for who, kind, registers in operands
        )


class Places:
    """The addresses of one access of a ``wmma.load`` or ``wmma.store``, from each lane's place in the matrix."""

    def __init__(self, line: NDArray[np.intp], position: NDArray[np.intp], bits: int) -> None:
        self.line = line
        self.position = position
        self.bits = bits

    def __call__(self, base: Any, stride: Any, lanes: Lanes) -> NDArray[np.int64]:
        """``base`` in bytes, ``stride`` in elements from one line to the next."""
        elements = self.line.take(lanes.lane) * stride + self.position.take(lanes.lane)
        result: NDArray[np.int64] = base + (elements * self.bits >> 3)
        return result


@handles("mma")
def multiply(t: Translator, instruction: Instruction) -> None:
    """``mma.sync`` and ``wmma.mma``."""
    known = form_of(instruction)
    if known is None:
        raise t.unsupported()
    product = Product(known, "satfinite" in instruction.parts)
    target, *operands = instruction.operands
    texts = [
        _tuple(t.read(item, _dtype(who)) for item in _items(t, operand, who))
        for who, operand in zip((product.a, product.b, product.c), operands, strict=True)
    ]
    _need_warps(t)
    _spill(t, target, product.d, f"{t.bind(product)}({', '.join(texts)}, lanes, memory)")


@handles("wmma")
def wmma(t: Translator, instruction: Instruction) -> None:
    """The wmma API: a product, or a fragment from or to memory."""
    {"load": _load, "store": _store, "mma": multiply}[instruction.parts[1]](t, instruction)


def _load(t: Translator, instruction: Instruction) -> None:
    """``wmma.load``: one access after the other, then an exchange where memory and registers differ in order."""
    _need_warps(t)
    own, touched, together = _plan(t, instruction)
    target, address, *stride = instruction.operands
    dtype = _dtype(touched)
    values: list[str] = []
    for place in _places(t, instruction, (own, touched, together), address, stride):
        loaded = t.load(dtype, together // touched.per_register, place)
        names = _names(t, len(loaded))  # of their own: the next load uses the old ones again
        t.emit(f"{_tuple(names)} = {_tuple(loaded)}")
        values += names
    if _same(own, touched):
        for n, item in enumerate(_items(t, target, own)):
            t.write(item, values[n % len(values)], dtype)
    else:
        _spill(t, target, own, f"{t.bind(partial(move, touched, own))}({_tuple(values)}, lanes)")


def _store(t: Translator, instruction: Instruction) -> None:
    """``wmma.store``: `_load` backwards."""
    _need_warps(t)
    own, touched, together = _plan(t, instruction)
    address, source, *stride = instruction.operands
    values = [t.read(item, _dtype(own)) for item in _items(t, source, own)]
    if not _same(own, touched):
        names = _names(t, touched.registers)
        t.emit(f"{_tuple(names)} = {t.bind(partial(move, own, touched))}({_tuple(values)}, lanes)")
        values = names
    count = together // touched.per_register
    for n, place in enumerate(_places(t, instruction, (own, touched, together), address, stride)):
        t.store(_dtype(touched), place, values[count * n : count * (n + 1)])


def _plan(t: Translator, instruction: Instruction) -> tuple[Fragment, Fragment, int]:
    """The fragment of a ``wmma.load`` or ``wmma.store``, how it touches memory, and how many elements at a time."""
    parts = instruction.parts
    operand, kind = parts[2].replace("d", "c"), parts[-1]
    layout, shape = (next((part for part in parts if rule(part)), "") for rule in (_is_layout, SHAPE.fullmatch))
    kinds = [a for a in SHAPES["wmma"] if (kind in ACCUMULATORS[a] if operand == "c" else kind == a)]
    if not layout or not any(shape in SHAPES["wmma"][a] for a in kinds):
        raise t.unsupported()
    own, (touched, together) = fragment("wmma", shape, operand, kind), access(shape, operand, kind, layout)
    if own.bits == 4 and not _same(own, touched):
        raise t.unsupported("4-bit numbers across a line")
    return own, touched, together


def _is_layout(part: str) -> bool:
    return part in ("row", "col")


def _places(
    t: Translator,
    instruction: Instruction,
    plan: tuple[Fragment, Fragment, int],
    address: Operand,
    stride: list[Operand],
) -> list[str]:
    """The names of the addresses of each access."""
    own, touched, together = plan
    across = "row" in instruction.parts
    line, position = (touched.row, touched.column) if across else (touched.column, touched.row)
    step = t.read(stride[0], DTYPES["u32"]) if stride else t.constant(touched.shape[across], DTYPES["u32"])
    names = _names(t, touched.row.shape[1] // together)
    base = t.address(address, t.space())
    t.emit(f"{t.bind(partial(_check_alignment, instruction.place, own))}({base}, {step}, lanes, memory)")
    for n, name in enumerate(names):
        where = Places(line[:, n * together], position[:, n * together], touched.bits)
        t.emit(f"{name} = {t.bind(where)}({base}, {step}, lanes)")
    return names


def _same(own: Fragment, touched: Fragment) -> bool:
    """Whether what was loaded is what the registers hold, apart from a second copy."""
    count = touched.row.shape[1]
    return (
        own.per_register == touched.per_register
        and np.array_equal(own.row[:, :count], touched.row)
        and np.array_equal(own.column[:, :count], touched.column)
    )


@handles("ldmatrix")
def load_matrix(t: Translator, instruction: Instruction) -> None:
    """``ldmatrix``: the first 8, 16 or 32 lanes read a row of 16 bytes each, and every lane gets its pieces."""
    _need_warps(t)
    tiles = _tiles(t, instruction)
    target, address = instruction.operands
    chosen = t.bind(partial(_first, 8 * tiles.registers))
    at, some, where = _names(t, 3)
    t.emit(f"{at}, {some}, {where} = {chosen}({t.address(address, t.space())}, lanes)")
    with _only(t, some):
        words = t.load(DTYPES["u32"], 4, where)
    t.emit(f"{_tuple(words)} = {t.bind(_widened)}({_tuple(words)}, {at}, lanes)")
    _spill(t, target, tiles, f"{t.bind(partial(move, matrix_rows(), tiles))}({_tuple(words)}, lanes)")


@handles("stmatrix")
def store_matrix(t: Translator, instruction: Instruction) -> None:
    """``stmatrix``: `load_matrix` backwards."""
    _need_warps(t)
    tiles = _tiles(t, instruction)
    address, source = instruction.operands
    values = [t.read(item, DTYPES["u32"]) for item in _items(t, source, tiles)]
    at, some, where, *words = _names(t, 7)
    t.emit(f"{_tuple(words)} = {t.bind(partial(move, tiles, matrix_rows()))}({_tuple(values)}, lanes)")
    chosen = t.bind(partial(_first, 8 * tiles.registers))
    t.emit(f"{at}, {some}, {where} = {chosen}({t.address(address, t.space())}, lanes)")
    with _only(t, some):
        t.store(DTYPES["u32"], where, [f"{word}[{at}]" for word in words])


@handles("movmatrix")
def transpose_matrix(t: Translator, instruction: Instruction) -> None:
    """``movmatrix``: the transpose of an 8×8 matrix, from registers to registers."""
    _need_warps(t)
    target, source = instruction.operands
    straight, turned = matrix_tiles(1, transposed=False), matrix_tiles(1, transposed=True)
    value = t.read(source, DTYPES["u32"])
    _spill(t, target, straight, f"{t.bind(partial(move, straight, turned))}({_tuple([value])}, lanes)")


def _tiles(t: Translator, instruction: Instruction) -> Fragment:
    """The matrices of an ``ldmatrix`` or ``stmatrix``."""
    parts = set(instruction.parts)
    count = next((n for n in (1, 2, 4) if f"x{n}" in parts), 0)
    if not count or not {"m8n8", "b16"} <= parts:
        raise t.unsupported()
    return matrix_tiles(count, "trans" in parts)


@contextmanager
def _only(t: Translator, some: str) -> Iterator[None]:
    """Memory instructions act on ``lanes``: for a while these are only some."""
    t.emit(f"everybody, lanes = lanes, {some}")
    yield
    t.emit("lanes = everybody")


def _first(count: int, address: Any, lanes: Lanes) -> tuple[NDArray[np.intp], Lanes, Any]:
    """Those of the first ``count`` lanes of each warp: their positions, themselves, their addresses."""
    at = np.flatnonzero(lanes.lane < count)
    return at, lanes.part(at), address[at] if address.ndim else address


def _widened(values: Any, at: NDArray[np.intp], lanes: Lanes) -> Any:
    """Vectors of all lanes from those of some."""
    whole = np.zeros((len(values), lanes.size), np.uint32)
    for row, value in zip(whole, values, strict=True):
        row[at] = value
    return tuple(whole)


def _need_warps(t: Translator) -> None:
    """Before each of these instructions: report warps of which lanes are missing; they count as zeros."""
    t.emit(f"{t.bind(partial(_check_warps, t.current.place))}(lanes, memory)")


def _check_warps(place: Place, lanes: Lanes, memory: Memory) -> None:
    if lanes.size == WARP * lanes.warps:
        return
    present = np.bincount(lanes.warp)[lanes.warp]
    short = np.flatnonzero(present < WARP)
    message = f"works on a matrix with {present[short[0]]} lanes of its warp: this instruction takes all {WARP}."
    memory.complain("shuffle", "error", place, lanes.part(short), message)


def _check_alignment(place: Place, own: Fragment, base: Any, stride: Any, lanes: Lanes, memory: Memory) -> None:
    """Pointers are multiples of a lane's fragment (PTX ISA, "Address alignment"), lines 128 bits apart (mma.h)."""
    whole = own.row.shape[1] * own.bits // 8
    step = np.broadcast_to(stride.astype(np.int64) * own.bits >> 3, lanes.size)
    off = np.broadcast_to(base & (whole - 1), lanes.size)
    bad = np.flatnonzero(off | step & (min(whole, 16) - 1))
    if bad.size:
        message = (
            f"passes wmma a pointer {off[bad[0]]} bytes past a multiple of {whole}, and lines {step[bad[0]]} bytes "
            f"apart: here pointers must be multiples of {whole} bytes, and lines a multiple of {min(whole, 16)} apart."
        )
        memory.complain("misaligned", "warning", place, lanes.part(bad), message, about="wmma")


def _dtype(who: Fragment) -> np.dtype[Any]:
    """How the registers of a fragment are read: as bits."""
    return np.dtype(f"u{who.bits * who.per_register // 8}")


def _items(t: Translator, operand: Operand, who: Fragment) -> tuple[Operand, ...]:
    """The registers of an operand, as many as its fragment has."""
    items = operand.items if isinstance(operand, Vector) else (operand,)
    if len(items) != who.registers:
        raise t.unsupported(f"{len(items)} registers where the fragment has {who.registers}")
    return items


def _spill(t: Translator, target: Operand, who: Fragment, call: str) -> None:
    """Write what a call returns to the registers of a fragment."""
    names = _names(t, who.registers)
    t.emit(f"{_tuple(names)} = {call}")
    for item, name in zip(_items(t, target, who), names, strict=True):
        t.write(item, name, _dtype(who))


def _names(t: Translator, count: int) -> list[str]:
    """Fresh names of Python variables."""
    return [f"m{len(t.lines)}_{n}" for n in range(count)]


def _tuple(texts: Any) -> str:
    return f"({', '.join(texts)},)"
