"""Each instruction of the table against arithmetic that shares no code with it: Python's integers and fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from convlab.errors import UnsupportedInstruction

from .conftest import kernel, launch

EDGES = [0, 1, 2, 3, 5, 7, 31, 32, 33, 255, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 7]


def integers(dtype: str, count: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    bits = 8 * np.dtype(dtype).itemsize
    edges = [(e if bits == 32 else e << 32 | e) % 2**bits for e in EDGES]
    pairs = [(a, b) for a in edges for b in edges]
    numbers = np.array([*zip(*pairs, strict=True)], dtype=f"u{bits // 8}")
    random = rng.integers(0, 2**bits, (2, count), dtype=f"u{bits // 8}")
    a, b = np.concatenate([numbers, random], axis=1)
    return a.view(dtype), b.view(dtype), rng.permutation(a).view(dtype)


def wrap(value: int, dtype: str) -> int:
    bits = 8 * np.dtype(dtype).itemsize
    value %= 2**bits
    return value - 2**bits if np.dtype(dtype).kind == "i" and value >= 2 ** (bits - 1) else value


def quotient(a: int, b: int) -> int:
    return -1 if b == 0 else (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)


INTEGER_CASES = {
    "add.{t}": lambda a, b, c: a + b,
    "sub.{t}": lambda a, b, c: a - b,
    "mul.lo.{t}": lambda a, b, c: a * b,
    "mad.lo.{t}": lambda a, b, c: a * b + c,
    "div.{t}": lambda a, b, c: quotient(a, b),
    "rem.{t}": lambda a, b, c: a if b == 0 else a - b * quotient(a, b),
    "min.{t}": lambda a, b, c: min(a, b),
    "max.{t}": lambda a, b, c: max(a, b),
    "and.b{n}": lambda a, b, c: a & b,
    "or.b{n}": lambda a, b, c: a | b,
    "xor.b{n}": lambda a, b, c: a ^ b,
    "not.b{n}": lambda a, b, c: ~a,
}
OPERANDS = {"mad.lo.{t}": 3, "not.b{n}": 1}


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("case", INTEGER_CASES)
def test_integers(elementwise, case, dtype):
    kind, bits = "su"[np.dtype(dtype).kind == "u"], 8 * np.dtype(dtype).itemsize
    inputs = integers(dtype)[: OPERANDS.get(case, 2)]
    found = elementwise(case.format(t=f"{kind}{bits}", n=bits), dtype, *inputs)
    filled = (inputs * 3)[:3]
    results = (INTEGER_CASES[case](*map(int, row)) for row in zip(*filled, strict=True))
    expected = [wrap(result, dtype) for result in results]
    assert found.tolist() == expected


@pytest.mark.parametrize("dtype", ["i4", "u4"])
def test_wide_and_high_products(elementwise, dtype):
    kind, wide = "su"[dtype == "u4"], dtype[0] + "8"
    a, b, c = integers(dtype)
    products = [int(x) * int(y) for x, y in zip(a, b, strict=True)]
    assert elementwise(f"mul.wide.{kind}32", wide, a, b).tolist() == products
    assert elementwise(f"mul.hi.{kind}32", dtype, a, b).tolist() == [p >> 32 for p in products]
    sums = [wrap(p + int(z), wide) for p, z in zip(products, c.astype(wide), strict=True)]
    assert elementwise(f"mad.wide.{kind}32", wide, a, b, c.astype(wide)).tolist() == sums


@pytest.mark.parametrize(
    ("opcode", "dtype"), [("shl.b32", "u4"), ("shr.u32", "u4"), ("shr.s32", "i4"), ("shr.b32", "u4")]
)
def test_shifts_beyond_the_width_give_zero_or_the_sign(elementwise, opcode, dtype):
    a = integers(dtype)[0]
    count = (np.arange(a.size) % 40).astype("u4")
    shift = (lambda x, n: x << n) if opcode.startswith("shl") else (lambda x, n: x >> n)
    expected = [wrap(shift(int(x), int(n)), dtype) for x, n in zip(a, count, strict=True)]
    assert elementwise(opcode, dtype, a, count).tolist() == expected


def floats(dtype: str, count: int = 400) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(3)
    special = np.array([0.0, -0.0, 1.0, -1.0, 3.0, np.inf, -np.inf, np.nan, 1e-40, 6e4, 1 / 3], dtype)
    pairs = np.array([(a, b) for a in special for b in special], dtype).T
    wild = (rng.standard_normal((2, count)) * 10.0 ** rng.integers(-18, 18, (2, count))).astype(dtype)
    a, b = np.concatenate([pairs, wild], axis=1)
    return a, b, rng.permutation(a)


def rounded(value: Fraction, dtype: str) -> float:
    """The nearest number of the type, ties to even, by Python's own correctly rounded division."""
    if dtype == "f8":
        return float(value)
    unit = Fraction(2) ** max(math.frexp(float(value))[1] - 24, -149)
    return float(round(value / unit) * unit)


@pytest.mark.parametrize(("kind", "dtype"), [("f32", "f4"), ("f64", "f8")])
def test_fused_multiply_add_rounds_once(elementwise, kind, dtype):
    a, b, c = (x[np.isfinite(x)][:300] for x in floats(dtype))
    # a·b + c just beside the middle of two neighbours: double rounding gets these wrong
    one = np.finfo(dtype).eps
    a[:2], b[:2], c[:2] = 1 + one, [1 + one, 1 - one], [one**3, -(one**4)]
    found = elementwise(f"fma.rn.{kind}", dtype, a, b, c)
    for x, y, z, result in zip(a, b, c, found, strict=True):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        if abs(exact) < Fraction(float(np.finfo(dtype).max)):
            assert float(result) == rounded(exact, dtype), (x, y, z)


def test_a_fused_multiply_add_between_two_neighbours(elementwise):
    # 2^23+1 is halfway between floats at 2^24; the tiny addend decides, and a sum in double precision loses it.
    a, b, c = (np.array([v], "f4") for v in (4097.0, 4097.0, 2.0**-60))
    assert float(elementwise("fma.rn.f32", "f4", a, b, c)[0]) == rounded(Fraction(4097) ** 2 + Fraction(1, 2**60), "f4")


@pytest.mark.parametrize(
    ("opcode", "function"),
    [
        ("add.{t}", lambda a, b: a + b),
        ("sub.{t}", lambda a, b: a - b),
        ("mul.{t}", lambda a, b: a * b),
        ("div.rn.{t}", lambda a, b: a / b),
        ("add.rn.{t}", lambda a, b: a + b),
    ],
)
@pytest.mark.parametrize(("kind", "dtype"), [("f32", "f4"), ("f64", "f8")])
def test_float_arithmetic_is_ieee(elementwise, opcode, function, kind, dtype):
    a, b, _ = floats(dtype)
    found = elementwise(opcode.format(t=kind), dtype, a, b)
    for x, y, result in zip(a.tolist(), b.tolist(), found.tolist(), strict=True):
        if not (math.isfinite(x) and math.isfinite(y)) or y == 0.0:
            continue
        exact = function(Fraction(x), Fraction(y))
        if abs(exact) < Fraction(float(np.finfo(dtype).max)):
            assert result == rounded(exact, dtype), (x, y)


def test_minimum_and_maximum_prefer_the_number_to_nan(elementwise):
    a, b = np.array([np.nan, 1, -2], "f4"), np.array([3, np.nan, 5], "f4")
    assert elementwise("min.f32", "f4", a, b).tolist() == [3, 1, -2]
    assert elementwise("max.f32", "f4", a, b).tolist() == [3, 1, 5]


@pytest.mark.parametrize(
    ("opcode", "function", "error"),
    [
        ("sqrt.rn.f32", math.sqrt, 0),
        ("rcp.approx.f32", lambda v: 1 / v, 1),
        ("rsqrt.approx.f32", lambda v: v**-0.5, 2),
        ("ex2.approx.f32", lambda v: 2.0**v, 2),
        ("lg2.approx.f32", math.log2, 2),
        ("sin.approx.f32", math.sin, 2),
        ("cos.approx.f32", math.cos, 2),
        ("tanh.approx.f32", math.tanh, 2),
        ("abs.f32", abs, 0),
        ("neg.f32", lambda v: -v, 0),
    ],
)
def test_functions_of_one_float(elementwise, opcode, function, error):
    a = np.random.default_rng(1).uniform(0.1, 3.0, 200).astype("f4")
    expected = np.array([function(float(v)) for v in a])
    found = elementwise(opcode, "f4", a)
    assert (
        np.abs(found - expected) <= (error + 0.5) * np.spacing(np.abs(expected).astype("f4")) + 1e-7 * (error > 0)
    ).all()


COMPARE = {"eq": "__eq__", "ne": "__ne__", "lt": "__lt__", "le": "__le__", "gt": "__gt__", "ge": "__ge__"}


def compare(opcode: str, dtype: str, a: np.ndarray, b: np.ndarray) -> list[int]:
    out = np.zeros(a.size, "i4")
    size = a.itemsize
    register = {"i4": "%r", "u4": "%r", "f4": "%f"}[dtype]
    text = f"""
        mul.wide.u32 %rd10, %r0, {size}; add.s64 %rd11, %rd1, %rd10; add.s64 %rd12, %rd2, %rd10;
        ld.global.b32 {register}5, [%rd11]; ld.global.b32 {register}6, [%rd12];
        {opcode} %p1, {register}5, {register}6; selp.b32 %r7, 1, 0, %p1;
        mul.wide.u32 %rd13, %r0, 4; add.s64 %rd14, %rd0, %rd13; st.global.b32 [%rd14], %r7;"""
    launch(kernel(text, 3), out, a, b)
    return out.tolist()


@pytest.mark.parametrize("name", COMPARE)
@pytest.mark.parametrize(("kind", "dtype"), [("s32", "i4"), ("u32", "u4")])
def test_comparisons_of_integers(name, kind, dtype):
    a, b, _ = integers(dtype)
    expected = [int(getattr(int(x), COMPARE[name])(int(y))) for x, y in zip(a, b, strict=True)]
    assert compare(f"setp.{name}.{kind}", dtype, a, b) == expected


@pytest.mark.parametrize("name", COMPARE)
def test_comparisons_of_floats_are_ordered_or_not_as_they_say(name):
    a, b, _ = floats("f4")
    pairs = [(float(x), float(y)) for x, y in zip(a, b, strict=True)]
    nan = [math.isnan(x) or math.isnan(y) for x, y in pairs]
    plain = [int(getattr(x, COMPARE[name])(y)) for x, y in pairs]
    assert compare(f"setp.{name}.f32", "f4", a, b) == [0 if n else v for v, n in zip(plain, nan, strict=True)]
    assert compare(f"setp.{name}u.f32", "f4", a, b) == [1 if n else v for v, n in zip(plain, nan, strict=True)]


def test_conversions_between_integers_extend_by_the_source_and_cut_by_the_target(elementwise):
    a = np.array([-1, -2, 127, 2**31 - 1, -(2**31)], "i4")
    assert elementwise("cvt.s64.s32", "i8", a).tolist() == a.tolist()
    assert elementwise("cvt.u64.u32", "u8", a.view("u4")).tolist() == a.view("u4").tolist()
    wide = np.array([2**32 + 5, -1, 2**40 - 1], "i8")
    assert elementwise("cvt.u32.u64", "u4", wide).tolist() == [5, 2**32 - 1, 2**32 - 1]


def test_conversions_from_float_round_saturate_and_make_nan_zero(elementwise):
    a = np.array([1.5, 2.5, -1.5, -0.5, 3e9, -3e9, np.inf, -np.inf, np.nan], "f4")
    top, low = 2**31 - 1, -(2**31)
    assert elementwise("cvt.rzi.s32.f32", "i4", a).tolist() == [1, 2, -1, 0, top, low, top, low, 0]
    assert elementwise("cvt.rni.s32.f32", "i4", a).tolist() == [2, 2, -2, 0, top, low, top, low, 0]
    assert elementwise("cvt.rmi.s32.f32", "i4", a).tolist() == [1, 2, -2, -1, top, low, top, low, 0]
    assert elementwise("cvt.rpi.s32.f32", "i4", a).tolist() == [2, 3, -1, 0, top, low, top, low, 0]
    assert elementwise("cvt.rzi.u32.f32", "u4", a).tolist() == [1, 2, 0, 0, 3000000000, 0, 2**32 - 1, 0, 0]
    assert elementwise("cvt.rzi.s64.f32", "i8", np.array([1e30, -1e30], "f4")).tolist() == [2**63 - 1, -(2**63)]


def test_conversions_to_float_round_to_nearest(elementwise):
    a = np.array([2**24 + 1, 2**31 - 1, -7], "i4")
    assert elementwise("cvt.rn.f32.s32", "f4", a).tolist() == [2.0**24, 2.0**31, -7.0]
    d = np.array([1 / 3, 1e-50, 1 + 2**-24], "f8")
    assert elementwise("cvt.rn.f32.f64", "f4", d).tolist() == [float(np.float32(1 / 3)), 0.0, 1.0]
    assert elementwise("cvt.f64.f32", "f8", np.array([0.1], "f4"))[0] == float(np.float32(0.1))


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_the_high_half_of_a_64_bit_product(elementwise, dtype):
    a, b, _ = integers(dtype)
    expected = [(int(x) * int(y)) >> 64 for x, y in zip(a, b, strict=True)]
    assert elementwise(f"mul.hi.{'su'[dtype == 'u8']}64", dtype, a, b).tolist() == expected


@pytest.mark.parametrize("bits", [32, 64])
def test_bits_are_counted_and_reversed(elementwise, bits):
    a = integers(f"u{bits // 8}")[0]
    assert elementwise(f"popc.b{bits}", "u4", a).tolist() == [int(x).bit_count() for x in a]
    assert elementwise(f"clz.b{bits}", "u4", a).tolist() == [bits - int(x).bit_length() for x in a]
    reversed_bits = [int(f"{int(x):0{bits}b}"[::-1], 2) for x in a]
    assert elementwise(f"brev.b{bits}", f"u{bits // 8}", a).tolist() == reversed_bits


@pytest.mark.parametrize("bits", [32, 64])
def test_bit_fields_at_every_place_also_beyond_the_width(elementwise, bits):
    a, b, _ = integers(f"u{bits // 8}")
    rng = np.random.default_rng(9)
    position, length = rng.integers(0, bits + 8, (2, a.size)).astype("u4")
    inserted, extracted, signed = [], [], []
    for x, y, at, count in zip(*(v.tolist() for v in (a, b, position, length)), strict=True):
        start = min(at, bits)
        size = min(count, bits - start)
        mask = ((1 << size) - 1) << start
        inserted.append(y & ~mask | (x << start) & mask)
        field = (x & mask) >> start
        extracted.append(field)
        # PTX ISA, bfe: the sign is the field's last bit, or the type's where the field reaches beyond it.
        sign = x >> min(at + count - 1, bits - 1) & 1 if count else 0
        signed.append(field - (sign << size) if size or count else 0)
    assert elementwise(f"bfi.b{bits}", a.dtype.str[1:], a, b, position, length).tolist() == inserted
    assert elementwise(f"bfe.u{bits}", a.dtype.str[1:], a, position, length).tolist() == extracted
    assert elementwise(f"bfe.s{bits}", f"i{bits // 8}", a, position, length).tolist() == signed


def test_halves_are_packed_and_taken_apart():
    text = kernel(
        """
        mul.wide.u32 %rd10, %r0, 8; add.s64 %rd11, %rd1, %rd10; ld.global.b64 %rd12, [%rd11];
        mov.b64 {%r1, %r2}, %rd12; mov.b64 %rd13, {%r2, %r1};
        add.s64 %rd14, %rd0, %rd10; st.global.b64 [%rd14], %rd13;""",
        2,
    )
    a = integers("u8")[0]
    out = np.zeros_like(a)
    launch(text, out, a)
    assert out.tolist() == [(int(x) >> 32) | (int(x) % 2**32) << 32 for x in a]


@pytest.mark.parametrize("mode", ["rz", "rm", "rp"])
def test_directed_rounding_is_exact(elementwise, mode):
    a, b, c = (x[np.isfinite(x)][:300] for x in floats("f4"))
    for opcode, exact in {
        "fma": lambda x, y, z: x * y + z,
        "add": lambda x, y, z: x + y,
        "sub": lambda x, y, z: x - y,
        "mul": lambda x, y, z: x * y,
    }.items():
        found = elementwise(f"{opcode}.{mode}.f32", "f4", *((a, b, c) if opcode == "fma" else (a, b)))
        for x, y, z, result in zip(a, b, c, found, strict=True):
            value = exact(*(Fraction(float(v)) for v in (x, y, z)))
            if abs(value) >= Fraction(float(np.finfo("f4").max)):
                continue
            near = np.float32(rounded(value, "f4"))
            below = near if Fraction(float(near)) <= value else np.nextafter(near, np.float32(-np.inf))
            above = near if Fraction(float(near)) >= value else np.nextafter(near, np.float32(np.inf))
            expected = {"rm": below, "rp": above, "rz": below if value > 0 else above}[mode]
            assert float(result) == float(expected), (opcode, x, y, z)


def test_denormals_are_flushed_and_results_saturated_where_the_instruction_says_so(elementwise):
    a = np.array([1e-40, -1e-40, 1e-38, 0.5, 7.0, -3.0, np.nan], "f4")
    b = np.array([0, 0, 1e-38, 0.25, 1, 1, 1], "f4")
    flushed = elementwise("add.ftz.f32", "f4", a, b)
    assert flushed[:2].tolist() == [0.0, 0.0]
    assert flushed[2:5].tolist() == [0.0, 0.75, 8.0]
    assert elementwise("add.sat.f32", "f4", a, b)[3:].tolist() == [0.75, 1.0, 0.0, 0.0]
    assert elementwise("cvt.sat.f32.f32", "f4", a)[3:].tolist() == [0.5, 1.0, 0.0, 0.0]


def test_floats_round_to_whole_floats(elementwise):
    a = np.array([1.5, 2.5, -1.5, -0.5, 1e20, -np.inf], "f4")
    assert elementwise("cvt.rzi.f32.f32", "f4", a).tolist() == [1, 2, -1, 0, float(np.float32(1e20)), -np.inf]
    assert elementwise("cvt.rni.f32.f32", "f4", a)[:4].tolist() == [2, 2, -2, 0]
    assert elementwise("cvt.rmi.f32.f32", "f4", a)[:4].tolist() == [1, 2, -2, -1]
    assert elementwise("cvt.rpi.f32.f32", "f4", a)[:4].tolist() == [2, 3, -1, 0]
    assert elementwise("copysign.f32", "f4", a, np.abs(a))[3] == 0.5 * -1


@pytest.mark.parametrize(
    "opcode", ["vote.sync.any.pred", "add.rz.f64", "st.shared.f32", "cvt.rn.bf16.f32", "frobnicate"]
)
def test_what_the_table_lacks_names_the_instruction_the_line_and_the_way_out(opcode):
    loc = ".loc 1 12 3\n"
    text = kernel(f"{loc}{opcode} %f1, %f2, %f3;" if "shared" not in opcode else f"{loc}{opcode} [%rd0], %f1;")
    with pytest.raises(UnsupportedInstruction) as caught:
        launch(text + '.file 1 "mine.cu"\n', np.zeros(1, "f4"))
    assert f"mine.cu:12: the emulator does not execute `{opcode}`" in str(caught.value)
    assert "device='cuda'" in str(caught.value)


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 200])
def test_shifts_by_a_literal(elementwise, count):
    a = integers("i4")[0]
    assert _by_literal("shl.b32", a, count) == [wrap(int(x) << count, "i4") for x in a]
    assert _by_literal("shr.s32", a, count) == [int(x) >> count for x in a]


def _by_literal(opcode: str, a: np.ndarray, count: int) -> list[int]:
    out = np.zeros_like(a)
    text = f"""
        mul.wide.u32 %rd10, %r0, 4; add.s64 %rd11, %rd1, %rd10; ld.global.b32 %r1, [%rd11];
        {opcode} %r2, %r1, {count}; add.s64 %rd12, %rd0, %rd10; st.global.b32 [%rd12], %r2;"""
    launch(kernel(text, 2), out, a)
    return out.tolist()


@pytest.mark.parametrize(
    ("name", "join"), [("and", lambda a, b: a and b), ("or", lambda a, b: a or b), ("xor", lambda a, b: a ^ b)]
)
def test_comparisons_combine_with_a_predicate(name, join):
    out = np.zeros(8, "i4")
    text = f"""
        and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 1; setp.lt.{name}.u32 %p2, %r0, 4, %p1; selp.b32 %r2, 1, 0, %p2;
        mul.wide.u32 %rd10, %r0, 4; add.s64 %rd12, %rd0, %rd10; st.global.b32 [%rd12], %r2;"""
    launch(kernel(text), out)
    assert out.tolist() == [int(join(t < 4, t % 2 == 1)) for t in range(8)]


def test_comparisons_that_ask_for_nan():
    a, b = np.array([1, np.nan, 1, np.nan], "f4"), np.array([1, 1, np.nan, np.nan], "f4")
    assert compare("setp.num.f32", "f4", a, b) == [1, 0, 0, 0]
    assert compare("setp.nan.f32", "f4", a, b) == [0, 1, 1, 1]


@pytest.mark.parametrize("opcode", ["div.approx.f32", "div.full.f32"])
def test_approximate_division_divides_the_first_by_the_second(elementwise, opcode):
    a, b = np.array([1, 6, -9], "f4"), np.array([4, 3, 2], "f4")
    assert elementwise(opcode, "f4", a, b).tolist() == [0.25, 2, -4.5]


@pytest.mark.parametrize(("kind", "value"), [("s8", -56), ("u8", 200)])
def test_a_narrow_load_extends_by_its_own_sign(kind, value):
    out, x = np.zeros(1, "i4"), np.array([200], "u1")
    launch(kernel(f"ld.global.{kind} %r1, [%rd1]; st.global.b32 [%rd0], %r1;", 2), out, x)
    assert out.tolist() == [value]


def test_nan_becomes_zero_or_with_64_bits_the_highest_bit(elementwise):
    single, double = np.array([np.nan], "f4"), np.array([np.nan], "f8")
    assert elementwise("cvt.rzi.u32.f32", "u4", single)[0] == 0
    assert elementwise("cvt.rzi.s32.f64", "i4", double)[0] == -(2**31)
    assert elementwise("cvt.rzi.s64.f32", "i8", single)[0] == -(2**63)
    assert elementwise("cvt.rzi.u64.f64", "u8", double)[0] == 2**63


def test_flushing_concerns_floats_only(elementwise):
    a = np.array([1e-40, 2.7, -3.2], "f4")
    assert elementwise("cvt.rzi.ftz.s32.f32", "i4", a).tolist() == [0, 2, -3]


@pytest.mark.parametrize(("kind", "value"), [("b8", 200), ("s8", -56)])
def test_bits_go_into_a_wider_register_with_zeros(kind, value):
    out, x = np.zeros(1, "i4"), np.array([200], "u1")
    launch(kernel(f"ld.global.{kind} %h1, [%rd1]; cvt.s32.s16 %r1, %h1; st.global.b32 [%rd0], %r1;", 2), out, x)
    assert out.tolist() == [value]
