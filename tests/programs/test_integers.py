"""Programs about integers and atomics, against Python's integers, which have no last bit, and NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from .programs import ARCHES, blocks, program, run

everywhere = pytest.mark.parametrize("arch", ARCHES)
WORD, LONG = 2**32 - 1, 2**64 - 1


def integers(rng, bits, n=150):
    """Numbers of all lengths, of either sign, and the ends of the range that have an absolute value."""
    top = 2 ** (bits - 1) - 1
    sizes = rng.integers(0, bits, n - 6)
    numbers = [int(rng.integers(0, top)) >> int(size) for size in sizes]
    signed = [number if rng.random() < 0.5 else -number for number in numbers]
    return np.array([0, 1, -1, top, -top, 2, *signed], f"i{bits // 8}")


def by_row(functions, bits, *columns):
    """What each function makes of Python integers, wrapped to a signed type."""
    rows = [[function(*map(int, values)) for values in zip(*columns, strict=True)] for function in functions]
    return [[(value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) for value in row] for row in rows]


def truncated(a, b):
    """C's division: towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def reverse(value, bits):
    return int(f"{value % 2**bits:0{bits}b}"[::-1], 2)


def picked(low, high, selector):
    """Four of the eight bytes of two words, low ones first, by the selector's digits."""
    stored = (low % 2**32 | high % 2**32 << 32).to_bytes(8, "little")
    return int.from_bytes(bytes(stored[selector >> 4 * i & 7] for i in range(4)), "little")


def second_set_bit(value, start):
    """The lowest set bit from start on; all ones when there is none."""
    return next((bit for bit in range(start, 32) if value >> bit & 1), WORD)


def extended(value, bits=24):
    return (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


@everywhere
def test_bits(arch):
    rng = np.random.default_rng(401)
    a, b, c = integers(rng, 32), integers(rng, 32)[::-1].copy(), integers(rng, 64)
    out = np.full((17, 150), -7, "i4")
    run(program("integer_intrinsics", arch).kernels["bits"], 3, 64, [a, b, c, out, 150])
    expected = [
        lambda a, b, c, i: (a & -a).bit_length(),
        lambda a, b, c, i: 32 - (a & WORD).bit_length(),
        lambda a, b, c, i: (a & WORD).bit_count(),
        lambda a, b, c, i: reverse(a, 32),
        lambda a, b, c, i: (c & -c).bit_length(),
        lambda a, b, c, i: 64 - (c & LONG).bit_length(),
        lambda a, b, c, i: (c & LONG).bit_count(),
        lambda a, b, c, i: reverse(c, 64) >> 7,
        lambda a, b, c, i: ((b & WORD) << 32 | a & WORD) << i % 32 >> 32,
        lambda a, b, c, i: ((b & WORD) << 32 | a & WORD) >> i % 32,
        lambda a, b, c, i: ((b & WORD) << 32 | a & WORD) << min(i, 32) >> 32,
        lambda a, b, c, i: ((b & WORD) << 32 | a & WORD) >> min(i, 32),
        lambda a, b, c, i: picked(a, b, 0x7250),
        lambda a, b, c, i: picked(a, b, i * 77),
        lambda a, b, c, i: (a & WORD) >> b % 32,
        lambda a, b, c, i: a >> b % 32,
        lambda a, b, c, i: second_set_bit(a & WORD, i % 32),
    ]
    np.testing.assert_array_equal(out, by_row(expected, 32, a, b, c, range(150)))


@everywhere
def test_integer_arithmetic(arch):
    rng = np.random.default_rng(402)
    a, b, c = integers(rng, 32), integers(rng, 32)[::-1].copy(), integers(rng, 32)
    out = np.full((17, 150), -7, "i4")
    run(program("integer_intrinsics", arch).kernels["arithmetic"], 3, 64, [a, b, c, out, 150])
    expected = [
        lambda a, b, c: a * b >> 32,
        lambda a, b, c: (a & WORD) * (b & WORD) >> 32,
        lambda a, b, c: extended(a) * extended(b),
        lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF),
        lambda a, b, c: abs(a - b) + c,
        lambda a, b, c: abs((a & WORD) - (b & WORD)) + c,
        lambda a, b, c: a + b >> 1,
        lambda a, b, c: a + b + 1 >> 1,
        lambda a, b, c: (a & WORD) + (b & WORD) >> 1,
        lambda a, b, c: (a & WORD) + (b & WORD) + 1 >> 1,
        lambda a, b, c: truncated(a, b | 1),
        lambda a, b, c: a - truncated(a, b | 1) * (b | 1),
        lambda a, b, c: (a & WORD) // (b & WORD | 1),
        lambda a, b, c: (a & WORD) % (b & WORD | 1),
        lambda a, b, c: abs(a),
        lambda a, b, c: min(a, b),
        lambda a, b, c: max(a & WORD, b & WORD),
    ]
    np.testing.assert_array_equal(out, by_row(expected, 32, a, b, c))


@everywhere
def test_wide_integers(arch):
    rng = np.random.default_rng(403)
    a, b = integers(rng, 64), integers(rng, 64)[::-1].copy()
    out = np.full((13, 150), -7, "i8")
    run(program("integer_intrinsics", arch).kernels["wide"], 3, 64, [a, b, out, 150])
    expected = [
        lambda a, b, i: a * b,
        lambda a, b, i: a * b >> 64,
        lambda a, b, i: (a & LONG) * (b & LONG) >> 64,
        lambda a, b, i: truncated(a, b | 1),
        lambda a, b, i: a - truncated(a, b | 1) * (b | 1),
        lambda a, b, i: (a & LONG) // (b & LONG | 1),
        lambda a, b, i: (a & LONG) % (b & LONG | 1),
        lambda a, b, i: abs(a),
        lambda a, b, i: a >> i % 64,
        lambda a, b, i: (a & LONG) >> i % 64,
        lambda a, b, i: a << i % 64,
        lambda a, b, i: min(a, b),
        lambda a, b, i: max(a & LONG, b & LONG),
    ]
    np.testing.assert_array_equal(out, by_row(expected, 64, a, b, range(150)))


def lanes(words, dtype):
    """The parts of each word, signed and unsigned, in a type where their sums fit."""
    return words.view(f"i{dtype}").astype("i4"), words.view(f"u{dtype}").astype("i4")


def words(values, size):
    """Parts of words put together again; each keeps its low bits."""
    return values.astype(f"u{size}").view("u4")


def sum_of_parts(values, size):
    return values.reshape(-1, 4 // size).sum(1).astype("u4")


@everywhere
def test_four_bytes_in_a_word(arch):
    a, b = np.random.default_rng(404).integers(0, 2**32, (2, 203)).astype("u4")
    a[:9], b[:9] = 0x80FF7F00, [0, 0x80FF7F00, 0x7F80FF01, 0xFFFFFFFF, 0x80808080, 0x01010101, 0x7F7F7F7F, 0xFF00, 1]
    out = np.full((22, 203), 7, "u4")
    run(program("simd_in_word", arch).kernels["bytes"], 4, 64, [a, b, out, 203])
    (x, ux), (y, uy) = lanes(a, 1), lanes(b, 1)
    expected = [
        x + y, x - y, np.minimum(ux + uy, 255), np.clip(x + y, -128, 127), np.maximum(ux - uy, 0),
        np.clip(x - y, -128, 127), np.maximum(ux, uy), np.maximum(x, y), np.minimum(ux, uy), np.minimum(x, y),
        np.abs(ux - uy), np.abs(x - y), ux + uy + 1 >> 1, ux + uy >> 1, np.abs(x), -x,
        -(x == y).astype("i4"), -(ux > uy).astype("i4"), -(x >= y).astype("i4"), ux < uy,
    ]  # fmt: skip
    np.testing.assert_array_equal(out[:20], [words(values, 1) for values in expected])
    np.testing.assert_array_equal(out[20:], [sum_of_parts(np.abs(ux - uy), 1), sum_of_parts(np.abs(x - y), 1)])


@everywhere
def test_two_halves_in_a_word(arch):
    a, b = np.random.default_rng(405).integers(0, 2**32, (2, 203)).astype("u4")
    a[:5], b[:5] = 0x8000FFFF, [0x8000FFFF, 0x7FFF0001, 0xFFFF7FFF, 0x00018000, 0]
    out = np.full((12, 203), 7, "u4")
    run(program("simd_in_word", arch).kernels["halves"], 4, 64, [a, b, out, 203])
    (x, ux), (y, uy) = lanes(a, 2), lanes(b, 2)
    expected = [
        x + y, x - y, np.minimum(ux + uy, 65535), np.clip(x + y, -(2**15), 2**15 - 1), np.maximum(ux, uy),
        np.minimum(x, y), np.abs(ux - uy), ux + uy >> 1, -(ux < uy).astype("i4"), -(x != y).astype("i4"), x > y,
    ]  # fmt: skip
    np.testing.assert_array_equal(out[:11], [words(values, 2) for values in expected])
    np.testing.assert_array_equal(out[11], sum_of_parts(np.abs(ux - uy), 2))


@everywhere
def test_atomics_on_words(arch):
    rng, n = np.random.default_rng(406), 203
    x, y = integers(rng, 32, n), integers(rng, 64, n)
    out, unsigned = np.array([5, 6, 2**31 - 1, -(2**31)], "i4"), np.array([WORD, 0, WORD, 0, 9], "u4")
    out64, unsigned64 = np.array([2**63 - 1, -(2**63)]), np.array([3, LONG, 0, LONG, 0, 9], "u8")
    run(program("integer_atomics", arch).kernels["global_words"], 4, 64, [x, y, out, unsigned, out64, unsigned64, n])
    assert out.tolist() == [5 + x.sum(dtype="i4"), 6 - x.sum(dtype="i4"), x.min(), x.max()]
    word, long = x.view("u4"), y.view("u8")
    bitwise = (np.bitwise_and.reduce, np.bitwise_or.reduce, np.bitwise_xor.reduce)
    flipped = [reduce(word) ^ np.uint32(start) for reduce, start in zip(bitwise, (0, 0, 9), strict=True)]
    assert unsigned.tolist() == [word.min(), word.max(), *flipped]
    flipped = [reduce(long) ^ np.uint64(start) for reduce, start in zip(bitwise, (0, 0, 9), strict=True)]
    assert out64.tolist() == [y.min(), y.max()]
    assert unsigned64.tolist() == [3 + long.sum(), long.min(), long.max(), *flipped]


@everywhere
def test_tickets_wrap(arch):
    n, limit = 203, 6
    counters, up, down = np.array([2, 4], "u4"), np.full(n, 77, "u4"), np.full(n, 77, "u4")
    run(program("integer_atomics", arch).kernels["tickets"], 4, 64, [counters, up, down, n, limit])
    assert counters.tolist() == [(2 + n) % 7, (4 - n) % 7]
    assert sorted(up) == sorted((2 + i) % 7 for i in range(n))
    assert sorted(down) == sorted((4 - i) % 7 for i in range(n))


@everywhere
def test_exchanges_pass_every_number_on(arch):
    n = 203
    last, last64, taken, taken64 = np.full(1, -1, "i4"), np.full(1, 5, "u8"), np.zeros(n, "i4"), np.zeros(n, "u8")
    run(program("integer_atomics", arch).kernels["chain"], 4, 64, [last, last64, taken, taken64, n])
    assert sorted([*taken, *last]) == list(range(-1, n))
    assert sorted([*taken64, *last64]) == sorted([5, *(i << 33 for i in range(n))])


@everywhere
def test_atomics_in_shared_memory(arch):
    rng, n = np.random.default_rng(407), 203
    x, number = integers(rng, 64, n), blocks(n, 64)
    low, high, counts = np.zeros(number, "i8"), np.zeros(number, "i8"), np.full((number, 5), 77, "u4")
    run(program("integer_atomics", arch).kernels["in_shared"], number, 64, [x, low, high, counts, n])
    parts = [x[at : at + 64] for at in range(0, n, 64)]
    assert low.tolist() == [part.min() for part in parts]
    assert high.tolist() == [part.max() for part in parts]
    assert counts.tolist() == [np.bincount((part.view("u8") % 5).astype("i8"), minlength=5).tolist() for part in parts]


@everywhere
def test_atomic_sums_of_floats(arch):
    rng, n, bins = np.random.default_rng(408), 203, 7
    x = rng.integers(-9, 10, n).astype("f8")
    d, f, h, single = np.zeros(bins), np.ones(bins, "f4"), np.zeros((bins, 2), "f2"), np.full(bins, 0.5, "f2")
    run(program("float_atomics", arch).kernels["sums"], 4, 64, [x, d, f, h, single, bins, n])
    exact = np.bincount(np.arange(n) % bins, x)
    np.testing.assert_array_equal(d, exact)
    np.testing.assert_array_equal(f, 1 + exact)
    np.testing.assert_array_equal(h, np.stack([exact, -np.bincount(np.arange(n) % bins)], 1))
    np.testing.assert_array_equal(single, 0.5 + exact)


@everywhere
def test_atomic_maxima_of_floats(arch):
    rng, n, bins = np.random.default_rng(409), 203, 7
    x, highest = rng.standard_normal(n, "f4") - 1, np.full(bins, -np.inf, "f4")
    run(program("float_atomics", arch).kernels["maximum"], 4, 64, [x, highest, bins, n])
    np.testing.assert_array_equal(highest, [x[bin_::bins].max() for bin_ in range(bins)])
    for part in (x, x[x < 0]):
        by_bits = np.full(1, -np.inf, "f4")
        run(program("float_atomics", arch).kernels["maximum_by_bits"], 4, 64, [part, by_bits, part.size])
        assert by_bits[0] == part.max()


@everywhere
def test_atomic_product_by_compare_and_swap(arch):
    x, total = np.random.default_rng(410).choice([2.0, 0.5, -1.0, 3.0], 40), np.array([0.25])
    run(program("float_atomics", arch).kernels["product"], 2, 32, [x, total, 40])
    assert total[0] == 0.25 * np.prod(x)


def long_numbers(rng, count):
    """128-bit integers, some of which make carries run through all their words, and their words."""
    numbers = [int.from_bytes(rng.bytes(16), "little") for _ in range(count - 4)]
    numbers = [2**128 - 1, 1, 2**64 - 1, 0, *numbers]
    return numbers, np.array([[number >> 32 * k & WORD for k in range(4)] for number in numbers], "u4")


def joined(row):
    return sum(int(word) << 32 * k for k, word in enumerate(row))


@everywhere
def test_long_additions_and_products(arch):
    rng, n = np.random.default_rng(411), 101
    (x, a), (y, b) = long_numbers(rng, n), long_numbers(rng, n)
    y, b = [1, *y[1:]], np.concatenate([[[1, 0, 0, 0]], b[1:]]).astype("u4")
    total, difference, product = np.zeros((n, 4), "u4"), np.zeros((n, 4), "u4"), np.zeros((n, 8), "u4")
    run(program("big_integer", arch).kernels["add_128"], 2, 64, [a, b, total, difference, n])
    run(program("big_integer", arch).kernels["multiply_128"], 2, 64, [a, b, product, n])
    pairs = list(zip(x, y, strict=True))
    assert [joined(row) for row in total] == [(p + q) % 2**128 for p, q in pairs]
    assert [joined(row) for row in difference] == [(p - q) % 2**128 for p, q in pairs]
    assert [joined(row) for row in product] == [p * q for p, q in pairs]


@everywhere
def test_carries_between_64_bit_words(arch):
    rng, n = np.random.default_rng(412), 101
    (x, a), (y, b) = long_numbers(rng, n), long_numbers(rng, n)
    out = np.zeros((n, 4), "u4")
    args = [a.view("u8"), b.view("u8"), out.view("u8"), n]
    run(program("big_integer", arch).kernels["add_shifted"], 2, 64, args)
    assert [joined(row) for row in out] == [(p + q) * 32 % 2**128 for p, q in zip(x, y, strict=True)]


WIDE = ("--device-int128",)


@everywhere
def test_powers_modulo_a_large_prime(arch):
    rng, n, prime = np.random.default_rng(413), 40, 2**61 - 1
    base, exponent = rng.integers(0, 2**63, n).astype("u8"), rng.integers(0, 2**16, n).astype("u8")
    base[:3], exponent[:3], out = [0, 1, prime - 1], [0, 5, 3], np.full(n, 7, "u8")
    run(program("int128", arch, WIDE).kernels["power"], 2, 32, [base, exponent, out, n, prime])
    assert out.tolist() == [pow(int(b), int(e), prime) for b, e in zip(base, exponent, strict=True)]


@everywhere
def test_wide_division(arch):
    rng, n = np.random.default_rng(414), 101
    sizes, signs = rng.integers(0, 127, (2, n)), rng.choice([-1, 1], (2, n))
    wide = [[int.from_bytes(rng.bytes(16), "little") % 2**127 >> int(s) for s in row] for row in sizes]
    x, y = ([v * int(sign) for v, sign in zip(row, of, strict=True)] for row, of in zip(wide, signs, strict=True))
    y = [value or 1 for value in y]
    a, b = (np.array([[v >> 32 * k & WORD for k in range(4)] for v in row], "u4").view("i8") for row in (x, y))
    quotient, remainder = np.zeros((n, 2), "i8"), np.zeros((n, 2), "i8")
    run(program("int128", arch, WIDE).kernels["divide"], 2, 64, [a, b, quotient, remainder, n])
    expected = [truncated(p, q) for p, q in zip(x, y, strict=True)]
    assert [joined(row) for row in quotient.view("u4")] == [value % 2**128 for value in expected]
    rests = [(p - q * value) % 2**128 for p, q, value in zip(x, y, expected, strict=True)]
    assert [joined(row) for row in remainder.view("u4")] == rests
