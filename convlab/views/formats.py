"""Number formats, exactly: from bits to values, and from values to the nearest bits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["FORMATS", "Format", "read"]

_LONGEST = 40  # letters of a number: exact fractions of longer ones would take long


@dataclass(frozen=True)
class Format:
    """A binary format: a sign, ``exponent`` bits and ``fraction`` bits; without exponent bits a whole number.

    >>> half = FORMATS["float16"]
    >>> hex(half.nearest(Fraction(1, 10))), half.value(0x2E66)
    ('0x2e66', 0.0999755859375)

    Parameters: ``words``, what people call it; the largest exponent means ``infinities`` and NaN, as IEEE 754 has it;
    or else its last code alone is ``nan``, or not even that. Source: IEEE 754 (2019), section 3.4; Micikevicius et
    al., "FP8 Formats for Deep Learning" (2022), table 1; OCP Microscaling Formats (2023), section 5.3.
    """

    words: str
    exponent: int
    fraction: int
    infinities: bool = True
    nan: bool = True

    @property
    def bits(self) -> int:
        """All bits, the sign's included."""
        return 1 + self.exponent + self.fraction

    @property
    def bias(self) -> int:
        """What is taken from an exponent's bits, read as a whole number, to get the exponent."""
        return (1 << (self.exponent - 1)) - 1 if self.exponent else 0

    @property
    def last(self) -> int:
        """The code of the largest number."""
        if self.infinities:
            return (((1 << self.exponent) - 1) << self.fraction) - 1
        return (1 << (self.bits - 1)) - 1 - self.nan

    @property
    def largest(self) -> float:
        """The largest number."""
        return self.value(self.last)

    @property
    def smallest_normal(self) -> float | None:
        """The smallest number above 0 with all its digits; None for whole numbers."""
        return 2.0 ** (1 - self.bias) if self.exponent else None

    @property
    def smallest(self) -> float:
        """The smallest number above 0."""
        return self.value(1)

    def value(self, code: int) -> float:
        """The number that some bits, as a whole number, stand for; a double holds each exactly."""
        if not self.exponent:
            return float(code - (code >> self.fraction << self.bits))
        sign = -1.0 if code >> (self.bits - 1) else 1.0
        magnitude = code & (2 ** (self.bits - 1) - 1)
        if magnitude > self.last:
            return sign * math.inf if self.infinities and magnitude == self.last + 1 else math.nan
        exponent, fraction = magnitude >> self.fraction, magnitude & (2**self.fraction - 1)
        significand = fraction + (2**self.fraction if exponent else 0)
        return sign * math.ldexp(significand, max(exponent, 1) - self.bias - self.fraction)

    def nearest(self, number: Fraction | float) -> int:
        """The bits of the nearest number, of two as near of the one whose last bit is 0.

        Raises ``ValueError`` for NaN where the format has none.
        """
        if isinstance(number, float) and math.isnan(number):
            if not self.nan:
                raise ValueError(f"{self.words} has no NaN.\n  Fix: give a number.")
            return self.last + 1 + (2 ** (self.fraction - 1) if self.infinities else 0)
        if not self.exponent:
            bounds = -(1 << self.fraction), (1 << self.fraction) - 1
            whole = bounds[number > 0] if math.isinf(number) else min(max(round(number), bounds[0]), bounds[1])
            return whole & ((1 << self.bits) - 1)
        negative = number < 0 or (number == 0 and math.copysign(1, number) < 0)
        return self._magnitude(-number if negative else number) | negative << (self.bits - 1)

    def _magnitude(self, number: Fraction | float) -> int:
        """The bits of a number from 0 up, without the sign's."""
        beyond = self.last + (1 if self.nan else 0)
        if math.isinf(number):
            return beyond
        exact = Fraction(number)
        exponent = max(_exponent(exact), 1 - self.bias)
        digits = round(exact / Fraction(2) ** (exponent - self.fraction))
        return min(((exponent + self.bias - 1) << self.fraction) + digits, beyond)

    def spacing(self, code: int) -> float:
        """The distance from a finite number to the next one of larger magnitude, or what it would be."""
        if not self.exponent:
            return 1.0
        exponent = (code & (2 ** (self.bits - 1) - 1)) >> self.fraction
        return math.ldexp(1.0, max(exponent, 1) - self.bias - self.fraction)

    def neighbours(self, code: int) -> tuple[float | None, float | None]:
        """The next number below and the next one above, infinities included; None where there is none."""
        if math.isnan(self.value(code)):
            return None, None
        top = 1 << (self.bits - 1)
        if self.exponent:
            place, ends = top - code if code & top else code, self.last + self.infinities
            codes = {each: top - each if each < 0 else each for each in (place - 1, place + 1) if abs(each) <= ends}
        else:
            place = int(self.value(code))
            codes = {each: each % (2 * top) for each in (place - 1, place + 1) if -top <= each < top}
        below, above = (self.value(codes[each]) if each in codes else None for each in (place - 1, place + 1))
        return below, above


FORMATS: Mapping[str, Format] = {
    "float32": Format("FP32", 8, 23),
    "tf32": Format("TF32", 8, 10),
    "bfloat16": Format("BF16", 8, 7),
    "float16": Format("FP16", 5, 10),
    "float8_e5m2": Format("FP8 E5M2", 5, 2),
    "float8_e4m3": Format("FP8 E4M3", 4, 3, infinities=False),
    "float4_e2m1": Format("FP4 E2M1", 2, 1, infinities=False, nan=False),
    "int8": Format("INT8", 0, 7, infinities=False, nan=False),
}


def read(text: str) -> Fraction | float:
    """Read a decimal number exactly; one that is no fraction, −0 or NaN or an infinity, is a float.

    >>> read("0.1"), read("-0"), read("−1e400")
    (Fraction(1, 10), -0.0, -inf)

    Raises ``ValueError`` for any other text.
    """
    plain = text.strip().replace("−", "-")
    if len(plain) > _LONGEST:
        raise ValueError(f"A number of {len(plain)} letters is too long.\n  Fix: write at most {_LONGEST}.")
    try:
        rough = float(plain)
    except ValueError:
        fix = "write it as 0.1, -3, 65504, 1e-7, inf or nan"
        raise ValueError(f"{text!r} is no number.\n  Fix: {fix}.") from None
    return Fraction(plain) if math.isfinite(rough) and rough else rough


def _exponent(number: Fraction) -> int:
    """The exponent of the largest power of two that is not above a number; far down for 0."""
    if not number:
        return -(10**9)
    guess = number.numerator.bit_length() - number.denominator.bit_length()
    return guess if Fraction(2) ** guess <= number else guess - 1
