"""Operations on bits against Python's integers."""

from __future__ import annotations

import numpy as np
import pytest

from convlab.errors import UnsupportedInstruction

from .test_integers import SIZES, numbers

RNG = np.random.default_rng(6)


def counts(size: int, width: int) -> np.ndarray:
    """Shift counts: all up to beyond the width, and absurd ones."""
    values = np.array([*range(width + 9), 255, 256, 257, 65536, 2**31, 2**32 - 1], "u4")
    return np.resize(RNG.permutation(values), size)


def zipped(*arrays: np.ndarray) -> list[tuple[int, ...]]:
    return list(zip(*(a.tolist() for a in arrays), strict=True))


@pytest.mark.parametrize("kind", SIZES)
def test_shifts_clamp_their_count(elementwise, kind):
    signed, bits = SIZES[kind]
    a = numbers(kind)[0]
    count, dtype = counts(a.size, bits), a.dtype.str[1:]
    left = [(x << min(n, bits)) % 2**bits for x, n in zipped(a, count)]
    assert elementwise(f"shl.b{bits}", f"u{bits // 8}", a, count).tolist() == left
    right = [x >> min(n, bits) for x, n in zipped(a, count)]
    assert elementwise(f"shr.{kind}", dtype, a, count).tolist() == right
    if not signed:
        assert elementwise(f"shr.b{bits}", dtype, a, count).tolist() == right


@pytest.mark.parametrize("count", [0, 1, 15, 31, 32, 33, 200, -1])
def test_shifts_by_a_literal(lines, count):
    (a, *_), (b, *_) = numbers("s32"), numbers("u32")
    places = count if 0 <= count < 32 else 32
    assert lines(f"shl.b32 %out, %in1, {count};", "u4", b).tolist() == [(x << places) % 2**32 for x in b.tolist()]
    assert lines(f"shr.s32 %out, %in1, {count};", "i4", a).tolist() == [x >> places for x in a.tolist()]
    assert lines(f"shr.u32 %out, %in1, {count};", "u4", b).tolist() == [x >> places for x in b.tolist()]


@pytest.mark.parametrize("direction", "lr")
@pytest.mark.parametrize("mode", ["clamp", "wrap"])
def test_funnel_shifts(elementwise, direction, mode):
    a, b, _ = numbers("u32")
    count = counts(a.size, 32)
    results = []
    for low, high, n in zipped(a, b, count):
        places = min(n, 32) if mode == "clamp" else n % 32
        whole = high << 32 | low
        results.append((whole << places >> 32 if direction == "l" else whole >> places) % 2**32)
    assert elementwise(f"shf.{direction}.{mode}.b32", "u4", a, b, count).tolist() == results


def highest(value: int, bits: int) -> int:
    if value < 0:
        value = ~value
    return value.bit_length() - 1


@pytest.mark.parametrize("kind", ["s32", "u32", "s64", "u64"])
def test_the_highest_bit_that_matters_is_found(elementwise, kind):
    a, bits = numbers(kind)[0], SIZES[kind][1]
    found = [highest(x, bits) for x in a.tolist()]
    assert elementwise(f"bfind.{kind}", "i4", a).tolist() == found
    assert elementwise(f"bfind.shiftamt.{kind}", "i4", a).tolist() == [bits - 1 - n if n >= 0 else -1 for n in found]


@pytest.mark.parametrize("bits", [32, 64])
def test_bits_are_counted_and_reversed(elementwise, bits):
    a = numbers(f"u{bits}")[0]
    assert elementwise(f"popc.b{bits}", "u4", a).tolist() == [x.bit_count() for x in a.tolist()]
    assert elementwise(f"clz.b{bits}", "u4", a).tolist() == [bits - x.bit_length() for x in a.tolist()]
    reverse = [int(f"{x:0{bits}b}"[::-1], 2) for x in a.tolist()]
    assert elementwise(f"brev.b{bits}", f"u{bits // 8}", a).tolist() == reverse


def nth(mask: int, base: int, offset: int) -> int:
    """The loop of the PTX ISA."""
    if offset == 0:
        return base if base < 32 and mask >> base & 1 else -1
    step, left = (1 if offset > 0 else -1), abs(offset) - 1
    while 0 <= base < 32:
        if mask >> base & 1:
            if left == 0:
                return base
            left -= 1
        base += step
    return -1


def test_the_nth_one_of_a_mask(elementwise):
    size = 3000
    mask = RNG.integers(0, 2**32, size, "u4")
    base, offset = RNG.integers(0, 34, size, "u4"), RNG.integers(-20, 21, size, "i4")
    assert elementwise("fns.b32", "i4", mask, base, offset).tolist() == [
        nth(*row) for row in zipped(mask, base, offset)
    ]


@pytest.mark.parametrize("mode", ["clamp", "wrap"])
def test_masks_and_extensions(elementwise, mode):
    a = numbers("s32")[0]
    start, length = counts(a.size, 32), counts(a.size, 32)
    cut = (lambda n: min(n, 32)) if mode == "clamp" else (lambda n: n % 32)
    masks = [((1 << cut(n)) - 1 << cut(at)) % 2**32 for at, n in zipped(start, length)]
    assert elementwise(f"bmsk.{mode}.b32", "u4", start, length).tolist() == masks
    zeros = [x % 2 ** cut(n) for x, n in zipped(a, length)]
    assert elementwise(f"szext.{mode}.u32", "u4", a, length).tolist() == zeros
    signs = [
        v - (1 << cut(n)) if cut(n) and v >> cut(n) - 1 else v for v, n in zip(zeros, length.tolist(), strict=True)
    ]
    assert elementwise(f"szext.{mode}.s32", "i4", a, length).tolist() == signs


@pytest.mark.parametrize("bits", [32, 64])
def test_fields_are_taken_out_and_put_in(elementwise, bits):
    a, b, _ = numbers(f"u{bits}")
    position, length = counts(a.size, bits), counts(a.size, bits)[::-1].copy()
    inserted, extracted, signed = [], [], []
    for x, y, at, count in zipped(a, b, position & 255, length & 255):
        start = min(at, bits)
        size = min(count, bits - start)
        mask = (1 << size) - 1 << start
        inserted.append(y & ~mask | x << start & mask)
        field = (x & mask) >> start
        extracted.append(field)
        # PTX ISA, bfe: the sign is the field's last bit, or the type's where the field reaches beyond it.
        sign = x >> min(at + count - 1, bits - 1) & 1 if count else 0
        signed.append(field - (sign << size))
    dtype = a.dtype.str[1:]
    assert elementwise(f"bfi.b{bits}", dtype, a, b, position, length).tolist() == inserted
    assert elementwise(f"bfe.u{bits}", dtype, a, position, length).tolist() == extracted
    assert elementwise(f"bfe.s{bits}", f"i{bits // 8}", a, position, length).tolist() == signed


def permuted(a: int, b: int, selector: int) -> int:
    eight, result = (a | b << 32).to_bytes(8, "little"), 0
    for n in range(4):
        digit = selector >> 4 * n & 15
        byte = eight[digit & 7]
        result |= (byte if digit < 8 else 255 * (byte >> 7)) << 8 * n
    return result


# mode → for each selector, the bytes of the result from the highest to the lowest, as the PTX ISA's table has them
TABLES = {
    "f4e": ("3210", "4321", "5432", "6543"),
    "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"),
    "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"),
    "rc16": ("1010", "3232", "1010", "3232"),
}


def test_bytes_are_permuted(elementwise):
    a, b, _ = numbers("u32")
    selector = RNG.integers(0, 2**32, a.size, "u4")
    assert elementwise("prmt.b32", "u4", a, b, selector).tolist() == [permuted(*row) for row in zipped(a, b, selector)]


@pytest.mark.parametrize("mode", TABLES)
def test_bytes_are_permuted_by_mode(elementwise, mode):
    a, b, selector = numbers("u32")
    results = [permuted(x, y, int(TABLES[mode][n & 3], 16)) for x, y, n in zipped(a, b, selector)]
    assert elementwise(f"prmt.b32.{mode}", "u4", a, b, selector).tolist() == results


@pytest.mark.parametrize("selector", [0x3210, 0x5410, 0x7632, 0x4440, 0xFA81])
def test_bytes_are_permuted_by_a_literal(lines, selector):
    a, b, _ = numbers("u32")
    results = [permuted(x, y, selector) for x, y in zipped(a, b)]
    assert lines(f"prmt.b32 %out, %in1, %in2, {selector};", "u4", a, b).tolist() == results
    assert lines(f"prmt.b32 %out, %in1, 0x80FF, {selector};", "u4", a).tolist() == [
        permuted(x, 0x80FF, selector) for x in a.tolist()
    ]


def test_every_function_of_three_bits(lines):
    a, b, c = (np.array([int(bits, 16)], "u4") for bits in ("0F0F0F0F", "33333333", "55555555"))
    for table in range(256):
        place = [
            (x << 2 | y << 1 | z)
            for x, y, z in zip(*([v >> n & 1 for n in range(8)] for v in (0x0F, 0x33, 0x55)), strict=True)
        ]
        byte = sum((table >> p & 1) << n for n, p in enumerate(place))
        assert lines(f"lop3.b32 %out, %in1, %in2, %in3, {table};", "u4", a, b, c).tolist() == [byte * 0x01010101]


@pytest.mark.parametrize(("join", "function"), [("or", lambda a, b: a or b), ("and", lambda a, b: a and b)])
def test_a_function_of_three_bits_as_predicate(predicate, join, function):
    a, b, c = (np.array(v, "u4") for v in ([0, 1, 0, 1], [0, 2, 3, 5], [1, 1, 0, 0]))
    text = f"setp.ne.u32 %p2, %in3, 0; lop3.{join}.b32 %r5|%p1, %in1, %in2, 0, 0xC0, %p2;"
    results = [bool(function(x & y != 0, z != 0)) for x, y, z in zipped(a, b, c)]
    assert predicate(text, a, b, c) == results
    assert predicate(text.replace("%r5|", "_|"), a, b, c) == results


@pytest.mark.parametrize("b_type", ["s32", "u32"])
@pytest.mark.parametrize("a_type", ["s32", "u32"])
def test_dot_products_of_bytes_and_halves(elementwise, a_type, b_type):
    a, b, c = numbers("u32", 400)
    signed = "s32" in (a_type, b_type)
    dtype = "i4" if signed else "u4"

    def cut(value: int, kind: str, bits: int) -> list[int]:
        pieces = [value >> n & (1 << bits) - 1 for n in range(0, 32, bits)]
        return [p - (1 << bits) if kind == "s32" and p >> bits - 1 else p for p in pieces]

    def total(products: list[int], addend: int) -> int:
        value = (sum(products) + addend) % 2**32
        return value - 2**32 if signed and value >> 31 else value

    four, low, high = [], [], []
    for x, y, z in zipped(a, b, c):
        bytes_a, bytes_b, halves = cut(x, a_type, 8), cut(y, b_type, 8), cut(x, a_type, 16)
        four.append(total([p * q for p, q in zip(bytes_a, bytes_b, strict=True)], z))
        low.append(total([halves[0] * bytes_b[0], halves[1] * bytes_b[1]], z))
        high.append(total([halves[0] * bytes_b[2], halves[1] * bytes_b[3]], z))
    assert elementwise(f"dp4a.{a_type}.{b_type}", dtype, a, b, c).tolist() == four
    assert elementwise(f"dp2a.lo.{a_type}.{b_type}", dtype, a, b, c).tolist() == low
    assert elementwise(f"dp2a.hi.{a_type}.{b_type}", dtype, a, b, c).tolist() == high


@pytest.mark.parametrize(
    "opcode",
    ["prmt.b32.xyz", "shf.l.b32", "dp4a.f32.u32", "dp2a.s32.s32", "bfind.up.s32", "szext.wrap.f32", "lop3.xor.b32"],
)
def test_forms_that_do_not_exist_are_named(elementwise, opcode):
    with pytest.raises(UnsupportedInstruction, match=f"does not execute `{opcode}`"):
        elementwise(opcode, "u4", *[np.zeros(2, "u4")] * 3)
