"""Conversions between all types against exact fractions, and Python's integers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from convlab.errors import UnsupportedInstruction

from .exact import FLOATS, MODES, Float, canonical, operands
from .test_floats import pair

INTEGERS = {f"{sign}{bits}": (sign == "s", bits) for sign in "su" for bits in (8, 16, 32, 64)}
BYTES = {"e4m3": (3, 7, 448.0), "e5m2": (2, 15, 57344.0)}


def code_of(integer: str) -> str:
    return f"{'ui'[INTEGERS[integer][0]]}{INTEGERS[integer][1] // 8}"


def limits(integer: str) -> tuple[int, int]:
    signed, bits = INTEGERS[integer]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def whole_numbers(integer: str) -> np.ndarray:
    """Powers of two, sums of three of them around the digits of floats, and both ends of the type."""
    low, high = limits(integer)
    bits = INTEGERS[integer][1]
    numbers = {0, 1, low, high, low + 1, high - 1}
    for top in range(bits):
        for digits in (8, 9, 11, 12, 24, 25, 53, 54):
            for last in (0, 1, 2, 5):
                numbers.add((1 << top) + (1 << max(top - digits, 0)) + (1 << max(top - digits - last, 0)))
    return np.array(sorted(n for v in numbers for n in (v, -v) if low <= n <= high), code_of(integer))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("integer", INTEGERS)
def test_integers_become_floats_rounded_once(elementwise, integer, kind, mode):
    a = whole_numbers(integer)
    found = elementwise(f"cvt.{mode}.{kind}.{integer}", FLOATS[kind].dtype, a)
    assert found.tolist() == [FLOATS[kind].code(Fraction(n), mode) for n in a.tolist()]


def some(kind: str) -> np.ndarray:
    """Floats of every kind, and around the limits of all integers."""
    form = FLOATS[kind]
    (a,) = operands(kind, 1, 100)
    edges = [
        Fraction(1 << bits) + offset
        for bits in (7, 8, 15, 16, 31, 32, 63, 64)
        for offset in (-1, Fraction(-1, 2), 0, 1)
    ]
    near = [Fraction(n, 2) for n in range(-7, 8)]
    codes = [form.code(sign * v, mode) for v in edges + near for sign in (1, -1) for mode in ("rz", "rp")]
    return np.concatenate([a, np.array(codes, form.dtype)])


WHOLE = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}


@pytest.mark.parametrize("mode", WHOLE)
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("integer", INTEGERS)
def test_floats_become_integers_that_saturate(elementwise, integer, kind, mode):
    codes, (low, high) = some(kind), limits(integer)
    results = []
    for value in map(FLOATS[kind].value, codes.tolist()):
        if math.isnan(value):
            wide = kind == "f64" or integer[1:] == "64"
            results.append((low if low else (high + 1) // 2) if wide else 0)
        else:
            results.append(min(max(WHOLE[mode](Fraction(value)) if math.isfinite(value) else value, low), high))
    if integer in ("s8", "u8"):  # registers have 16 bits at least
        found = elementwise(f"cvt.{mode}.{integer}.{kind}", "i2" if integer == "s8" else "u2", codes)
    else:
        found = elementwise(f"cvt.{mode}.{integer}.{kind}", code_of(integer), codes)
    assert found.tolist() == [int(r) if math.isfinite(r) else r for r in results]


@pytest.mark.parametrize("mode", WHOLE)
@pytest.mark.parametrize("kind", FLOATS)
def test_floats_become_whole_floats(elementwise, kind, mode):
    codes, form, results = some(kind), FLOATS[kind], []
    for value in map(form.value, codes.tolist()):
        results.append(
            form.code(Fraction(WHOLE[mode](Fraction(value))), "rn", math.copysign(1, value) < 0)
            if math.isfinite(value)
            else form.code(value)
        )
    assert canonical(kind, elementwise(f"cvt.{mode}.{kind}.{kind}", form.dtype, codes)) == results


def between(kind: str, target: str) -> np.ndarray:
    """Numbers of one format beside, at and between those of a narrower one, also its denormals and its largest."""
    wide, narrow = FLOATS[kind], FLOATS[target]
    codes = [*operands(target, 1, 300)[0].tolist(), narrow.infinity - 1, narrow.infinity - 2]
    numbers = []
    for value in map(narrow.value, codes):
        if not math.isfinite(value):
            numbers.append(wide.code(value))
            continue
        step = Fraction(2) ** max(math.frexp(value)[1] - 1 - narrow.digits, narrow.lowest - narrow.digits)
        for part in (Fraction(0), Fraction(1, 2), Fraction(1, 3), Fraction(1, 2) + Fraction(1, 2**12)):
            numbers.append(wide.code(Fraction(value) + part * step))
    return np.array(numbers, wide.dtype)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("source", "target"), [("f32", "f16"), ("f32", "bf16"), ("f64", "f32"), ("f64", "f16"), ("f64", "bf16")]
)
def test_floats_become_narrower_rounded_once(elementwise, source, target, mode):
    codes, form = between(source, target), FLOATS[target]
    found = elementwise(f"cvt.{mode}.{target}.{source}", form.dtype, codes)
    results = [
        form.code(FLOATS[source].value(code), mode)
        if not finite(source, code)
        else form.code(Fraction(FLOATS[source].value(code)), mode, code >> FLOATS[source].bits - 1 == 1)
        for code in codes.tolist()
    ]
    assert canonical(target, found) == results


def finite(kind: str, code: int) -> bool:
    return math.isfinite(FLOATS[kind].value(code))


@pytest.mark.parametrize(
    ("source", "target"), [("f16", "f32"), ("f16", "f64"), ("bf16", "f32"), ("bf16", "f64"), ("f32", "f64")]
)
def test_floats_become_wider_without_loss(elementwise, source, target):
    (codes,) = operands(source, 1)
    found = elementwise(f"cvt.{target}.{source}", FLOATS[target].dtype, codes)
    assert canonical(target, found) == [FLOATS[target].code(FLOATS[source].value(code)) for code in codes.tolist()]


def test_every_half_is_the_single_it_says(elementwise):
    codes = np.arange(0, 65536, 7).astype("u2")
    for kind in ("f16", "bf16"):
        found = elementwise(f"cvt.f32.{kind}", "u4", codes)
        assert canonical("f32", found) == [FLOATS["f32"].code(FLOATS[kind].value(code)) for code in codes.tolist()]


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_what_is_too_large_becomes_the_largest_number_with_satfinite(elementwise, kind):
    form = FLOATS[kind]
    large = np.array([1e6, -3.4e38, math.inf, -math.inf, math.nan, 1.5], "f4")
    top = form.infinity - 1
    cut = [top if kind == "f16" else form.code(1e6), top | 0x8000, top, top | 0x8000, 0x7FFF, form.code(1.5)]
    assert elementwise(f"cvt.rn.satfinite.{kind}.f32", "u2", large).tolist() == cut
    assert elementwise(f"cvt.rn.relu.satfinite.{kind}.f32", "u2", large).tolist() == [
        0 if code >> 15 else code for code in cut
    ]


@pytest.mark.parametrize("mode", ["rna", "rn", "rz"])
def test_tf32_has_ten_digits(elementwise, mode):
    tf32, single = Float(19, 10, -126), FLOATS["f32"]
    (codes,) = operands("f32", 1, 600)
    codes = np.concatenate([codes, codes & 0xFFFFE000 | 0x1000])  # and ties
    number = np.array([finite("f32", code) for code in codes.tolist()])
    found = elementwise(f"cvt.{mode}.tf32.f32", "u4", codes)
    results = [tf32.code(Fraction(single.value(c)), mode, c >> 31 == 1) << 13 for c in codes[number].tolist()]
    assert found[number].tolist() == results
    assert np.isnan(found[~number].view("f4")).tolist() == np.isnan(codes[~number].view("f4")).tolist()


@pytest.mark.parametrize("modes", ["rn", "rz", "rn.relu"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_two_singles_fill_a_pair_the_first_one_high(elementwise, kind, modes):
    codes, form = between("f32", kind), FLOATS[kind]
    other = codes[::-1].copy()
    halves = elementwise(f"cvt.{modes}.{kind}.f32", "u2", codes)
    found = elementwise(f"cvt.{modes}.{kind}x2.f32", "u4", codes, other)
    assert (found >> 16).tolist() == halves.tolist()
    assert (found & 0xFFFF).tolist() == halves[::-1].tolist()
    assert halves[:4].tolist() == [form.code(FLOATS["f32"].value(c), modes[:2]) for c in codes[:4].tolist()]


def byte_value(kind: str, code: int) -> float:
    """What an 8-bit code stands for: e5m2 has infinities and NaN as IEEE formats do, e4m3 one NaN only."""
    digits, bias, largest = BYTES[kind]
    sign, code = (-1.0 if code & 0x80 else 1.0), code & 0x7F
    exponent, fraction = code >> digits, code & (1 << digits) - 1
    value = math.ldexp(fraction + ((exponent > 0) << digits), max(exponent, 1) - bias - digits)
    if value > largest:
        return sign * (math.inf if kind == "e5m2" and code == 0x7C else math.nan)
    return sign * value


@pytest.mark.parametrize("kind", BYTES)
def test_every_pair_of_bytes_is_the_halves_it_says(elementwise, kind):
    codes = np.arange(0, 65536, 3).astype("u2")
    found = elementwise(f"cvt.rn.f16x2.{kind}x2", "u4", codes)
    value = [FLOATS["f16"].code(byte_value(kind, code)) for code in range(256)]
    halves = [(value[code & 255], value[code >> 8]) for code in codes.tolist()]
    assert canonical("f16", (found & 0xFFFF).astype("u2")) == [low for low, _ in halves]
    assert canonical("f16", (found >> 16).astype("u2")) == [high for _, high in halves]


def nearest_byte(kind: str, value: float) -> int:
    """The code whose value is nearest, the even one of two, the largest finite one at most; NaN is 0x7F."""
    if math.isnan(value):
        return 0x7F
    sign = 0x80 if math.copysign(1, value) < 0 else 0
    codes = [code for code in range(128) if math.isfinite(byte_value(kind, code))]
    size = min(abs(value), BYTES[kind][2])
    return sign | min(codes, key=lambda code: (abs(byte_value(kind, code) - size), code & 1))


@pytest.mark.parametrize("kind", BYTES)
def test_singles_and_halves_become_the_nearest_bytes_and_never_infinite(elementwise, kind):
    steps = [Fraction(byte_value(kind, code)) for code in range(0x7C)]
    numbers = [float(a + (b - a) * Fraction(n, 4)) for a, b in pairwise(steps) for n in range(4)]
    numbers += [1e6, math.inf, math.nan, 449.0, 480.0, 60000.0, 1e-9]
    a = np.array(numbers + [-n for n in numbers], "f4")
    a = a[: a.size // 2 * 2]
    results = [nearest_byte(kind, v) for v in a.tolist()]
    found = elementwise(f"cvt.rn.satfinite.{kind}x2.f32", "u2", a, a[::-1].copy())
    assert (found >> 8).tolist() == results
    assert (found & 255).tolist() == results[::-1]
    halves = np.clip(a, -60000, 60000).astype("f2").view("u2")
    found = elementwise(f"cvt.rn.satfinite.{kind}x2.f16x2", "u2", pair(halves, halves[::-1]))
    results = [nearest_byte(kind, v) for v in halves.view("f2").tolist()]
    assert (found & 255).tolist() == results
    assert (found >> 8).tolist() == results[::-1]


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integers_are_cut_or_saturate(elementwise, source, target):
    a, (low, high) = whole_numbers(source), limits(target)
    dtype = f"{code_of(target)[0]}{max(2, INTEGERS[target][1] // 8)}"
    numbers = a.tolist()
    span = high - low + 1
    assert elementwise(f"cvt.{target}.{source}", dtype, a).tolist() == [(n - low) % span + low for n in numbers]
    assert elementwise(f"cvt.sat.{target}.{source}", dtype, a).tolist() == [min(max(n, low), high) for n in numbers]


@pytest.mark.parametrize("target", ["u16", "s16"])
def test_two_integers_are_packed_into_halves(elementwise, target):
    a = whole_numbers("s32")
    b, (low, high) = a[::-1].copy(), limits(target)
    results = [
        (min(max(y, low), high) & 0xFFFF) | (min(max(x, low), high) & 0xFFFF) << 16
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    assert elementwise(f"cvt.pack.sat.{target}.s32", "u4", a, b).tolist() == results


@pytest.mark.parametrize("target", ["u8", "s8"])
def test_two_integers_are_packed_below_the_rest_of_a_third(elementwise, target):
    a = whole_numbers("s32")
    b, c, (low, high) = a[::-1].copy(), np.arange(a.size, dtype="u4") * 2654435761, limits(target)
    results = [
        (min(max(y, low), high) & 255) | (min(max(x, low), high) & 255) << 8 | (z & 0xFFFF) << 16
        for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    ]
    assert elementwise(f"cvt.pack.sat.{target}.s32.b32", "u4", a, b, c.astype("u4")).tolist() == results


@pytest.mark.parametrize(
    "opcode",
    [
        "cvt.rs.f16x2.f32",
        "cvt.rn.f32.pred",
        "cvt.f32.s32.rn",
        "cvt.rzi.rn.s32.f32",
        "cvt.s32.f32",
        "cvt.pack.s8.s32",
        "cvt.s64.s16x2",
    ],
)
def test_conversions_that_do_not_exist_are_named(elementwise, opcode):
    with pytest.raises(UnsupportedInstruction, match=f"does not execute `{opcode}`"):
        elementwise(opcode, "u4", np.zeros(2, "u4"))
