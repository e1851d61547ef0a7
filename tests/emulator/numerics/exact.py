"""The oracle of these tests: floats as fractions, rounded by Python's integers, which share no code with convlab."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

MODES = ("rn", "rz", "rm", "rp")


@dataclass(frozen=True)
class Float:
    """A binary format: bits in all, digits after the point, the exponent of its smallest normal number."""

    bits: int
    digits: int
    lowest: int

    @property
    def infinity(self) -> int:
        return (1 << self.bits - 1) - (1 << self.digits)

    @property
    def dtype(self) -> str:
        return f"u{self.bits // 8}"

    def value(self, code: int) -> float:
        """What a pattern of bits stands for; a double holds every number of all these formats."""
        sign = -1.0 if code >> self.bits - 1 else 1.0
        code &= (1 << self.bits - 1) - 1
        if code >= self.infinity:
            return sign * (math.inf if code == self.infinity else math.nan)
        exponent, fraction = code >> self.digits, code & (1 << self.digits) - 1
        fraction += (exponent > 0) << self.digits
        return sign * math.ldexp(fraction, max(exponent, 1) - 1 + self.lowest - self.digits)

    def code(self, value: Fraction | float, mode: str = "rn", negative_zero: bool = False) -> int:
        """The bits of a value, rounded once."""
        if isinstance(value, float):
            if math.isnan(value):
                return (1 << self.bits - 1) - 1
            negative_zero = math.copysign(1, value) < 0
            if math.isinf(value):
                return self.infinity | negative_zero << self.bits - 1
            value = Fraction(value)
        negative = value < 0 or (value == 0 and negative_zero)
        size = abs(value)
        exponent = self.lowest
        if size:
            exponent = size.numerator.bit_length() - size.denominator.bit_length()
            exponent -= size < Fraction(2) ** exponent
            exponent = max(exponent, self.lowest)
        steps = size / Fraction(2) ** (exponent - self.digits)
        up = {"rp": not negative, "rm": negative}.get(mode, False)
        whole = (
            round(steps)
            if mode == "rn"
            else math.floor(steps + Fraction(1, 2))
            if mode == "rna"
            else (math.ceil(steps) if up else math.floor(steps))
        )
        code = (exponent - self.lowest << self.digits) + whole
        if code >= self.infinity:
            code = self.infinity if mode in ("rn", "rna") or up else self.infinity - 1
        return code | negative << self.bits - 1


FLOATS = {
    "f16": Float(16, 10, -14),
    "bf16": Float(16, 7, -126),
    "f32": Float(32, 23, -126),
    "f64": Float(64, 52, -1022),
}


def add(a: float, b: float, mode: str) -> tuple[Fraction | float, bool]:
    """The exact sum, and whether a sum of zero is negative."""
    return fma(1.0, a, b, mode)


def sub(a: float, b: float, mode: str) -> tuple[Fraction | float, bool]:
    return fma(1.0, a, -b, mode)


def mul(a: float, b: float, mode: str) -> tuple[Fraction | float, bool]:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b, False
    return Fraction(a) * Fraction(b), math.copysign(1, a) * math.copysign(1, b) < 0


def fma(a: float, b: float, c: float, mode: str) -> tuple[Fraction | float, bool]:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c, False
    if not math.isfinite(c):
        return c, False
    product, addend = math.copysign(1, a) * math.copysign(1, b) < 0, math.copysign(1, c) < 0
    return Fraction(a) * Fraction(b) + Fraction(c), product if product == addend else mode == "rm"


def div(a: float, b: float, mode: str) -> tuple[Fraction | float, bool]:
    negative = math.copysign(1, a) * math.copysign(1, b) < 0
    if math.isnan(a) or math.isnan(b) or (math.isinf(a) and math.isinf(b)) or a == b == 0:
        return math.nan, False
    if math.isinf(a) or b == 0:
        return -math.inf if negative else math.inf, False
    return (Fraction(0) if math.isinf(b) else Fraction(a) / Fraction(b)), negative


def rcp(a: float, mode: str) -> tuple[Fraction | float, bool]:
    return div(1.0, a, mode)


def sqrt(a: float, mode: str) -> tuple[Fraction | float, bool]:
    """Two thousand bits of the root, and one more where some are left: rounding cannot tell it from the root."""
    if math.isnan(a) or a < 0:
        return math.nan, False
    if a == 0 or math.isinf(a):
        return a, False
    scaled = Fraction(a) * 4**2000
    root = math.isqrt(int(scaled))
    return Fraction(2 * root + (root * root != scaled), 2**2001), False


OPERATIONS: dict[str, Callable[..., tuple[Fraction | float, bool]]] = {
    f.__name__: f for f in (add, sub, mul, div, fma, rcp, sqrt)
}
ARITY = {"fma": 3, "rcp": 1, "sqrt": 1}


def operands(kind: str, count: int, random: int = 250) -> list[np.ndarray]:
    """Bits of operands: every pair of special numbers, random ones, and sums and products close to ties."""
    form, rng = FLOATS[kind], np.random.default_rng(5)
    one, top = form.code(1.0), 1 << form.bits - 1
    special = [0, 1, (1 << form.digits) - 1, 1 << form.digits, one - 1, one, one + 1, one + 2]
    special += [one + (1 << form.digits - 1), form.infinity - 1, form.infinity, form.infinity + 1, form.code(3.0)]
    special += [code | top for code in special]
    pairs = np.array([(a, b) for a in special for b in special], f"u{form.bits // 8}").T
    wild = (
        rng.integers(0, top << 1, (2, random), f"u{form.bits // 8}", endpoint=False)
        if form.bits < 64
        else (rng.integers(0, 1 << 63, (2, random), "u8") << np.uint64(1))
    )
    near = (rng.integers(one - (9 << form.digits), one + (9 << form.digits), (2, random))).astype(form.dtype)
    near |= (
        (rng.integers(0, 2, near.shape) * top).astype(form.dtype)
        if form.bits < 64
        else (rng.integers(0, 2, near.shape).astype("u8") << np.uint64(63))
    )
    a, b = np.concatenate([pairs, wild, near], axis=1)
    return [a, b, _third(form, a, b, rng)][:count]


def _third(form: Float, a: np.ndarray, b: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Addends that bring a·b close to the middle of two neighbours, and random ones."""
    result = []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        exact, _ = mul(form.value(x), form.value(y), "rn")
        choice = rng.integers(4)
        if isinstance(exact, float) or choice == 0 or exact == 0:
            result.append(int(rng.choice(a)))
            continue
        code = form.code(exact, "rz")
        lost = exact - Fraction(form.value(code))
        half = abs(exact) * Fraction(2) ** -(form.digits + 1 + int(choice) * form.digits // 2)
        result.append(form.code(half - lost if choice == 1 else half))
    return np.array(result, form.dtype)


def expected(kind: str, name: str, mode: str, inputs: list[np.ndarray]) -> list[int]:
    """What an operation gives, as bits; NaN has all bits but the sign."""
    form, results = FLOATS[kind], []
    for codes in zip(*(x.tolist() for x in inputs), strict=True):
        value, negative = OPERATIONS[name](*map(form.value, codes), mode)
        results.append(form.code(value, mode, negative))
    return results


def canonical(kind: str, codes: np.ndarray) -> list[int]:
    """Bits with every NaN as all ones but the sign."""
    form = FLOATS[kind]
    nan = (1 << form.bits - 1) - 1
    return [nan if code & nan > form.infinity else code for code in codes.tolist()]


def single(code: int) -> float:
    """The float of 32 bits."""
    return float(struct.unpack("<f", struct.pack("<I", code))[0])
