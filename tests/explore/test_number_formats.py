from __future__ import annotations

import re

import numpy as np
import pytest

from convlab import explore


def test_a_press_flips_a_bit_whatever_the_number_is() -> None:
    explorer, rng = explore.number_formats(), np.random.default_rng(2)
    for count, cell in enumerate(rng.integers(0, 16, 120).tolist(), start=1):
        before = explorer.view.code
        explorer._grid.pressed = (cell, count)
        assert explorer.view.code == before ^ 1 << (15 - cell)
        assert explorer._grid.picture == explorer.view.live
    explorer.controls["dtype"].value = "int8"
    explorer.controls["number"].value = "3"
    explorer._grid.pressed = (0, 1000)
    assert (explorer.view.value, explorer.controls["number"].value) == (3 - 128, "-125")


def test_nonsense_is_said_in_place_and_refused_at_first() -> None:
    explorer = explore.number_formats("2.5")
    explorer.controls["number"].value = "two"
    assert explorer.view.panels[0].message == ("'two' is no number. Write it as 0.1, -3, 65504, 1e-7, inf or nan.")
    explorer.controls["number"].value = "2"
    assert explorer.view.value == 2
    with pytest.raises(ValueError, match=re.escape("number='two' means nothing: 'two' is no number.\n")):
        explore.number_formats("two")


def test_the_field_offers_examples_and_takes_what_is_entered() -> None:
    field = explore.number_formats().controls["number"]
    assert not field.continuous_update
    assert "65504" in field.options
    assert not field.ensure_option


def test_numbers_may_be_given_as_such() -> None:
    assert explore.number_formats(-0.25, "bfloat16").view.value == -0.25


def test_a_link_takes_a_text_whole_or_not_at_all() -> None:
    explorer = explore.number_formats("2.5")
    explorer.restore("dtype:bfloat16,number:1,5")
    assert explorer.values == {"dtype": "bfloat16", "number": "2.5"}
    explorer.restore("number:-7.5,dtype:float16")
    assert explorer.values == {"dtype": "float16", "number": "-7.5"}
