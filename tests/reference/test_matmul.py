from __future__ import annotations

import numpy as np
import pytest

from convlab.errors import ArgumentError
from convlab.reference.matmul import matmul
from convlab.spec import GemmSpec

SPEC = GemmSpec(3, 4, 300)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", ">f4"])
def test_it_is_the_product_in_the_type_of_its_factors(dtype):
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-9, 9, shape).astype(dtype) for shape in ((3, 300), (300, 4)))
    y = matmul(a, b, SPEC)
    assert y.dtype == np.dtype(dtype)
    assert (y == (a.astype("f8") @ b.astype("f8")).astype(dtype)).all()  # integers below 2^24: no sum is rounded


def test_half_precision_is_summed_in_single():
    a, b = np.full((3, 300), 0.1, "f2"), np.ones((300, 4), "f2")
    assert (matmul(a, b, SPEC) == np.float16(300 * np.float64(np.float16(0.1)))).all()


@pytest.mark.parametrize(
    ("dtypes", "fact", "fix"),
    [
        (
            ("int8", "int8"),
            "the output holds 30000, but int8 goes from -128 to 127",
            "Convert the inputs to a wider type",
        ),
        (("bool", "bool"), "a is bool, which float64 cannot sum exactly", "Convert a to float32 or int32"),
        (("object", "object"), "a is object, which float64 cannot sum exactly", "Convert a to float32 or int32"),
        (("float32", "float64"), "b is float64, but a is float32", "Give all arrays one type, such as float32"),
    ],
)
def test_what_has_no_exact_sum_is_refused(dtypes, fact, fix):
    a, b = (np.full(shape, 10, dtype) for shape, dtype in zip(((3, 300), (300, 4)), dtypes, strict=True))
    with pytest.raises(ArgumentError) as caught:
        matmul(a, b, SPEC)
    lines = str(caught.value).split("\n")
    assert lines[0] == f"{fact}."
    assert lines[1] == f"  In: {SPEC!r}"
    assert lines[2].startswith(f"  Fix: {fix}")


def test_another_shape_is_refused():
    with pytest.raises(ArgumentError, match=r"b has shape \(4, 300\), but the spec needs \(K, N\) = \(300, 4\)\."):
        matmul(np.ones((3, 300)), np.ones((4, 300)), SPEC)
