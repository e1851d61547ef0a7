"""Who holds which element: the tables against the formulas of the PTX ISA, lane by lane."""

from __future__ import annotations

import numpy as np
import pytest

from convlab.emulator.fragments import (
    BITS,
    SHAPES,
    access,
    dimensions,
    fragment,
    matrix_rows,
    matrix_tiles,
    move,
)
from convlab.emulator.lanes import Lanes, Residents

ACCUMULATOR = {"f64": "f64", "s8": "s32", "u8": "s32", "s4": "s32", "u4": "s32"}
ALL = [(i, shape, kind) for i, kinds in SHAPES.items() for kind, shapes in kinds.items() for shape in shapes]

# (shape, types) → element i of lane 4·g + t, as PTX writes it: A (row, k), B (k, column), C (row, column).
FORMULAS = {
    ("m16n8k16", "f16 bf16"): (
        8,
        lambda g, t, i: (g if i < 2 or 4 <= i < 6 else g + 8, t * 2 + (i & 1) + (8 if i >= 4 else 0)),
        4,
        lambda g, t, i: (t * 2 + (i & 1) + (8 if i >= 2 else 0), g),
    ),
    ("m16n8k8", "f16 bf16"): (
        4,
        lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1)),
        2,
        lambda g, t, i: (t * 2 + i, g),
    ),
    ("m16n8k8", "tf32 f64"): (
        4,
        lambda g, t, i: (g if i in (0, 2) else g + 8, t if i < 2 else t + 4),
        2,
        lambda g, t, i: (t if i == 0 else t + 4, g),
    ),
    ("m16n8k4", "tf32 f64"): (2, lambda g, t, i: (g + 8 * i, t), 1, lambda g, t, i: (t, g)),
    ("m16n8k16", "f64"): (
        8,
        lambda g, t, i: (g + 8 * (i % 2), i * 2 - 2 * (i % 2) + t),
        4,
        lambda g, t, i: (t + 4 * i, g),
    ),
    ("m8n8k4", "f64"): (1, lambda g, t, i: (g, t), 1, lambda g, t, i: (t, g)),
    ("m8n8k16", "s8 u8"): (4, lambda g, t, i: (g, 4 * t + i), 4, lambda g, t, i: (4 * t + i, g)),
    ("m16n8k16", "s8 u8"): (
        8,
        lambda g, t, i: (g if i < 4 else g + 8, 4 * t + (i & 3)),
        4,
        lambda g, t, i: (4 * t + i, g),
    ),
    ("m16n8k32", "s8 u8"): (
        16,
        lambda g, t, i: (g if i < 4 or 8 <= i < 12 else g + 8, 4 * t + (i & 3) + (16 if i >= 8 else 0)),
        8,
        lambda g, t, i: (4 * t + (i & 3) + (16 if i >= 4 else 0), g),
    ),
    ("m8n8k32", "s4 u4"): (8, lambda g, t, i: (g, 8 * t + i), 8, lambda g, t, i: (8 * t + i, g)),
    ("m16n8k32", "s4 u4"): (
        16,
        lambda g, t, i: (g if i < 8 else g + 8, 8 * t + (i & 7)),
        8,
        lambda g, t, i: (8 * t + i, g),
    ),
    ("m16n8k64", "s4 u4"): (
        32,
        lambda g, t, i: (g if i < 8 or 16 <= i < 24 else g + 8, 8 * t + (i & 7) + (32 if i >= 16 else 0)),
        16,
        lambda g, t, i: (8 * t + (i & 7) + (32 if i >= 8 else 0), g),
    ),
}
CASES = [(shape, kind, *rest) for (shape, kinds), rest in FORMULAS.items() for kind in kinds.split()]


def warps(count: int, threads: int = 32) -> Lanes:
    return Residents(np.arange(count), threads).everybody


def table(who) -> list[list[tuple[int, int]]]:
    return [
        list(zip(rows, columns, strict=True))
        for rows, columns in zip(who.row.tolist(), who.column.tolist(), strict=True)
    ]


def test_every_shape_has_a_formula():
    known = {(shape, kind) for shape, kind, *_ in CASES} | {("m8n8k4", "f16")}
    assert known == {(shape, kind) for kind, shapes in SHAPES["mma"].items() for shape in shapes}


@pytest.mark.parametrize(("shape", "kind", "count_a", "a", "count_b", "b"), CASES)
def test_mma_fragments(shape, kind, count_a, a, count_b, b):
    m, _, _ = dimensions(shape)
    formulas = {
        "a": (count_a, a, kind),
        "b": (count_b, b, kind),
        "c": (m // 4, lambda g, t, i: (g + 8 * (i >> 1), 2 * t + (i & 1)), ACCUMULATOR.get(kind, "f32")),
    }
    for operand, (count, formula, type_) in formulas.items():
        expected = [[formula(lane >> 2, lane & 3, i) for i in range(count)] for lane in range(32)]
        assert table(fragment("mma", shape, operand, type_)) == expected, operand


def test_volta_quad_pairs():
    def low(lane: int) -> int:
        return 0 if lane < 16 else 4

    formulas = {
        ("a", "f16", "row"): (4, lambda ln, i: (ln % 4 + low(ln), i)),
        ("a", "f16", "col"): (4, lambda ln, i: (i + low(ln), ln % 4)),
        ("b", "f16", "row"): (4, lambda ln, i: (ln % 4, i + low(ln))),
        ("b", "f16", "col"): (4, lambda ln, i: (i, ln % 4 + low(ln))),
        ("c", "f16", "row"): (8, lambda ln, i: (ln % 4 + low(ln), i)),
        ("c", "f32", "row"): (8, lambda ln, i: ((ln & 1) + (i & 2) + low(ln), (i & 4) + (ln & 2) + (i & 1))),
    }
    for (operand, kind, layout), (count, formula) in formulas.items():
        who = fragment("mma", "m8n8k4", operand, kind, layout)
        assert table(who) == [[formula(lane, i) for i in range(count)] for lane in range(32)], (operand, kind, layout)
        assert who.matrices == 4
        assert np.unique(who.element).size == 4 * who.shape[0] * who.shape[1]
        for lane in range(32):
            assert set(who.matrix[lane]) == {lane % 16 // 4}


# Registers a lane for A, B, C in NVRTC's PTX for mma.h; C of 32 bits, then of f16.
REGISTERS = {
    ("f16", "m16n16k16"): (8, 8, 8, 4),
    ("f16", "m32n8k16"): (8, 8, 8, 4),
    ("f16", "m8n32k16"): (8, 8, 8, 4),
    ("bf16", "m16n16k16"): (4, 4, 8),
    ("bf16", "m32n8k16"): (8, 2, 8),
    ("bf16", "m8n32k16"): (2, 8, 8),
    ("s8", "m16n16k16"): (2, 2, 8),
    ("s8", "m32n8k16"): (4, 1, 8),
    ("s8", "m8n32k16"): (1, 4, 8),
    ("tf32", "m16n16k8"): (4, 4, 8),
    ("f64", "m8n8k4"): (1, 1, 2),
    ("s4", "m8n8k32"): (1, 1, 2),
}


@pytest.mark.parametrize(("kind", "shape"), REGISTERS)
def test_wmma_registers(kind, shape):
    operands = [("a", kind), ("b", kind), ("c", ACCUMULATOR.get(kind, "f32")), ("c", "f16")]
    for (operand, type_), count in zip(operands, REGISTERS[kind, shape], strict=False):
        assert fragment("wmma", shape, operand, type_).registers == count


@pytest.mark.parametrize(("instruction", "shape", "kind"), ALL)
def test_every_element_is_held_equally_often(instruction, shape, kind):
    for operand, type_ in (("a", kind), ("b", kind), ("c", ACCUMULATOR.get(kind, "f32"))):
        who = fragment(instruction, shape, operand, type_)
        held = np.bincount(who.element, minlength=who.matrices * who.shape[0] * who.shape[1])
        assert set(held) == {who.element.size // held.size}
        assert (who.element[who.place] == np.arange(held.size)).all()


def test_the_first_holder_counts():
    who = fragment("wmma", "m16n16k16", "a", "f16")
    values = np.arange(8 * 32, dtype=np.uint32).reshape(8, 32)
    values[4:] = 0xFFFFFFFF  # the second copy
    assert who.collect(list(values), warps(1)).max() < 256


@pytest.mark.parametrize("layout", ["row", "col"])
@pytest.mark.parametrize(
    ("shape", "operand", "kind", "together"),
    [
        ("m16n16k16", "a", "f16", 2),
        ("m32n8k16", "b", "f16", 2),
        ("m8n32k16", "a", "bf16", 2),
        ("m16n16k8", "a", "tf32", 1),
        ("m16n16k16", "b", "s8", 4),
        ("m16n16k16", "c", "f32", 2),
        ("m32n8k16", "c", "f16", 2),
        ("m8n8k4", "c", "f64", 2),
    ],
)
def test_memory_is_touched_once_in_pieces(shape, operand, kind, together, layout):
    who, count = access(shape, operand, kind, layout)
    assert count == together
    rows, columns = who.shape
    address = who.row * columns + who.column if layout == "row" else who.column * rows + who.row
    assert sorted(address.reshape(-1)) == list(range(rows * columns))
    pieces = address.reshape(32, -1, count)
    assert (np.diff(pieces, axis=-1) == 1).all()
    assert (pieces[..., 0] % count == 0).all()
    # One request touches eight lines, 16 bytes of each, or 32 where two accumulators of 4 bytes go together.
    line = who.row if layout == "row" else who.column
    assert all(np.unique(line[:, n]).size == 8 for n in range(line.shape[1]))


@pytest.mark.parametrize(
    ("shape", "operand", "kind", "layout"), [("m8n32k16", "a", "s8", "col"), ("m8n8k4", "b", "f64", "row")]
)
def test_short_lines_are_touched_one_by_one(shape, operand, kind, layout):
    who, count = access(shape, operand, kind, layout)
    assert (count, who.per_register) == (1, 1)
    assert np.unique(who.element).size == who.row.size == who.shape[0] * who.shape[1]


@pytest.mark.parametrize("threads", [32, 64, 40])
@pytest.mark.parametrize(("instruction", "shape", "kind"), ALL)
def test_collect_and_deal(instruction, shape, kind, threads):
    rng = np.random.default_rng(11)
    lanes = warps(3, threads)
    for operand, type_ in (("a", kind), ("b", kind), ("c", ACCUMULATOR.get(kind, "f32"))):
        who = fragment(instruction, shape, operand, type_)
        size = np.dtype(f"u{max(1, BITS[type_] // 8)}")
        matrices = rng.integers(0, 1 << min(BITS[type_], 63), (who.element.max() + 1, lanes.warps)).astype(size)
        registers = who.deal(matrices, lanes)
        assert len(registers) == who.registers
        for position in rng.integers(0, lanes.size, 20):
            lane, warp = lanes.lane[position], np.unique(lanes.warp).tolist().index(lanes.warp[position])
            for i in range(who.row.shape[1]):
                word = int(registers[i // who.per_register][position])
                found = word >> (i % who.per_register * who.bits) & ((1 << who.bits) - 1)
                assert found == matrices[who.element[32 * i + lane], warp]
        back = who.collect(registers, lanes)
        if threads % 32 == 0:
            assert (back == matrices).all()
        else:  # lanes that do not exist hold zeros
            assert ((back == matrices) | (back == 0)).all()
            assert (back == matrices).any()


def test_a_scalar_stands_for_every_lane():
    who = fragment("mma", "m16n8k8", "c", "f32")
    registers = [np.float32(n) for n in range(4)]
    found = who.collect(registers, warps(2)).view(np.float32).reshape(16, 8, 2)
    assert (found[:8, ::2] == 0).all()
    assert (found[8:, 1::2] == 3).all()


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("transposed", [False, True])
def test_matrices_of_ldmatrix(count, transposed):
    rng = np.random.default_rng(2)
    memory = rng.integers(0, 1 << 16, (32, 8)).astype(np.uint16)  # row l is what lane l's address points to
    words = [np.ascontiguousarray(memory).view(np.uint32)[:, n] for n in range(4)]
    tiles = matrix_tiles(count, transposed)
    registers = move(matrix_rows(), tiles, words, warps(1))
    assert len(registers) == count
    for matrix, register in enumerate(registers):
        tile = memory[8 * matrix : 8 * matrix + 8]
        tile = tile.T if transposed else tile
        for lane in range(32):
            pair = tile[lane // 4, 2 * (lane % 4) : 2 * (lane % 4) + 2]
            assert register[lane] == int(pair[0]) | int(pair[1]) << 16
    back = np.stack(move(tiles, matrix_rows(), registers, warps(1)))
    assert (back[:, : 8 * count] == np.stack(words)[:, : 8 * count]).all()
