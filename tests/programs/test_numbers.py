"""Programs about numbers in half, bfloat16, bytes, single and double precision, against NumPy."""

from __future__ import annotations

import math
from statistics import NormalDist

import ml_dtypes
import numpy as np
import pytest

from .programs import ARCHES, program, run

BF16 = ml_dtypes.bfloat16
everywhere = pytest.mark.parametrize("arch", ARCHES)
since_ampere = pytest.mark.parametrize("arch", ARCHES[1:])
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2**-24, -(2**-14), 65504.0, -65504.0, np.inf, -np.inf, np.nan]
PI = 4 * np.arctan(np.longdouble(1))


def evaluate(program_name, arch, kernel, rows, *arguments):
    """Launch a kernel that writes rows of results, as many as there are elements in the first argument."""
    n = arguments[0].size
    out = np.full((rows, n), np.nan, arguments[0].dtype)
    run(program(program_name, arch).kernels[kernel], 3, 64, [*arguments, out, n])
    return out


def expect_ulps(actual, functions, *arguments):
    """Each row within so many units in the last place of the function's correctly rounded value, as CUDA promises."""
    wide = [x.astype("f8" if x.dtype == "f4" else np.longdouble) for x in arguments]
    for row, (function, bound) in zip(actual, functions, strict=True):
        exact = function(*wide)
        unit = np.spacing(np.abs(exact).astype(actual.dtype))
        error = np.abs(row - exact) / unit
        wrong = ~(error <= bound + 0.5)
        assert not wrong.any(), f"{function}: off by {error[wrong]} units at {wide[0][wrong]}"


def rounded(exact, dtype, way):
    """Round to a narrower type up, down, or to zero."""
    narrow = exact.astype(dtype)
    up, down = dtype(np.inf), dtype(-np.inf)
    towards = {"up": up, "down": down, "zero": np.where(exact > 0, down, up).astype(dtype)}[way]
    wrong = {"up": narrow < exact, "down": narrow > exact, "zero": np.abs(narrow.astype("f8")) > np.abs(exact)}[way]
    return np.where(wrong, np.nextafter(narrow, towards), narrow)


def to_bf16(exact):
    """To eight significant bits, ties to even, from exact values; by way of float they would be rounded twice."""
    mantissa, exponent = np.frexp(exact)
    return np.ldexp(np.rint(mantissa * 256), exponent - 8)


@everywhere
@pytest.mark.parametrize("n", [1003, 640, 1])
def test_half2_axpy(arch, n):
    rng = np.random.default_rng(301)
    a, x, y = np.float16(-1.7), rng.standard_normal(n).astype("f2"), rng.standard_normal(n).astype("f2")
    expected = (a.astype("f8") * x + y.astype("f8")).astype("f2")
    run(program("half2_axpy", arch).kernels["axpy"], 8, 64, [a, x, y, n])
    np.testing.assert_array_equal(y, expected)


@everywhere
def test_half2_dot_in_float(arch):
    rng, pairs = np.random.default_rng(302), 1003
    x, y = (rng.integers(-9, 10, 2 * pairs).astype("f2") for _ in range(2))
    sums = np.zeros(3, "f4")
    run(program("half2_axpy", arch).kernels["dot"], 3, 64, [x, y, sums, pairs])
    products = np.pad((x.astype("f4") * y).reshape(pairs, 2).sum(1), (0, -pairs % 192)).reshape(-1, 3, 64)
    np.testing.assert_array_equal(sums, products.sum((0, 2)))


def halves(rng):
    """Three arrays of 180 halves: every pair of special values, then numbers of all sizes."""
    first, second = (values.ravel() for values in np.meshgrid(SPECIAL, SPECIAL))
    random = rng.standard_normal((3, 59)) * 2.0 ** rng.integers(-8, 8, (3, 59))
    return [np.concatenate(parts).astype("f2") for parts in zip([first, second, second[::-1]], random, strict=True)]


@everywhere
@np.errstate(all="ignore")
def test_half_arithmetic(arch):
    x, y, z = halves(np.random.default_rng(303))
    out = evaluate("half_arithmetic", arch, "arithmetic", 16, x, y, z)
    fused = (x.astype("f8") * y + z).astype("f2")
    relu = np.where(np.isnan(fused), fused, np.maximum(fused, np.float16(0)))
    saturated = np.nan_to_num(np.clip(x + y, np.float16(0), np.float16(1)), nan=0)
    expected = [x + y, x - y, x * y, x / y, fused, relu, -x, np.abs(x), np.fmin(x, y), np.fmax(x, y), saturated]
    expected += [np.sqrt(np.abs(x)), np.floor(x), np.ceil(x), np.trunc(x), np.rint(x)]
    for row, exact in zip(out, expected, strict=True):
        np.testing.assert_array_equal(row, exact)


@everywhere
def test_half_comparisons(arch):
    x, y, _ = halves(np.random.default_rng(304))
    out = np.full(x.size, -7, "i4")
    run(program("half_arithmetic", arch).kernels["compare"], 3, 64, [x, y, out, x.size])
    unordered = np.isnan(x) | np.isnan(y)
    ordered = [x < y, x <= y, x > y, x >= y, x == y, x != y]
    flags = [*ordered, np.isnan(x), np.isinf(x), (x < y) | unordered, (x != y) | unordered]
    np.testing.assert_array_equal(out, sum(flag.astype("i4") << bit for bit, flag in enumerate(flags)))


@everywhere
@np.errstate(all="ignore")
def test_half_conversions(arch):
    rng = np.random.default_rng(305)
    random = rng.standard_normal(150) * 2.0 ** rng.integers(-26, 18, 150)
    x = np.concatenate([random, SPECIAL, [70000, -70000, 65519.99, 65520, 2.5, 3.5, -2.5, 32768.0]]).astype("f4")
    n, narrow = x.size, x.astype("f2")
    out, integers = np.full((5, n), np.nan, "f2"), np.full((6, n), -7, "i4")
    run(program("half_arithmetic", arch).kernels["convert"], 3, 64, [x, out, integers, n])

    def integer(value, low=-(2**31), high=2**31 - 1):
        return np.clip(np.nan_to_num(value.astype("f8"), nan=0), low, high).astype("i4")

    np.testing.assert_array_equal(out[0], narrow)
    for row, way in zip(out[1:], ("zero", "up", "down"), strict=False):
        np.testing.assert_array_equal(row, rounded(x, np.float16, way))
    np.testing.assert_array_equal(out[4], integer(np.rint(narrow)).astype("f2"))
    for row, function in zip(integers, (np.rint, np.trunc, np.ceil, np.floor), strict=False):
        np.testing.assert_array_equal(row, integer(function(narrow)))
    np.testing.assert_array_equal(integers[4], integer(np.trunc(narrow), -(2**15), 2**15 - 1))
    number = ~np.isnan(x)
    np.testing.assert_array_equal(integers[5][number], narrow.view("u2")[number])


@everywhere
def test_half_functions(arch):
    x = (np.random.default_rng(306).standard_normal(150) * 3).astype("f2")
    out, wide = evaluate("half_arithmetic", arch, "functions", 7, x), x.astype("f8")
    size = np.abs(wide)
    expected = [np.exp(wide), np.exp2(wide), np.log(size), 1 / np.sqrt(size), 1 / wide, np.sin(wide), np.cos(wide)]
    for row, exact in zip(out, expected, strict=True):  # two units in the last place of a number of this size
        np.testing.assert_allclose(row, exact, rtol=2**-9, atol=2**-11)


@since_ampere
def test_bf16_norm(arch):
    rng, rows, pairs = np.random.default_rng(307), 5, 83
    x, weight = rng.standard_normal((rows, 2 * pairs)).astype(BF16), rng.standard_normal(2 * pairs).astype(BF16)
    y = np.full_like(x, np.nan)
    run(program("bf16_norm", arch).kernels["rms_norm"], rows, 64, [x, weight, y, pairs, 1e-6])
    wide = x.astype("f8")
    exact = wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-6) * weight.astype("f8")
    # The scale and two products are rounded to eight bits, each off by 2**-8 at most.
    np.testing.assert_allclose(y.astype("f8"), exact, rtol=3.05 * 2**-8)


@since_ampere
def test_bf16_arithmetic_rounds_once(arch):
    rng, n = np.random.default_rng(308), 101
    a, b, c = ((rng.standard_normal(2 * n) * 2.0 ** rng.integers(-9, 9, 2 * n)).astype(BF16) for _ in range(3))
    out = np.full((6, 2 * n), np.nan, BF16)
    run(program("bf16_norm", arch).kernels["pairs"], 2, 64, [a, b, c, out, n])
    x, y, z = (values.astype("f8") for values in (a, b, c))
    expected = [x + y, x - y, x * y + z, np.minimum(x, y), np.maximum(x, y), np.abs(x)]
    for row, exact in zip(out.astype("f8"), expected, strict=True):
        np.testing.assert_array_equal(row, to_bf16(exact))


@everywhere
def test_dp4a_matrix_times_vector(arch):
    rng, rows, columns = np.random.default_rng(309), 13, 300
    w, x = rng.integers(-128, 128, (rows, columns)).astype("i1"), rng.integers(-128, 128, columns).astype("i1")
    y = np.full(rows, -7, "i4")
    run(program("int8_dot", arch).kernels["matvec"], 4, 128, [w.view("i4"), x.view("i4"), y, rows, columns // 4])
    np.testing.assert_array_equal(y, w.astype("i4") @ x.astype("i4"))


@everywhere
def test_dp4a_and_dp2a(arch):
    rng, n = np.random.default_rng(310), 101
    a, b, out = *rng.integers(0, 256, (2, n, 4)).astype("u1"), np.zeros(n, "u4")
    run(program("int8_dot", arch).kernels["dot_unsigned"], 2, 64, [a, b, out, n])
    np.testing.assert_array_equal(out, (a.astype("u4") * b).sum(1) + 7)
    c, d, out2 = rng.integers(-(2**15), 2**15, (n, 2)).astype("i2"), b.view("i1"), np.zeros(n, "i4")
    run(program("int8_dot", arch).kernels["dot_2"], 2, 64, [c, d, out2, n])
    np.testing.assert_array_equal(out2, (np.tile(c.astype("i4"), 2) * d).sum(1) - 3)


@everywhere
def test_quantise_rounds_to_even_and_saturates(arch):
    rng, scale = np.random.default_rng(311), np.float32(0.0370)
    x = np.concatenate([rng.standard_normal(180) * 3, np.arange(-6, 7) * 0.0185, [1e4, -1e4]]).astype("f4")
    q, error = np.full(x.size, 77, "i1"), np.full(x.size, np.nan, "f4")
    run(program("quantise", arch).kernels["quantise"], 4, 64, [x, q, error, x.size, float(scale)])
    np.testing.assert_array_equal(q, np.clip(np.rint(x / scale), -128, 127))
    np.testing.assert_array_equal(error, (q * scale.astype("f8") - x).astype("f4"))
    q8 = np.full(x.size, 77, "u1")
    run(program("quantise", arch).kernels["quantise_u8"], 4, 64, [x, q8, x.size, float(scale), 101])
    np.testing.assert_array_equal(q8, np.clip(np.rint(x / scale) + 101, 0, 255))


@everywhere
def test_requantise_in_fixed_point(arch):
    rng, shift, multiplier = np.random.default_rng(312), 6, 1_518_500_250
    sums, q = rng.integers(-30000, 30000, 203, "i4"), np.full(203, 77, "i1")
    run(program("quantise", arch).kernels["requantise"], 4, 64, [sums, q, 203, multiplier, shift])
    exact = [(int(x) * multiplier + (1 << 30 + shift)) >> 31 + shift for x in sums]
    np.testing.assert_array_equal(q, np.clip(exact, -128, 127))


@everywhere
def test_casts_saturate(arch):
    rng = np.random.default_rng(313)
    edges = [2.0**31, -(2.0**31), 2.0**32, -0.5, 2.0**63, -(2.0**63), 2.0**64, -(2.0**70)]
    x = np.concatenate([rng.standard_normal(150) * 2.0 ** rng.integers(-9, 34, 150), SPECIAL, edges]).astype("f4")
    n = x.size
    i32, u32, i64, u8 = np.full(n, 7, "i4"), np.full(n, 7, "u4"), np.full(n, 7, "i8"), np.full(n, 7, "u1")
    run(program("quantise", arch).kernels["cast"], 3, 64, [x, i32, u32, i64, u8, n])

    def saturated(value, low, high, not_a_number=0):
        if math.isnan(value):
            return not_a_number
        return low if value <= low else high if value >= high else int(value)

    assert i32.tolist() == [saturated(value, -(2**31), 2**31 - 1) for value in x]
    assert u32.tolist() == [saturated(value, 0, 2**32 - 1) for value in x]
    assert i64.tolist() == [saturated(value, -(2**63), 2**63 - 1, -(2**63)) for value in np.floor(x.astype("f8"))]
    np.testing.assert_array_equal(u8, np.ceil(np.clip(np.nan_to_num(x, nan=0), 0, 1) * np.float32(255)))


def each(function):
    return np.vectorize(lambda *values: function(*map(float, values)), otypes=["f8"])


def sin_pi(x):
    return np.sin(PI * x)


def cos_pi(x):
    return np.cos(PI * x)


@everywhere
def test_double_precision_functions_of_any_number(arch):
    rng = np.random.default_rng(314)
    x, y = rng.standard_normal(150) * 10.0 ** rng.uniform(-8, 15, 150), rng.standard_normal(150)
    bounds = [(np.sin, 2), (np.cos, 2), (np.tan, 2), (np.sin, 2), (np.cos, 2), (np.arctan, 2)]
    out = evaluate("double_math", arch, "trigonometry", 8, x, y)
    expect_ulps(out[:6], bounds, x)
    expect_ulps(out[6:7], [(np.arctan2, 2)], x, y)
    expect_ulps(out[7:], [(sin_pi, 2)], y)


@everywhere
def test_double_precision_functions_of_positive_numbers(arch):
    rng = np.random.default_rng(315)
    x, y = 10.0 ** rng.uniform(-6, 6, 150), 10.0 ** rng.uniform(-2, 1.6, 150)
    out = evaluate("double_math", arch, "positive", 12, x, y)
    one = [(np.log, 1), (np.log2, 1), (np.log10, 1), (np.log1p, 1), (np.sqrt, 0), (lambda v: 1 / np.sqrt(v), 1)]
    expect_ulps(out[:7], [*one, (np.cbrt, 1)], x)
    expect_ulps(out[7:9], [(np.power, 2), (np.hypot, 2)], x, y)
    np.testing.assert_array_equal(out[9:11], [np.fmod(x, y), x / y])
    # Python's own lgamma is exact to some 2**-50 only, where the value is near zero.
    np.testing.assert_allclose(out[11], each(math.lgamma)(x), rtol=8 * 2**-52, atol=2**-50)


@everywhere
def test_double_precision_functions_around_zero(arch):
    rng = np.random.default_rng(316)
    x = rng.standard_normal(150) * 10.0 ** rng.uniform(-5, 0.8, 150)
    out = evaluate("double_math", arch, "around_zero", 15, x)
    bounds = [(np.exp, 1), (np.exp2, 1), (np.expm1, 1), (np.sinh, 2), (np.cosh, 1), (np.tanh, 2)]
    bounds += [(each(math.erf), 3), (each(math.erfc), 6), (np.arcsinh, 3)]  # math's own are off by one
    expect_ulps(out[:9], bounds, x)
    away = np.copysign(np.floor(np.abs(x) + 0.5), x)
    np.testing.assert_array_equal(out[9:], [np.floor(x), np.ceil(x), np.rint(x), np.trunc(x), away, np.abs(x)])


@everywhere
def test_single_precision_functions_of_any_number(arch):
    rng = np.random.default_rng(317)
    x = (rng.standard_normal(150) * 10.0 ** rng.uniform(-5, 7, 150)).astype("f4")
    y = (rng.standard_normal(150) * 10.0 ** rng.uniform(-2, 2, 150)).astype("f4")
    out = evaluate("float_math", arch, "anywhere", 16, x, y)
    expect_ulps(out[:4], [(np.sin, 2), (np.cos, 2), (np.tan, 4), (np.arctan, 2)], x)
    expect_ulps(out[4:5], [(np.arctan2, 3)], x, y)
    expect_ulps(out[5:6], [(np.cbrt, 1)], x)
    expect_ulps(out[6:7], [(np.hypot, 3)], x, y)
    expect_ulps(out[9:10], [(np.arcsinh, 3)], x)
    away = np.copysign(np.floor(np.abs(x.astype("f8")) + 0.5), x)
    exact = [np.fmod(x, y), each(math.remainder)(x, y), np.floor(x), np.rint(x), np.trunc(x), away]
    exact += [np.maximum(x - y, 0), np.copysign(x, y)]
    np.testing.assert_array_equal(out[[7, 8, *range(10, 16)]], np.array(exact, "f4"))


@everywhere
def test_single_precision_functions_around_zero(arch):
    rng = np.random.default_rng(318)
    x = (rng.standard_normal(150) * 10.0 ** rng.uniform(-5, 0.5, 150)).astype("f4")
    out = evaluate("float_math", arch, "around_zero", 11, x)
    bounds = [(np.exp, 2), (np.exp2, 2), (lambda v: 10**v, 2), (np.expm1, 1), (np.sinh, 3), (np.cosh, 2), (np.tanh, 2)]
    bounds += [(each(math.erf), 2), (each(math.erfc), 4), (sin_pi, 2), (cos_pi, 2)]
    expect_ulps(out, bounds, x)


@everywhere
def test_single_precision_functions_of_positive_numbers(arch):
    rng = np.random.default_rng(319)
    x, y = (10.0 ** rng.uniform(-3, 3, 150)).astype("f4"), rng.uniform(0.1, 4, 150).astype("f4")
    out = evaluate("float_math", arch, "positive", 12, x, y)
    bounds = [(np.log, 1), (np.log2, 1), (np.log10, 2), (np.log1p, 1), (np.sqrt, 0), (lambda v: 1 / np.sqrt(v), 2)]
    expect_ulps(out[:6], bounds, x)
    expect_ulps(out[6:7], [(np.power, 4)], x, y)
    expect_ulps(out[7:8], [(each(math.lgamma), 6)], x)
    expect_ulps(out[8:9], [(each(math.gamma), 5)], y + np.float32(1))
    np.testing.assert_array_equal(out[9:11], [x / y, 1 / x])
    expect_ulps(out[11:], [(np.arccosh, 4)], x + np.float32(1))


@everywhere
def test_single_precision_functions_of_the_unit_interval(arch):
    rng, normal = np.random.default_rng(320), NormalDist()
    x = (rng.uniform(0.02, 0.999, 150) * rng.choice([-1, 1], 150)).astype("f4")
    out = evaluate("float_math", arch, "unit", 5, x)
    inverse = each(lambda v: normal.inv_cdf((v + 1) / 2) / math.sqrt(2))
    bounds = [(np.arcsin, 2), (np.arccos, 2), (np.arctanh, 3), (inverse, 2), (each(normal.cdf), 5)]
    expect_ulps(out, bounds, x)


@everywhere
def test_fast_functions(arch):
    x = np.random.default_rng(321).uniform(0.5, 3, 150).astype("f4")
    out, wide = evaluate("float_math", arch, "fast", 10, x), x.astype("f8")
    reciprocal, root = (1 / wide).astype("f4"), (1 / np.sqrt(wide)).astype("f4")
    np.testing.assert_array_equal(out[6:9], [root, reciprocal, rounded(np.sqrt(wide), np.float32, "zero")])
    exact = [np.sin(wide), np.cos(wide), np.exp(wide), np.log(wide), wide**1.5, 1 / wide, np.log2(wide)]
    for row, value in zip(out[[*range(6), 9]], exact, strict=True):
        np.testing.assert_allclose(row, value, rtol=2**-20, atol=2**-21)


@everywhere
def test_parts_of_numbers_and_directed_rounding(arch):
    rng, n = np.random.default_rng(322), 150
    x, y = (rng.uniform(0.5, 4, n) * rng.choice([-1, 1], n)).astype("f4"), rng.uniform(0.5, 4, n).astype("f4")
    out, exponents = np.full((10, n), np.nan, "f4"), np.full((2, n), -7, "i4")
    run(program("float_math", arch).kernels["parts"], 3, 64, [x, y, out, exponents, n])
    (fraction, whole), (mantissa, exponent) = np.modf(x), np.frexp(x)
    expected = [whole, fraction, mantissa, x / 8, np.nextafter(x, y)]
    wide, other = x.astype("f8"), y.astype("f8")
    expected += [rounded(wide + other, np.float32, way) for way in ("up", "down")]
    expected += [rounded(wide * other, np.float32, "zero"), (wide * other + wide).astype("f4")]
    expected += [rounded(wide / other, np.float32, "down")]
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(exponents, [exponent, exponent - 1])
