"""Comparisons, choices and copies."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest

from convlab.errors import CompileError, UnsupportedInstruction

from .exact import FLOATS, operands
from .test_floats import pair
from .test_integers import numbers

ORDERED = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
UNSIGNED = {"lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge}
NAMES = [*ORDERED, *(f"{name}u" for name in ORDERED), "num", "nan"]


def holds(name: str, a: float, b: float) -> bool:
    nan = math.isnan(a) or math.isnan(b)
    if name in ("num", "nan"):
        return nan == (name == "nan")
    if nan:
        return name.endswith("u")
    return bool(ORDERED[name.removesuffix("u")](a, b))


def values(kind: str, codes: np.ndarray) -> list[float]:
    return [FLOATS[kind].value(code) for code in codes.tolist()]


@pytest.mark.parametrize("kind", ["s16", "u16", "s32", "u32", "s64", "u64"])
def test_integers_are_compared(predicate, kind):
    a, b, _ = numbers(kind, 30)
    for name, function in (ORDERED | (UNSIGNED if kind[0] == "u" else {})).items():
        results = [function(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
        assert predicate(f"setp.{name}.{kind} %p1, %in1, %in2;", a, b) == results


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", NAMES)
def test_floats_are_compared_ordered_or_not_as_the_name_says(predicate, kind, name):
    a, b = operands(kind, 2, 30)
    results = [holds(name, x, y) for x, y in zip(values(kind, a), values(kind, b), strict=True)]
    assert predicate(f"setp.{name}.{kind} %p1, %in1, %in2;", a, b) == results


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("name", ["lt", "ne", "geu", "nan"])
def test_pairs_are_compared_into_two_predicates(predicate, kind, name):
    a, b = operands(kind, 2, 30)
    results = [holds(name, x, y) for x, y in zip(values(kind, a), values(kind, b), strict=True)]
    x, y = pair(a, a[::-1]), pair(b, b[::-1])
    text = f"setp.{name}.{kind}x2 %p1|%p2, %in1, %in2;"
    assert predicate(text, x, y) == results
    assert predicate(f"{text} mov.pred %p1, %p2;", x, y) == results[::-1]


def test_the_second_result_is_the_opposite_also_when_combined(predicate):
    a, b = np.array([1, 5, 1, 5], "i4"), np.array([3, 3, 3, 3], "i4")
    c = np.array([0, 0, 1, 1], "i4")
    text = "setp.ne.s32 %p3, %in3, 0; setp.lt.and.s32 %p1|%p2, %in1, %in2, !%p3;"
    assert predicate(text, a, b, c) == [True, False, False, False]
    assert predicate(f"{text} mov.pred %p1, %p2;", a, b, c) == [False, True, False, False]
    assert predicate(f"{text} not.pred %p1, %p1;", a, b, c) == [False, True, True, True]
    assert predicate("setp.ne.s32 %p1, %in3, 0; setp.lt.or.s32 %p2|%p1, %in1, %in2, %p1;", a, b, c) == [0, 1, 1, 1]
    assert predicate("setp.ne.s32 %p1, %in3, 0; setp.lt.xor.s32 _|%p1, %in1, %in2, %p1;", a, b, c) == [0, 1, 1, 0]


def test_denormals_are_flushed_in_comparisons(predicate):
    a, zero = np.array([1e-40, -1e-40, 1e-37], "f4"), np.zeros(3, "f4")
    assert predicate("setp.eq.ftz.f32 %p1, %in1, %in2;", a, zero) == [True, True, False]
    assert predicate("setp.eq.f32 %p1, %in1, %in2;", a, zero) == [False, False, False]


@pytest.mark.parametrize(
    ("target", "true", "dtype"), [("u32", 2**32 - 1, "u4"), ("s32", -1, "i4"), ("f32", 0x3F800000, "u4")]
)
@pytest.mark.parametrize("kind", ["s32", "f32", "f64"])
def test_a_comparison_as_a_value(elementwise, lines, kind, target, true, dtype):
    a, b, _ = numbers("s32", 30) if kind == "s32" else [*operands(kind, 2, 30), None]
    x, y = (a.tolist(), b.tolist()) if kind == "s32" else (values(kind, a), values(kind, b))
    results = [true if holds("le", v, w) else 0 for v, w in zip(x, y, strict=True)]
    assert elementwise(f"set.le.{target}.{kind}", dtype, a, b).tolist() == results
    joined = f"setp.eq.s32 %p1, %r0, 3; set.le.or.{target}.{kind} %out, %in1, %in2, %p1;"
    results[3] = true
    assert lines(joined, dtype, a, b).tolist() == results


@pytest.mark.parametrize(("kind", "one"), [("f16", 0x3C00), ("bf16", 0x3F80)])
def test_a_comparison_of_halves_as_a_value(elementwise, kind, one):
    a, b = operands(kind, 2, 30)
    results = [holds("gtu", x, y) for x, y in zip(values(kind, a), values(kind, b), strict=True)]
    assert elementwise(f"set.gtu.{kind}.{kind}", "u2", a, b).tolist() == [one * r for r in results]
    assert elementwise(f"set.gtu.u32.{kind}", "u4", a, b).tolist() == [0xFFFFFFFF * r for r in results]
    x, y = pair(a, a[::-1]), pair(b, b[::-1])
    for target, true in ((f"{kind}x2", one), ("u32", 0xFFFF)):
        found = elementwise(f"set.gtu.{target}.{kind}x2", "u4", x, y)
        assert (found & 0xFFFF).tolist() == [true * r for r in results]
        assert (found >> 16).tolist() == [true * r for r in results[::-1]]


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_one_of_two_is_selected(lines, bits):
    a, b, c = numbers(f"u{bits}", 30)
    chosen = [x if z else y for x, y, z in zip(a.tolist(), b.tolist(), (c % 2).tolist(), strict=True)]
    text = f"and.b{bits} %in3, %in3, 1; setp.eq.u{bits} %p1, %in3, 1; selp.b{bits} %out, %in1, %in2, %p1;"
    assert lines(text, a.dtype.str[1:], a, b, c).tolist() == chosen
    text = text.replace("%in2, %p1", "7, !%p1")
    assert lines(text, a.dtype.str[1:], a, b, c).tolist() == [
        7 if z else x for x, z in zip(a.tolist(), (c % 2).tolist(), strict=True)
    ]


def test_a_value_is_selected_by_a_sign(elementwise):
    a, b = np.arange(6, dtype="i8"), np.arange(6, dtype="i8") + 100
    whole = np.array([0, 1, -1, 2**31 - 1, -(2**31), 5], "i4")
    assert elementwise("slct.s64.s32", "i8", a, b, whole).tolist() == [0, 1, 102, 3, 104, 5]
    floats = np.array([0.0, -0.0, -1e-40, np.nan, np.inf, -np.inf], "f4")
    assert elementwise("slct.f64.f32", "i8", a, b, floats).tolist() == [0, 1, 102, 103, 4, 105]
    assert elementwise("slct.ftz.b64.f32", "i8", a, b, floats).tolist() == [0, 1, 2, 103, 4, 105]


def test_registers_are_packed_and_taken_apart(lines):
    a, b, _ = numbers("u32", 30)
    zipped = list(zip(a.tolist(), b.tolist(), strict=True))
    assert lines("mov.b64 %out, {%in1, %in2};", "u8", a, b).tolist() == [x | y << 32 for x, y in zipped]
    wide = a.astype("u8") | b.astype("u8") << np.uint64(32)
    assert lines("mov.b64 {%r5, %r6}, %in1; xor.b32 %out, %r5, %r6;", "u4", wide).tolist() == [x ^ y for x, y in zipped]
    assert lines("mov.b64 {_, %out}, %in1;", "u4", wide).tolist() == b.tolist()
    assert lines("mov.b64 {%out, _}, %in1;", "u4", wide).tolist() == a.tolist()
    assert lines("mov.b32 {%h1, %h2}, %in1; mov.b32 %out, {%h2, %h1};", "u4", a).tolist() == [
        x >> 16 | (x & 0xFFFF) << 16 for x in a.tolist()
    ]
    four = "mov.b64 {%h1, %h2, %h3, %h4}, %in1; mov.b64 %out, {%h4, %h3, %h2, %h1};"
    words = [[w >> 16 * n & 0xFFFF for n in range(4)] for w in wide.tolist()]
    assert lines(four, "u8", wide).tolist() == [sum(p << 16 * (3 - n) for n, p in enumerate(w)) for w in words]
    assert lines("mov.b64 %out, {%in1, 7};", "u8", a).tolist() == [x | 7 << 32 for x in a.tolist()]


def test_a_half_is_moved_from_literal_bits(lines):
    a = np.zeros(3, "u2")
    assert lines("mov.b16 %out, 0x3C00; add.f16 %out, %out, %in1;", "u2", a).tolist() == [0x3C00] * 3


@pytest.mark.parametrize(
    "opcode", ["setp.lo.f32", "setp.foo.s32", "setp.lt.nand.s32", "set.lt.u8x4.s32", "slct.s32.u32", "setp.lt.f8"]
)
def test_forms_that_do_not_exist_are_named(lines, opcode):
    with pytest.raises(UnsupportedInstruction, match=f"does not execute `{opcode}`"):
        lines(f"{opcode} %out, %in1, %in1, %p1;", "u4", np.zeros(2, "u4"))


@pytest.mark.parametrize(
    "text", ["setp.lt.s32 %p1, %in1, %in1, %p2;", "selp.b32 %out, %in1, %p1;", "mov.b32 {%h1, %h2, %h3}, %in1;"]
)
def test_operands_that_do_not_fit_end_in_an_error(lines, text):
    with pytest.raises(CompileError, match="cannot have these operands"):
        lines(text, "u4", np.zeros(2, "u4"))


@pytest.mark.parametrize("text", ["add.s32 %out, %in1, %p1;", "mov.pred %p1, %in1;", "add.s32 %p1, %in1, %in1;"])
def test_predicates_are_no_numbers(lines, text):
    with pytest.raises(UnsupportedInstruction, match="a predicate as a number"):
        lines(text, "u4", np.zeros(2, "u4"))


def test_numbers_have_no_opposite(lines):
    with pytest.raises(UnsupportedInstruction, match="the opposite of a number"):
        lines("max.f32 %out, %in1, !%in1;", "u4", np.zeros(2, "u4"))
