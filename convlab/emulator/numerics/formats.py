"""Conversions to floating-point formats in any rounding, and the 8-bit formats e4m3 and e5m2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from convlab.emulator.numerics.halves import to_bf16, to_f16

__all__ = [
    "from_e4m3",
    "from_e5m2",
    "narrow_bf16",
    "narrow_e4m3",
    "narrow_e5m2",
    "narrow_f16",
    "narrow_f32",
    "narrow_tf32",
]


def _byte_values(digits: int, bias: int, finite: int) -> Any:
    """The values of the codes 0, 1, 2 … of an 8-bit format without sign, as far as they are finite."""
    codes = np.arange(finite)
    exponent, fraction = codes >> digits, (codes & (1 << digits) - 1) / 2**digits
    return np.ldexp(fraction + (exponent > 0), np.maximum(exponent, 1) - bias)


# Source: Micikevicius et al., "FP8 Formats for Deep Learning" (2022), Table 1.
BYTES = {"e4m3": _byte_values(3, 7, 0x7F), "e5m2": _byte_values(2, 15, 0x7C)}


def _to_byte(values: Any, value: Any) -> Any:
    """The code of a value that the 8-bit format has; NaN is 0x7F."""
    code = np.searchsorted(values, np.absolute(value)).astype(np.uint8) | np.signbit(value).astype(
        np.uint8
    ) << np.uint8(7)
    return np.where(np.isnan(value), np.uint8(0x7F), code)[()]


def _from_byte(values: Any, code: Any) -> Any:
    """The single that an 8-bit code stands for; the codes after the largest number are infinite (e5m2), or NaN."""
    magnitudes = np.full(128, np.nan, np.float32)
    magnitudes[: values.size] = values
    if values.size < 0x7D:
        magnitudes[values.size] = np.inf
    return np.concatenate([magnitudes, -magnitudes])[code]


@dataclass(frozen=True, slots=True)
class Format:
    """A binary format: digits after the point, exponent of the smallest normal number, largest number, its bits."""

    digits: int
    lowest: int
    largest: float
    encode: Callable[[Any], Any]


def _single(value: Any) -> Any:
    return value.astype(np.float32)


FORMATS = {
    "f32": Format(23, -126, float(np.finfo(np.float32).max), _single),
    "f16": Format(10, -14, 65504.0, lambda value: to_f16(_single(value))),
    "bf16": Format(7, -126, (2 - 2**-7) * 2.0**127, lambda value: to_bf16(_single(value))),
    "tf32": Format(10, -126, (2 - 2**-10) * 2.0**127, lambda value: _single(value).view(np.uint32)),
    "e4m3": Format(3, -6, 448.0, partial(_to_byte, BYTES["e4m3"])),
    "e5m2": Format(2, -14, 57344.0, partial(_to_byte, BYTES["e5m2"])),
}


def narrow(form: Format, number: Any, rounding: Callable[[Any], Any], finite: bool = False) -> Any:
    """A number in a format, rounded once; ``finite`` puts the largest number in place of what is beyond it.

    Without it, numbers beyond become infinite where the rounding leads away from zero.
    """
    exact = number.astype(np.float64)
    exponent = np.maximum(np.frexp(exact)[1] - 1, form.lowest)
    unit = np.ldexp(1.0, exponent - form.digits)
    value = np.where(np.isinf(exact), exact, rounding(exact / unit) * unit)
    away = ~np.bool_(finite) & (np.isinf(exact) | (rounding(np.copysign(0.75, exact)) != 0))
    largest = np.copysign(np.where(away, np.inf, form.largest), exact)
    return form.encode(np.where(np.absolute(value) > form.largest, largest, value)[()])


# What generated code calls.
narrow_f32, narrow_f16, narrow_bf16 = (partial(narrow, FORMATS[name]) for name in ("f32", "f16", "bf16"))
narrow_tf32, narrow_e4m3, narrow_e5m2 = (partial(narrow, FORMATS[name]) for name in ("tf32", "e4m3", "e5m2"))


def from_e4m3(code: Any) -> Any:
    """The singles that e4m3 codes stand for."""
    return _from_byte(BYTES["e4m3"], code)


def from_e5m2(code: Any) -> Any:
    """The singles that e5m2 codes stand for."""
    return _from_byte(BYTES["e5m2"], code)
