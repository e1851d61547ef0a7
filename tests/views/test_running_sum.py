"""Running sums, against additions rounded one by one with exact fractions."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest

from convlab.views.formats import FORMATS
from convlab.views.running_sum import running_sum


def added(dtype: str, term: Fraction, terms: int) -> tuple[list[float], int | None]:
    """All sums, and after how many terms the sum is the same as with one more."""
    form = FORMATS[dtype]
    each = form.value(form.nearest(term))
    sums, total = [], 0.0
    for _ in range(terms):
        exact = total if math.isinf(total) else Fraction(total) + Fraction(each)
        total = form.value(form.nearest(exact))
        sums.append(total)
    still = next((i for i in range(1, terms) if sums[i] == sums[i - 1]), None)
    return sums, still


@pytest.mark.parametrize(
    ("term", "terms"), [("0.001", 1700), ("1", 2100), ("3", 901), ("0.1", 777), ("40", 1650), ("1e-9", 20), ("7", 3)]
)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_sums_are_those_of_single_additions(dtype: str, term: str, terms: int) -> None:
    sums, still = added(dtype, Fraction(term), terms)
    view = running_sum(term, terms, [dtype])
    assert view.sums == {dtype: sums[-1]}
    assert view.stops == {dtype: still}
    exact, panel = view.panels
    rows = [int(text) for text in panel.row_index]
    assert rows == [math.ceil(terms * i / len(rows)) for i in range(1, len(rows) + 1)]
    assert len(rows) == min(16, terms)
    whole = float(Fraction(term) * terms)
    assert list(panel.bars) == [min(1.0, sums[row - 1] / whole) for row in rows]
    assert list(exact.bars) == pytest.approx([row / terms for row in rows])
    assert [kind == "group5" for kind in panel.kinds] == [still is not None and row > still for row in rows]


def test_whole_numbers_stop_at_the_power_of_two_with_all_digits() -> None:
    view = running_sum("1", 65536)
    assert view.stops == {"float16": 2**11, "bfloat16": 2**8, "float32": None}
    assert view.sums == {"float16": 2**11, "bfloat16": 2**8, "float32": 65536}
    assert running_sum("1", 2**24 + 10, ["float32"]).stops == {"float32": 2**24}


def test_a_row_is_linked_across_all_sums_and_is_a_step() -> None:
    view = running_sum("0.001", 8192)
    row = [int(view.ids[name][4, 0]) for name in ("exact", "float16", "bfloat16", "float32")]
    for cell in row:
        assert view.linked(cell) == [each for each in row if each != cell]
    assert list(view.frames[5].lit) == row
    assert (len(view.frames), view.frames[0].lit) == (17, ())
    assert view.frames[5].caption.startswith("After 2560 terms: exactly 2.56; FP16 3.00390625, BF16 0.5, FP32 2.5")


@pytest.mark.parametrize(
    ("term", "terms", "words"),
    [
        ("1", 4096, "FP16 stops at 2048 after 2048 terms: the numbers there are 2 apart"),
        ("1", 4096, "FP32 grows to the end, and is exact."),
        ("0.001", 8192, "FP32 grows to the end, and is 0.00391 % off."),
        ("1000", 100, "FP16 is infinite after 66 terms: beyond 65504."),
        ("1e-9", 100, "FP16 stays 0: a term is nearer to 0 than to 5.96·10⁻⁸, its next number."),
        ("1", 16, "add in FP32."),
    ],
)
def test_the_words_say_why(term: str, terms: int, words: str) -> None:
    view = running_sum(term, terms)
    assert words in " ".join(view.captions)
    assert words in view.alt


@pytest.mark.parametrize(
    ("term", "terms", "dtypes", "fact"),
    [
        ("0", 10, ["float16"], "The term 0 is no number above 0."),
        ("nan", 10, ["float16"], "The term nan is no number above 0."),
        ("-1", 10, ["float16"], "The term -1 is no number above 0."),
        ("one", 10, ["float16"], "'one' is no number."),
        ("1", 0, ["float16"], "terms=0 is no whole number from 1 to 67108864."),
        ("1", 10, ["int8"], "'int8' is no format here."),
    ],
)
def test_what_is_no_sum_is_refused(term: str, terms: int, dtypes: list[str], fact: str) -> None:
    with pytest.raises(ValueError, match=re.escape(fact)) as error:
        running_sum(term, terms, dtypes)
    assert "Fix: " in str(error.value)
