"""Sums of Tensor Cores against Python's own doubles, fractions and integers."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest

from convlab.emulator.numerics.tensor import DECODE, encode, multiply_add, useful

M, N, K, WARPS = 3, 4, 5, 2
FORMATS = {"f16": "e", "f32": "f"}


def rounded(value: float, kind: str) -> float:
    """The nearest number of a type, by the struct module, which has no infinity to overflow to."""
    try:
        return struct.unpack(FORMATS[kind], struct.pack(FORMATS[kind], value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def product(a, b, c, kind, **options):
    """One product of 1×K and K×1, as a number of the type."""
    x, y, z = (np.asarray(v, np.float64) for v in (a, b, c))
    total = multiply_add(x.reshape(1, 1, -1, 1), y.reshape(1, -1, 1, 1), z.reshape(1, 1, 1, 1))
    return encode(total, kind, **options).view({"f16": "f2", "f32": "f4", "f64": "f8", "s32": "i4"}[kind]).item()


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize("spread", [0, 6, 12])
def test_sums_are_rounded_once(kind, spread):
    rng = np.random.default_rng(3)
    scale = 2.0 ** rng.integers(-spread, spread + 1, (1, M, K, WARPS))
    a = (rng.normal(size=(1, M, K, WARPS)) * scale).astype(np.float16).astype(np.float64)
    b = rng.normal(size=(1, K, N, WARPS)).astype(np.float16).astype(np.float64)
    c = rng.normal(size=(1, M, N, WARPS)).astype(np.float16).astype(np.float64)
    found = encode(multiply_add(a, b, c), kind).view({"f16": "f2", "f32": "f4"}[kind])
    for m, n, w in np.ndindex(M, N, WARPS):
        exact = Fraction(c[0, m, n, w])
        for k in range(K):
            exact += Fraction(a[0, m, k, w]) * Fraction(b[0, k, n, w])
        assert found[0, m, n, w] == rounded(float(exact), kind)


def test_the_order_is_that_of_k_and_begins_with_c():
    # 2^60 swallows 1 in double precision: only what is added after it has gone survives.
    assert product([2.0**60, -(2.0**60), 1], [1, 1, 1], 5, "f32") == 1
    assert product([1, 2.0**60, -(2.0**60)], [1, 1, 1], 5, "f32") == 0


@pytest.mark.parametrize(
    ("kind", "c", "a", "expected"),
    [
        ("f16", 2048, [1], 2048),  # halfway: to even
        ("f16", 2050, [1], 2052),
        ("f16", 2048, [1, 2**-13], 2050),  # just above
        ("f16", 2048, [0.5, 0.5, 0.5, 0.5], 2050),  # rounded once, not after each step
        ("f16", 65504, [15.9375], 65504),
        ("f16", 65504, [16], math.inf),  # halfway to 65536, which is even
        ("f16", -65504, [-16], -math.inf),
        ("f16", 0, [2**-24], 2**-24),  # denormal
        ("f16", 0, [2**-25], 0),
        ("f16", 2**-24, [2**-25], 2**-23),
        ("f32", 2**24, [1], 2**24),
        ("f32", 2**24 + 2, [1], 2**24 + 4),
        ("f32", 2**24, [1, 1], 2**24 + 2),
        ("f32", 2**24, [1, 2**-20], 2**24 + 2),
        ("f32", float(2**128 - 2**104), [2.0**102], float(2**128 - 2**104)),
        ("f32", float(2**128 - 2**104), [2.0**103], math.inf),
        ("f32", 0, [2.0**-149], 2.0**-149),
    ],
)
def test_halfway_overflow_and_denormals(kind, c, a, expected):
    assert product(a, [1] * len(a), c, kind) == expected


@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
def test_special_values(kind):
    inf = math.inf
    assert product([inf, 1], [2, 1], 0, kind) == inf
    assert product([1, 1], [1, 1], -inf, kind) == -inf
    assert math.copysign(1, product([0], [1], -0.0, kind)) == 1
    assert math.copysign(1, product([-0.0], [1], -0.0, kind)) == -1
    for a, b, c in (([inf], [0], 1), ([inf, -inf], [1, 1], 0), ([1], [1], math.nan), ([inf], [1], -inf)):
        assert math.isnan(product(a, b, c, kind))


def test_nan_is_always_the_same():
    values = np.array([math.nan, -math.nan, np.inf - np.inf])
    assert encode(values, "f16").tolist() == [0x7FFF] * 3
    assert encode(values, "f32").tolist() == [0x7FFFFFFF] * 3
    assert encode(values, "f64").tolist() == [0x7FF8 << 48] * 3


def test_doubles_are_a_chain_of_fused_steps():
    rng = np.random.default_rng(5)
    a, b, c = rng.normal(size=(1, M, K, 2)), rng.normal(size=(1, K, N, 2)), rng.normal(size=(1, M, N, 2))
    found = encode(multiply_add(a, b, c), "f64").view("f8")
    for m, n, w in np.ndindex(M, N, 2):
        total = c[0, m, n, w]
        for k in range(K):
            total = float(Fraction(a[0, m, k, w]) * Fraction(b[0, k, n, w]) + Fraction(total))
        assert found[0, m, n, w] == total
    assert product([1 + 2.0**-52], [1 - 2.0**-52], -1, "f64") == -(2.0**-104)  # lost without fusing


def test_integers_wrap_or_saturate():
    top, bottom = 2**31 - 1, -(2**31)
    assert product([127, 127], [127, 127], top, "s32") == bottom + 2 * 127 * 127 - 1
    assert product([127, 127], [127, 127], top, "s32", saturate=True) == top
    assert product([-128], [127], bottom, "s32") == top - 128 * 127 + 1
    assert product([-128], [127], bottom, "s32", saturate=True) == bottom
    # Saturated is the sum, not each step.
    assert product([127, -128], [127, 127], top, "s32", saturate=True) == top - 127


@pytest.mark.parametrize(
    ("kind", "bits", "expected"),
    [
        ("f16", 0xC100, -2.5),
        ("bf16", 0xC020, -2.5),
        ("tf32", 0xC0200000, -2.5),
        ("tf32", 0x3F801FFF, 1.0),  # the low 13 bits are ignored, not rounded
        ("tf32", 0x3F802000, 1 + 2.0**-10),
        ("f32", 0x3F800001, 1 + 2.0**-23),
        ("f64", 0xC004 << 48, -2.5),
        ("s8", 0x80, -128),
        ("u8", 0x80, 128),
        ("s4", 0x8, -8),
        ("s4", 0x7, 7),
        ("u4", 0xF, 15),
        ("s32", 0xFFFFFFFE, -2),
    ],
)
def test_numbers_from_bits(kind, bits, expected):
    size = {"f16": 2, "bf16": 2, "f64": 8, "s8": 1, "u8": 1, "s4": 1, "u4": 1}.get(kind, 4)
    assert DECODE[kind](np.array([bits], f"u{size}")).tolist() == [expected]


def test_useful_multiplications():
    rng = np.random.default_rng(9)
    a = rng.integers(-1, 2, (2, M, K, WARPS)).astype(float)
    b = rng.integers(-1, 2, (2, K, N, WARPS)).astype(float)
    expected = sum(a[q, m, k, w] != 0 and b[q, k, n, w] != 0 for q, m, k, n, w in np.ndindex(2, M, K, N, WARPS))
    assert useful(a, b) == expected
    assert 0 < expected < 2 * M * K * N * WARPS
