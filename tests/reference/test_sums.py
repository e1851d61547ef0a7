from __future__ import annotations

import warnings

import numpy as np
import pytest

from convlab.errors import ArgumentError
from convlab.reference.sums import rounded, sum_type, with_bias
from convlab.spec import ConvSpec

SPEC = ConvSpec(n=1, c=1, h=1, w=3, k=1, r=1, s=1)


@pytest.mark.parametrize(
    ("dtype", "wide"),
    [("float16", "f4"), ("float32", "f4"), ("float64", "f8"), ("int8", "i8"), ("uint8", "i8"), ("int64", "i8")],
)
def test_sums_are_kept_in(dtype, wide):
    assert sum_type(np.dtype(dtype)) == wide


def test_the_bias_is_one_number_a_channel():
    y = with_bias(np.zeros((2, 3, 1, 4), "f4"), np.array([1.0, 2.0, 3.0]))
    assert y.dtype == "f4"
    assert (y == np.array([1, 2, 3]).reshape(1, 3, 1, 1)).all()


def test_floats_go_to_infinity_quietly_and_integers_are_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rounded(np.array([7e4, -7e4, 2.0]), np.dtype("float16"), SPEC).tolist() == [np.inf, -np.inf, 2.0]
    assert rounded(np.array([-128, 127]), np.dtype("int8"), SPEC).tolist() == [-128, 127]
    with pytest.raises(ArgumentError) as caught:
        rounded(np.array([5, 128]), np.dtype("int8"), SPEC)
    fact, fix = (
        "the output holds 128, but int8 goes from -128 to 127",
        "Convert the inputs to a wider type, such as int64",
    )
    assert str(caught.value) == f"{fact}.\n  In: {SPEC!r}\n  Fix: {fix}."
