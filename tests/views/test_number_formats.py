"""The picture of a number's bits, against NumPy and ml_dtypes."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from convlab.views.formats import FORMATS
from convlab.views.number_formats import code_of, decimal, number_formats, written


def bits(number: str, dtype: str) -> str:
    return "".join(number_formats(number, dtype).panels[0].values)


def test_bits_are_those_of_the_machine() -> None:
    assert bits("0.1", "float32") == f"{np.float32(0.1).view(np.uint32):032b}"
    assert bits("-3.7", "float16") == f"{np.float16(-3.7).view(np.uint16):016b}"
    assert bits("-3.7", "bfloat16") == f"{np.float32(-3.7).view(np.uint32) + 0x8000 >> 16:016b}"
    assert bits("448", "float8_e4m3") == "01111110"
    assert bits("-5", "int8") == "11111011"
    assert bits("1.5", "float4_e2m1") == "0011"
    assert len(bits("1", "tf32")) == 19


@pytest.mark.parametrize("name", FORMATS)
def test_the_parts_multiply_to_the_value(name: str) -> None:
    form = FORMATS[name]
    for code in np.random.default_rng(3).integers(0, 2**form.bits, 60).tolist():
        view = number_formats(hex(code), name)
        assert (view.code, view.panels[0].values) == (code, list(f"{code:0{form.bits}b}"))
        if not math.isfinite(view.value):
            continue
        parts = [
            text.replace("−", "-").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
            for text in view.panels[1].values
        ]
        if not form.exponent:
            assert sum(map(int, parts)) == view.value
            continue
        sign, power, significand = int(parts[0]), Fraction(2) ** int(parts[1][1:]), float(parts[2].replace("·10", "e"))
        assert sign * float(power) * significand == pytest.approx(view.value, rel=1e-8)


@pytest.mark.parametrize("name", FORMATS)
def test_a_bit_says_what_it_is_worth(name: str) -> None:
    form = FORMATS[name]
    labels = number_formats("1", name).panels[0].labels
    assert labels[0].startswith("sign")
    assert [label.split()[0] for label in labels[1 : 1 + form.exponent]] == ["exponent"] * form.exponent
    worth = [int(match[1]) for match in (re.search(r"exponent bit worth (\d+):", label) for label in labels) if match]
    assert worth == [2**i for i in reversed(range(form.exponent))]
    kinds = number_formats("1", name).panels[0].kinds
    assert [list(kinds).count(kind) for kind in ("shared", "filter", "input")] == [1, form.exponent, form.fraction]


def test_every_format_shows_what_becomes_of_the_number() -> None:
    table = number_formats("1000.3", "float16").panels[3]
    rows = dict(zip(table.row_index, np.reshape(table.values, (8, 6)).tolist(), strict=True))
    assert rows["FP16"][:4] == ["1000.5", "0.02 %", "0.5", "65504"]
    assert rows["BF16"][:4] == ["1000", "0.03 %", "4", "3.39·10³⁸"]
    assert rows["FP8 E5M2"][:3] == ["1024", "2.37 %", "256"]
    assert rows["FP8 E4M3"][:3] == ["NaN", "beyond it", "–"]
    assert rows["FP4 E2M1"] == ["6", "99.4 %", "2", "6", "1", "0.5"]
    assert rows["INT8"] == ["127", "87.3 %", "1", "127", "–", "1"]
    assert rows["FP32"][0] == decimal(float(np.float32(1000.3)))
    assert [kind == "output" for kind in table.kinds[::6]] == [name == "FP16" for name in table.row_index]


def test_neighbours_stand_below_and_above() -> None:
    panel = number_formats("-3", "float16").panels[2]
    below, above = (float(np.nextafter(np.float16(-3), np.float16(bound))) for bound in (-10, 10))
    assert list(panel.values) == [decimal(each) for each in (below, -3, above)]
    assert [label.split(":")[0] for label in panel.labels] == ["next below", "this number", "next above"]
    assert list(number_formats("127", "int8").panels[2].values) == ["126", "127", "none"]
    assert list(number_formats("nan", "float16").panels[2].values) == ["none", "NaN", "none"]


def test_links_follow_the_fields_to_the_value_and_its_row() -> None:
    view = number_formats("0.1", "bfloat16")
    ids = view.ids
    for cell, part in ((0, 0), (1, 1), (8, 1), (9, 2), (15, 2)):
        assert view.linked(int(ids["bits"][0, cell])) == [ids["parts"][0, part]]
    middle = view.linked(int(ids["neighbours"][0, 1]))
    expected = [*ids["parts"][0], *ids["neighbours"][0, ::2], *ids["formats"][list(FORMATS).index("bfloat16")]]
    assert middle == sorted(expected)


@pytest.mark.parametrize(
    ("number", "dtype", "words"),
    [
        ("0.1", "float16", "0.0999755859 is 0.0244 % off; the numbers here are 6.1·10⁻⁵ apart."),
        ("0.5", "float16", "0.5 is exact; the numbers here are 0.000488 apart."),
        ("1e-40", "float32", "a subnormal with fewer digits"),
        ("1e-9", "float16", "Too near to 0 for FP16: it becomes 0 (underflow); the next number is 5.96·10⁻⁸."),
        ("70000", "float16", "Beyond 65504, the largest FP16 number: it becomes ∞ (overflow)."),
        ("-500", "float8_e4m3", "Beyond 448, the largest FP8 E4M3 number: it becomes NaN (overflow)."),
        ("inf", "float16", "Infinite: the result of 1/0"),
        ("nan", "bfloat16", "NaN, not a number"),
        ("1", "float4_e2m1", "what lies beyond becomes 6; it has no NaN either."),
        ("1", "float4_e2m1", "1 fraction bit makes 2 numbers"),
        ("1", "float8_e5m2", "What lies beyond becomes ∞ here, 57344 in a GPU's saturating conversions."),
        (
            "1",
            "float8_e4m3",
            "no infinities: what lies beyond becomes NaN here, 448 in a GPU's saturating conversions.",
        ),
        ("-inf", "float4_e2m1", "FP4 E2M1 has no infinity: it becomes −6, the nearest number."),
        ("inf", "int8", "INT8 has no infinity: it becomes 127, the nearest number."),
        ("1", "int8", "a scale, kept in float, stretches them"),
    ],
)
def test_the_words_say_what_happens(number: str, dtype: str, words: str) -> None:
    view = number_formats(number, dtype)
    assert words in " ".join(view.captions)
    assert words in view.alt
    assert view.title in view.alt


def test_what_is_written_is_read_back() -> None:
    for name, form in FORMATS.items():
        for code in np.random.default_rng(5).integers(0, 2**form.bits, 200).tolist():
            assert code_of(written(form, code), form) == code, name


def test_facts() -> None:
    view = number_formats(2049, "float16")
    assert (view.value, view.spacing, view.code) == (2048, 2, 0x6800)
    assert math.isnan(number_formats("nan", "float16").spacing)


@pytest.mark.parametrize(
    ("number", "dtype", "fact"),
    [
        ("many", "float16", "'many' is no number."),
        ("0xg", "float16", "'0xg' are no bits."),
        ("0x100", "int8", "0x100 are more than the 8 bits of INT8."),
        ("nan", "int8", "INT8 has no NaN."),
        ("1", "float128", "'float128' is no format here."),
    ],
)
def test_what_makes_no_picture_is_said(number: str, dtype: str, fact: str) -> None:
    with pytest.raises(ValueError, match=re.escape(fact)) as error:
        number_formats(number, dtype)
    assert "Fix: " in str(error.value)
