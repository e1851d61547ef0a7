"""Integer instructions of every size against Python's integers."""

from __future__ import annotations

import numpy as np
import pytest

from convlab.errors import CompileError, UnsupportedInstruction

from .test_floats import pair

EDGES = (0, 1, 2, 3, 7, 0x7F, 0x80, 0xFF)
SIZES = {f"{sign}{bits}": (sign == "s", bits) for bits in (16, 32, 64) for sign in "su"}


def numbers(kind: str, random: int = 150) -> list[np.ndarray]:
    """All pairs of small and large numbers and their opposites, and random ones; three operands."""
    signed, bits = SIZES[kind]
    dtype, rng = f"{'ui'[signed]}{bits // 8}", np.random.default_rng(4)
    edges = {(sign * e + (top << bits - 1)) % 2**bits for e in EDGES for sign in (1, -1) for top in (0, 1)}
    pairs = np.array([(a, b) for a in edges for b in edges], f"u{bits // 8}").T
    wild = np.frombuffer(rng.bytes(2 * random * bits // 8), f"u{bits // 8}").reshape(2, -1)
    a, b = np.concatenate([pairs, wild], axis=1).view(dtype)
    return [a, b, rng.permutation(a)]


def wrap(value: int, kind: str) -> int:
    signed, bits = SIZES[kind]
    value %= 1 << bits
    return value - (1 << bits) if signed and value >> bits - 1 else value


def clip(value: int, kind: str) -> int:
    signed, bits = SIZES[kind]
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return min(max(value, low), high)


def quotient(a: int, b: int) -> int:
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def low24(value: int, kind: str) -> int:
    value &= 0xFFFFFF
    return value - (1 << 24) if kind[0] == "s" and value >> 23 else value


ALL, WORDS, LOGIC = tuple(SIZES), ("s32", "u32"), ("u16", "u32", "u64")
# opcode → its types, how many operands, what it computes from them and the type (wrapped afterwards)
CASES = {
    "add": (ALL, 2, lambda a, b, k: a + b),
    "sub": (ALL, 2, lambda a, b, k: a - b),
    "mul.lo": (ALL, 2, lambda a, b, k: a * b),
    "mul.hi": (ALL, 2, lambda a, b, k: a * b >> SIZES[k][1]),
    "mad.lo": (ALL, 3, lambda a, b, c, k: a * b + c),
    "mad.hi": (ALL, 3, lambda a, b, c, k: (a * b >> SIZES[k][1]) + c),
    "sad": (ALL, 3, lambda a, b, c, k: abs(a - b) + c),
    "div": (ALL, 2, lambda a, b, k: quotient(a, b)),
    "rem": (ALL, 2, lambda a, b, k: a if b == 0 else a - b * quotient(a, b)),
    "min": (ALL, 2, lambda a, b, k: min(a, b)),
    "max": (ALL, 2, lambda a, b, k: max(a, b)),
    "neg": (ALL, 1, lambda a, k: -a),
    "abs": (("s16", "s32", "s64"), 1, lambda a, k: abs(a)),
    "mul24.lo": (WORDS, 2, lambda a, b, k: low24(a, k) * low24(b, k)),
    "mul24.hi": (WORDS, 2, lambda a, b, k: low24(a, k) * low24(b, k) >> 16),
    "mad24.lo": (WORDS, 3, lambda a, b, c, k: low24(a, k) * low24(b, k) + c),
    "mad24.hi": (WORDS, 3, lambda a, b, c, k: (low24(a, k) * low24(b, k) >> 16) + c),
    "mad24.hi.sat": (("s32",), 3, lambda a, b, c, k: clip((low24(a, k) * low24(b, k) >> 16) + c, k)),
    "add.sat": (("s32",), 2, lambda a, b, k: clip(a + b, k)),
    "sub.sat": (("s32",), 2, lambda a, b, k: clip(a - b, k)),
    "mad.hi.sat": (("s32",), 3, lambda a, b, c, k: clip((a * b >> 32) + c, k)),
    "min.relu": (("s32",), 2, lambda a, b, k: max(min(a, b), 0)),
    "max.relu": (("s32",), 2, lambda a, b, k: max(a, b, 0)),
}


@pytest.mark.parametrize(("opcode", "kind"), [(opcode, kind) for opcode, case in CASES.items() for kind in case[0]])
def test_integer_arithmetic(elementwise, opcode, kind):
    _, count, function = CASES[opcode]
    inputs = numbers(kind)[:count]
    results = [wrap(function(*row, kind), kind) for row in zip(*(x.tolist() for x in inputs), strict=True)]
    assert elementwise(f"{opcode}.{kind}", inputs[0].dtype.str[1:], *inputs).tolist() == results


@pytest.mark.parametrize("divisor", [0, 1, -1, 7, -7, -(2**31)])
@pytest.mark.parametrize("kind", ["s32", "u32"])
def test_division_by_a_literal(lines, kind, divisor):
    (a, *_), by = numbers(kind), wrap(divisor, kind)
    for opcode in ("div", "rem"):
        results = [wrap(CASES[opcode][2](x, by, kind), kind) for x in a.tolist()]
        assert lines(f"{opcode}.{kind} %out, %in1, {divisor};", a.dtype.str[1:], a).tolist() == results


@pytest.mark.parametrize("kind", LOGIC)
def test_logic(elementwise, kind):
    a, b, _ = numbers(kind)
    bits, dtype = SIZES[kind][1], a.dtype.str[1:]
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    assert elementwise(f"and.b{bits}", dtype, a, b).tolist() == [x & y for x, y in pairs]
    assert elementwise(f"or.b{bits}", dtype, a, b).tolist() == [x | y for x, y in pairs]
    assert elementwise(f"xor.b{bits}", dtype, a, b).tolist() == [x ^ y for x, y in pairs]
    assert elementwise(f"not.b{bits}", dtype, a).tolist() == [~x % 2**bits for x in a.tolist()]
    assert elementwise(f"cnot.b{bits}", dtype, a).tolist() == [int(x == 0) for x in a.tolist()]


@pytest.mark.parametrize("kind", ["s16", "u16", "s32", "u32"])
def test_wide_products(elementwise, kind):
    a, b, c = numbers(kind)
    wide = f"{kind[0]}{2 * SIZES[kind][1]}"
    dtype = f"{a.dtype.kind}{2 * a.dtype.itemsize}"
    products = [x * y for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert elementwise(f"mul.wide.{kind}", dtype, a, b).tolist() == products
    added = c.astype(dtype) * np.array(2**15 + 1, dtype)
    sums = [wrap(p + z, wide) for p, z in zip(products, added.tolist(), strict=True)]
    assert elementwise(f"mad.wide.{kind}", dtype, a, b, added).tolist() == sums


@pytest.mark.parametrize("opcode", ["add", "sub", "min", "max", "min.relu", "max.relu"])
@pytest.mark.parametrize("kind", ["s16", "u16"])
def test_pairs_of_integers_are_computed_each_for_itself(elementwise, opcode, kind):
    if "relu" in opcode and kind == "u16":
        return
    a, b, _ = numbers(kind)
    results = [wrap(CASES[opcode][2](x, y, kind), kind) % 2**16 for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    x, y = a.view("u2"), b.view("u2")
    found = elementwise(f"{opcode}.{kind}x2", "u4", pair(x, x[::-1]), pair(y, y[::-1]))
    assert (found & 0xFFFF).tolist() == results
    assert (found >> 16).tolist() == results[::-1]


CHAINS = {
    "add": (lambda a, b: a + b, "add.cc.{t} %in1, %in1, %in3; addc.{t} %out, %in2, %in4;"),
    "sub": (lambda a, b: a - b, "sub.cc.{t} %in1, %in1, %in3; subc.{t} %out, %in2, %in4;"),
}


@pytest.mark.parametrize("kind", ["u32", "s32", "u64"])
@pytest.mark.parametrize("name", CHAINS)
def test_a_carry_goes_from_the_lower_half_to_the_upper(lines, name, kind):
    function, text = CHAINS[name]
    bits = SIZES[kind][1]
    a, b, c = (x.view(f"u{bits // 8}") for x in numbers(kind))
    d = b[::-1].copy()
    results = [
        function(w | x << bits, y | z << bits) >> bits & (1 << bits) - 1
        for w, x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), d.tolist(), strict=True)
    ]
    assert lines(text.format(t=kind), f"u{bits // 8}", a, b, c, d).tolist() == results


@pytest.mark.parametrize("kind", ["u32", "u64"])
@pytest.mark.parametrize(("first", "second", "sign"), [("add.cc", "addc.cc", 1), ("sub.cc", "subc.cc", -1)])
def test_a_carry_comes_out_of_a_sum_that_took_one(lines, kind, first, second, sign):
    bits = SIZES[kind][1]
    a, b, c = numbers(kind)
    ones, last = (1 << bits) - 1, second.split(".")[0]
    text = f"{first}.{kind} %out, %in1, %in2; {second}.{kind} %out, %in2, %in3; {last}.{kind} %out, 0, 0;"
    results = []
    for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True):
        carry = not 0 <= x + sign * y <= ones
        results.append(sign * (not 0 <= y + sign * (z + carry) <= ones) & ones)
    assert lines(text, f"u{bits // 8}", a, b, c).tolist() == results


@pytest.mark.parametrize("kind", ["u32", "u64"])
def test_products_of_twice_the_width_by_carries(lines, kind):
    """(b:a)·c as three words, as big-number code does it: mul.lo, mad.hi.cc, madc.hi."""
    bits = SIZES[kind][1]
    a, b, c = numbers(kind)
    text = f"""
        .reg .b{bits} %w<4>;
        mul.lo.{kind} %w0, %in1, %in3; mul.hi.{kind} %w1, %in1, %in3;
        mad.lo.cc.{kind} %w1, %in2, %in3, %w1; madc.hi.{kind} %w2, %in2, %in3, 0;
        xor.b{bits} %out, %w0, %w1; shl.b{bits} %w2, %w2, 1; xor.b{bits} %out, %out, %w2;"""
    results = []
    mask = (1 << bits) - 1
    for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True):
        product = (x | y << bits) * z
        low, middle, high = (product >> n * bits & mask for n in range(3))
        results.append(low ^ middle ^ high << 1 & mask)
    assert lines(text, f"u{bits // 8}", a, b, c).tolist() == results


@pytest.mark.parametrize(
    "opcode", ["add.cc.f32", "mad.wide.cc.u32", "addc.u16", "mul24.lo.u64", "min.relu.u32", "add.b32"]
)
def test_forms_that_do_not_exist_are_named(elementwise, opcode):
    with pytest.raises(UnsupportedInstruction, match=f"does not execute `{opcode}`"):
        elementwise(opcode, "u4", *[np.zeros(2, "u4")] * 3)


@pytest.mark.parametrize(("opcode", "count"), [("add.s32", 1), ("add.s32", 3), ("fma.rn.f32", 2), ("popc.b32", 2)])
def test_the_number_of_operands_is_checked(elementwise, opcode, count):
    with pytest.raises(CompileError, match=f"`{opcode}` cannot have these operands"):
        elementwise(opcode, "u4", *[np.zeros(2, "u4")] * count)
