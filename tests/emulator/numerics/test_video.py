"""Video instructions against the pseudo-code of the PTX ISA in Python's integers."""

from __future__ import annotations

import itertools
import operator

import numpy as np
import pytest

from convlab.errors import UnsupportedInstruction

from .test_integers import numbers

COMPARISONS = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
OPERATIONS = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
    "vavrg": lambda a, b: (a + b + (a + b >= 0)) >> 1,
}


def piece(value: int, kind: str, bits: int, place: int) -> int:
    value = value >> bits * place & (1 << bits) - 1
    return value - (1 << bits) if kind == "s32" and value >> bits - 1 else value


def clamp(value: int, kind: str, bits: int) -> int:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "s32" else (0, (1 << bits) - 1)
    return min(max(value, low), high)


def rows(*arrays: np.ndarray) -> list[tuple[int, ...]]:
    return list(zip(*(a.tolist() for a in arrays), strict=True))


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize(
    ("types", "mode"), [("u32.u32.u32", ""), ("s32.s32.s32", "sat"), ("u32.s32.u32", "sat"), ("s32.u32.s32", "add")]
)
def test_pieces_side_by_side(elementwise, name, count, types, mode):
    a, b, c = numbers("u32", 60)
    result, a_kind, b_kind = types.split(".")
    bits, results = 32 // count, []
    for x, y, z in rows(a, b, c):
        values = [OPERATIONS[name](piece(x, a_kind, bits, n), piece(y, b_kind, bits, n)) for n in range(count)]
        if mode == "sat":
            values = [clamp(v, result, bits) for v in values]
        packed = sum((v & (1 << bits) - 1) << bits * n for n, v in enumerate(values))
        results.append((z + sum(values)) % 2**32 if mode == "add" else packed)
    opcode = ".".join(part for part in (f"{name}{count}", types, mode) if part)
    assert elementwise(opcode, "u4", a, b, c).tolist() == results


@pytest.mark.parametrize(("count", "mask", "left", "right"), [(4, "b20", "b7021", "b3344"), (2, "h1", "h03", "h21")])
@pytest.mark.parametrize("mode", ["", ".add"])
def test_pieces_are_selected_and_merged(lines, count, mask, left, right, mode):
    a, b, c = numbers("u32", 60)
    bits, results = 32 // count, []
    for x, y, z in rows(a, b, c):
        both, total = x | y << 32, z
        for n in map(int, mask[1:]):
            value = piece(both, "s32", bits, int(left[::-1][n])) - piece(both, "u32", bits, int(right[::-1][n]))
            if mode:
                total += value
            else:
                total = total & ~((1 << bits) - 1 << bits * n) | (value & (1 << bits) - 1) << bits * n
        results.append(total % 2**32)
    text = f"vsub{count}.s32.s32.u32{mode} %out.{mask}, %in1.{left}, %in2.{right}, %in3;"
    assert lines(text, "u4", a, b, c).tolist() == results


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("name", COMPARISONS)
def test_pieces_are_compared_side_by_side(elementwise, name, count):
    a, b, c = numbers("u32", 60)
    bits = 32 // count
    holds = [
        [int(COMPARISONS[name](piece(x, "s32", bits, n), piece(y, "s32", bits, n))) for n in range(count)]
        for x, y in rows(a, b)
    ]
    packed = [sum(v << bits * n for n, v in enumerate(row)) for row in holds]
    assert elementwise(f"vset{count}.s32.s32.{name}", "u4", a, b, c).tolist() == packed
    sums = [(z + sum(row)) % 2**32 for row, z in zip(holds, c.tolist(), strict=True)]
    assert elementwise(f"vset{count}.s32.s32.{name}.add", "u4", a, b, c).tolist() == sums


SELECTORS = {"": (32, 0), ".b0": (8, 0), ".b3": (8, 3), ".h1": (16, 1)}


@pytest.mark.parametrize("name", [*OPERATIONS][:5])
@pytest.mark.parametrize(("left", "right"), [*itertools.product(SELECTORS, SELECTORS)])
def test_one_piece_at_a_time(lines, name, left, right):
    a, b, c = numbers("u32", 60)
    values = [
        OPERATIONS[name](piece(x, "s32", *SELECTORS[left]), piece(y, "u32", *SELECTORS[right])) for x, y in rows(a, b)
    ]
    text = f"%in1{left}, %in2{right}"
    assert lines(f"{name}.u32.s32.u32 %out, {text};", "u4", a, b).tolist() == [v % 2**32 for v in values]
    assert lines(f"{name}.s32.s32.u32.sat %out, {text};", "i4", a, b).tolist() == [clamp(v, "s32", 32) for v in values]
    merged = [clamp(v, "u32", 8) << 16 | z & 0xFF00FFFF for v, z in zip(values, c.tolist(), strict=True)]
    assert lines(f"{name}.u32.s32.u32.sat %out.b2, {text}, %in3;", "u4", a, b, c).tolist() == merged
    most = [max(clamp(v, "u32", 32), z) for v, z in zip(values, c.tolist(), strict=True)]
    assert lines(f"{name}.u32.s32.u32.sat.max %out, {text}, %in3;", "u4", a, b, c).tolist() == most


@pytest.mark.parametrize("mode", ["clamp", "wrap"])
def test_shifts_and_comparisons_of_one_piece(lines, mode):
    a, b, c = numbers("u32", 60)
    n = [min(y, 32) if mode == "clamp" else y % 32 for y in b.tolist()]
    right = [piece(x, "s32", 16, 1) >> k for x, k in zip(a.tolist(), n, strict=True)]
    assert lines(f"vshr.s32.s32.u32.{mode} %out, %in1.h1, %in2;", "i4", a, b).tolist() == right
    left = [(piece(x, "u32", 16, 1) << k) % 2**32 for x, k in zip(a.tolist(), n, strict=True)]
    assert lines(f"vshl.u32.u32.u32.{mode} %out, %in1.h1, %in2;", "u4", a, b).tolist() == left
    added = [(v + z) % 2**32 for v, z in zip(left, c.tolist(), strict=True)]
    assert lines(f"vshl.u32.u32.u32.{mode}.add %out, %in1.h1, %in2, %in3;", "u4", a, b, c).tolist() == added
    less = [int(piece(x, "s32", 8, 1) < piece(y, "s32", 8, 2)) for x, y in rows(a, b)]
    assert lines("vset.s32.s32.lt %out, %in1.b1, %in2.b2;", "u4", a, b).tolist() == less
    sums = [(v + z) % 2**32 for v, z in zip(less, c.tolist(), strict=True)]
    assert lines("vset.s32.s32.lt.add %out, %in1.b1, %in2.b2, %in3;", "u4", a, b, c).tolist() == sums


@pytest.mark.parametrize("mode", ["", ".po", ".sat", ".shr7", ".po.sat.shr15"])
def test_products_of_pieces(lines, mode):
    a, b, c = numbers("u32", 60)
    results = []
    for x, y, z in rows(a, b, c):
        value = piece(x, "s32", 16, 1) * piece(y, "u32", 8, 2) + piece(z, "s32", 32, 0) + ("po" in mode)
        value >>= 7 if "shr7" in mode else 15 if "shr15" in mode else 0
        results.append((clamp(value, "s32", 32) if "sat" in mode else value) % 2**32)
    text = f"vmad.s32.s32.u32{mode} %out, %in1.h1, %in2.b2, %in3;"
    assert lines(text, "u4", a, b, c).tolist() == results


@pytest.mark.parametrize(
    "text",
    [
        "vadd.u32.u32.u32 %out, %in1.b7, %in2;",
        "vadd4.u32.u32.u32 %out.h10, %in1, %in2, %in3;",
        "vadd.f32.u32.u32 %out, %in1, %in2;",
        "vset.u32.u32 %out, %in1, %in2;",
        "vadd.u32.u32.u32 %out, __import__.b0, %in2;",
        "vadd4.u32.u32.u32.sat.add %out, %in1, %in2, %in3;",
    ],
)
def test_forms_that_do_not_exist_are_named(lines, text):
    with pytest.raises(UnsupportedInstruction, match=f"does not execute `{text.split()[0]}`"):
        lines(text, "u4", *[np.zeros(2, "u4")] * 3)


@pytest.mark.parametrize("kind", ["s32", "s16x2"])
def test_the_compiler_puts_relu_behind_the_type(elementwise, kind):
    a, b, _ = numbers("u32", 60)
    assert elementwise(f"max.{kind}.relu", "u4", a, b).tolist() == elementwise(f"max.relu.{kind}", "u4", a, b).tolist()
