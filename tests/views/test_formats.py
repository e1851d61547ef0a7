"""Number formats against NumPy and ml_dtypes: all patterns of up to 16 bits, and roundings from near ties."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from convlab.views.formats import FORMATS, Format, read

ORACLES: dict[str, npt.DTypeLike] = {
    "float32": np.float32,
    "bfloat16": ml_dtypes.bfloat16,
    "float16": np.float16,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e4m3": ml_dtypes.float8_e4m3fn,
    "float4_e2m1": ml_dtypes.float4_e2m1fn,
    "int8": np.int8,
}


def same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def single(number: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(number))


def patterns(name: str) -> npt.NDArray[np.uint32]:
    bits = FORMATS[name].bits
    if bits <= 16:
        return np.arange(2**bits, dtype=np.uint32)
    rng = np.random.default_rng(1)
    edges = [0, 1, 2**23 - 1, 2**23, 2**23 + 1, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x80000000, 0xFFFFFFFF]
    return np.concatenate([edges, rng.integers(0, 2**32, 5000, dtype=np.uint32)]).astype(np.uint32)


def oracle_values(name: str, codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
    if name == "tf32":  # the upper 19 bits of a single
        return (codes << np.uint32(13)).view(np.float32).astype(np.float64)
    dtype = np.dtype(ORACLES[name])
    return codes.astype(f"u{dtype.itemsize}").view(dtype).astype(np.float64)


@pytest.mark.parametrize("name", FORMATS)
def test_every_pattern_has_the_value_of_the_oracle(name: str) -> None:
    form = FORMATS[name]
    codes = patterns(name) if name != "tf32" else np.arange(2**19, dtype=np.uint32)[::29]
    with np.errstate(invalid="ignore"):  # NaN patterns that do not speak up
        expected = oracle_values(name, codes)
    wrong = [
        code for code, value in zip(codes.tolist(), expected.tolist(), strict=True) if not same(form.value(code), value)
    ]
    assert wrong == []


@pytest.mark.parametrize("name", FORMATS)
def test_a_value_goes_back_to_its_pattern(name: str) -> None:
    form = FORMATS[name]
    codes = patterns(name).tolist() if name != "tf32" else range(0, 2**19, 101)
    for code in codes[:: 1 if len(codes) < 1000 else 23]:
        value = form.value(code)
        if math.isnan(value):
            assert math.isnan(form.value(form.nearest(value)))
        else:
            assert form.nearest(value) == code


def between(form: Format, rng: np.random.Generator) -> list[float]:
    """Doubles at, and a hair beside, the middle of neighbours; random ones; ones beyond the largest."""
    found = []
    for code in rng.integers(0, form.last, 150).tolist():
        low, high = form.value(code), form.value(code + 1)
        middle = (low + high) / 2
        found += [
            middle,
            math.nextafter(middle, math.inf),
            math.nextafter(middle, 0),
            low + (high - low) * rng.random(),
        ]
    end = form.largest
    step = form.spacing(form.last)
    found += [end + step / 2 * part for part in (0.5, 0.999, 1, 1.001, 2, 100)]
    found += [form.smallest / 2, form.smallest / 2 * 1.001, form.smallest / 4, 0.0, math.inf]
    return [sign * value for value in found for sign in (1, -1)]


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_rounding_is_to_nearest_and_ties_to_even_as_numpy_does_it(name: str) -> None:
    form = FORMATS[name]
    numbers = between(form, np.random.default_rng(6))
    if name == "bfloat16":  # ml_dtypes goes through single precision: only what that holds is rounded once
        numbers = [number for number in numbers if same(single(number), number)]
    with np.errstate(over="ignore"):
        expected = np.array(numbers).astype(ORACLES[name]).astype(np.float64)
    assert len(numbers) > 300
    for number, value in zip(numbers, expected.tolist(), strict=True):
        exact = number if math.isinf(number) or number == 0 else Fraction(number)
        assert same(form.value(form.nearest(exact)), value), number


@pytest.mark.parametrize("name", ["float8_e5m2", "float8_e4m3", "float4_e2m1"])
def test_small_formats_round_as_ml_dtypes_does(name: str) -> None:
    form = FORMATS[name]
    numbers = [single(number) for number in between(form, np.random.default_rng(7))]
    expected = np.array(numbers, np.float32).astype(ORACLES[name]).astype(np.float64)
    for number, value in zip(numbers, expected.tolist(), strict=True):
        assert same(form.value(form.nearest(number)), value), number


def test_tf32_rounds_as_a_single_cut_to_19_bits() -> None:
    form = FORMATS["tf32"]
    for number in between(form, np.random.default_rng(8)):
        if not same(single(number), number) or math.isinf(number):
            continue
        word = int(np.array(number, np.float32).view(np.uint32))
        kept, rest = word >> 13, word & 0x1FFF
        kept += rest > 0x1000 or (rest == 0x1000 and kept & 1)
        assert form.nearest(number) == kept


def test_whole_numbers_round_and_stop_at_their_limits() -> None:
    form = FORMATS["int8"]
    cases = {0.5: 0, 1.5: 2, 2.5: 2, -0.5: 0, -1.5: -2, 126.5: 126, 127.4: 127, 300: 127, -128.5: -128, -1e9: -128}
    for number, value in {**cases, math.inf: 127, -math.inf: -128}.items():
        assert form.value(form.nearest(number)) == value


# Largest, smallest normal and smallest number: as NumPy's finfo, and the tables of the papers for the small ones.
FACTS: dict[str, tuple[Any, ...]] = {
    **{
        name: (info.max, info.smallest_normal, info.smallest_subnormal)
        for name, info in (
            (name, ml_dtypes.finfo(dtype))  # type: ignore[no-untyped-call]
            for name, dtype in ORACLES.items()
            if name != "int8"
        )
    },
    "float8_e4m3": (448.0, 2.0**-6, 2.0**-9),
    "float8_e5m2": (57344.0, 2.0**-14, 2.0**-16),
    "float4_e2m1": (6.0, 1.0, 0.5),
    "tf32": ((2 - 2.0**-10) * 2.0**127, 2.0**-126, 2.0**-136),
    "int8": (127.0, None, 1.0),
}


@pytest.mark.parametrize("name", FORMATS)
def test_the_limits_are_those_of_the_tables(name: str) -> None:
    form = FORMATS[name]
    largest, normal, smallest = FACTS[name]
    assert (form.largest, form.smallest_normal, form.smallest) == (
        float(largest),
        None if normal is None else float(normal),
        float(smallest),
    )


@pytest.mark.parametrize("name", FORMATS)
def test_the_spacing_is_the_distance_to_the_next_number(name: str) -> None:
    form = FORMATS[name]
    for code in np.unique(np.linspace(0, form.last - 1, 60).astype(int)).tolist():
        assert form.spacing(code) == form.value(code + 1) - form.value(code)


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "float8_e5m2"])
def test_neighbours_are_those_of_nextafter(name: str) -> None:
    form, dtype = FORMATS[name], np.dtype(ORACLES[name])
    codes = patterns(name)
    values = codes.astype(f"u{dtype.itemsize}").view(dtype)
    for bound, side in ((-np.inf, 0), (np.inf, 1)):
        with np.errstate(all="ignore"):
            expected = np.nextafter(values, np.array(bound).astype(dtype)).astype(float).tolist()
        for code, value in zip(codes.tolist()[::37], expected[::37], strict=True):
            found = form.neighbours(code)[side]
            if math.isnan(value) or form.value(code) == bound:
                assert found is None
            else:
                assert found == value


def test_neighbours_of_formats_without_infinities_end_at_the_largest() -> None:
    small, byte, whole = (FORMATS[name] for name in ("float4_e2m1", "float8_e4m3", "int8"))
    assert [small.neighbours(code) for code in (7, 15, 0, 8, 1)] == [
        (4, None),
        (None, -4),
        (-0.5, 0.5),
        (-0.5, 0.5),
        (0, 1),
    ]
    assert [byte.neighbours(code) for code in (0x7E, 0x7F, 0xFE)] == [(416, None), (None, None), (None, -416)]
    assert [whole.neighbours(code) for code in (0, 127, 128, 255)] == [(-1, 1), (126, None), (None, -127), (-2, 0)]


def test_numbers_are_read_exactly() -> None:
    assert read(" 0.1 ") == Fraction(1, 10)
    assert read("−2.5e-3") == Fraction(-25, 10000)
    assert math.copysign(1, read("-0.0")) == -1
    assert read("1e999999999") == math.inf
    assert read("1e-999999999") == 0
    assert math.isnan(read("NaN"))


@pytest.mark.parametrize("text", ["", "a", "1,000", "1/3", "0x10"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no number\.\n  Fix: write it as 0.1, -3, 65504, 1e-7, inf or nan"):
        read(text)


def test_a_text_without_end_is_refused_before_it_takes_long() -> None:
    assert read("0." + 38 * "1") == Fraction(int(38 * "1"), 10**38)
    with pytest.raises(ValueError, match=r"A number of 41 letters is too long\.\n  Fix: write at most 40\."):
        read("0." + 39 * "1")


def test_nan_is_refused_where_there_is_none() -> None:
    with pytest.raises(ValueError, match="FP4 E2M1 has no NaN"):
        FORMATS["float4_e2m1"].nearest(math.nan)
