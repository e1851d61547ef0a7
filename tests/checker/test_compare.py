"""Comparing a result with the oracle: the first wrong element, the bound, the kinds."""

import numpy as np
import pytest

from convlab.checker.compare import compare, rounding_bound
from convlab.checker.record import Case

CASE = Case({}, axes=("p", "q"))
RIGHT = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, 1e6]])


def test_equal_is_right_and_keeps_the_array():
    finding = compare(CASE, RIGHT.astype("f4"), RIGHT, 1e-6 * np.abs(RIGHT))
    assert finding.problem == ""
    assert not finding.elements.wrong.any()
    assert np.array_equal(finding.array, RIGHT)


def test_each_element_has_its_own_tolerance():
    tolerance = np.array([[0, 0, 0], [0, 0, 1.0]])
    assert compare(CASE, RIGHT + tolerance, RIGHT, tolerance).problem == ""
    finding = compare(CASE, RIGHT + 1e-3, RIGHT, tolerance)
    assert finding.elements.wrong.tolist() == [[True, True, True], [True, True, False]]
    assert finding.problem == "gives y[p=0, q=0] = 1.001, but 1 was expected (wrong elements: 5 of 6)"


def test_nan_is_never_within_a_tolerance():
    found = RIGHT.copy()
    found[1, 1] = np.nan
    finding = compare(CASE, found, RIGHT, np.full(RIGHT.shape, np.inf))
    assert finding.elements.first == (1, 1)
    assert finding.problem == "gives y[p=1, q=1] = NaN, but 5 was expected (wrong elements: 1 of 6)"


def test_a_number_is_compared_without_axes():
    case = Case({}, fixed={"k": 2})
    assert compare(case, 0.5, np.array(0.5), np.array(0.0)).problem == ""
    assert compare(case, 0.25, np.array(0.5), np.array(0.0)).problem == "gives y[k=2] = 0.25, but 0.5 was expected"


def test_the_found_array_is_a_copy():
    found = RIGHT.copy()
    finding = compare(CASE, found, RIGHT, np.zeros(RIGHT.shape))
    found[...] = 0
    assert np.array_equal(finding.array, RIGHT)


def test_a_shape_that_differs_is_told_and_the_array_kept_for_the_diagnosis():
    finding = compare(CASE, RIGHT.T, RIGHT, np.zeros(RIGHT.shape))
    assert finding.problem == "returned an array of shape (3, 2), but an array of shape (2, 3) was expected"
    assert finding.shapes == ((3, 2), (2, 3))
    assert np.array_equal(finding.array, RIGHT.T)
    huge = np.broadcast_to(1.0, (10**5, 10**5))
    assert compare(CASE, huge, RIGHT, np.zeros(RIGHT.shape)).array is None


@pytest.mark.parametrize("dtype", ["f4", "f8", ">f4", "g"])
def test_floats_of_32_bits_and_more_are_results(dtype):
    assert compare(CASE, RIGHT.astype(dtype), RIGHT, np.zeros(RIGHT.shape)).problem == ""


@pytest.mark.parametrize("dtype", ["f2", "i1", "u8", "?", "c8", "O", "S3", "M8[D]", "V4"])
def test_other_types_are_not(dtype):
    array = np.zeros(RIGHT.shape, dtype)
    assert compare(CASE, array, RIGHT, np.zeros(RIGHT.shape)).problem.startswith(f"returned {array.dtype} values")


@pytest.mark.parametrize("value", [7, np.int16(7), np.uint8(7), np.array(7), 7.0])
def test_what_is_counted_may_be_an_int(value):
    counted = Case({"size": 9}, whole=True)
    assert compare(counted, value, np.asarray(7.0), np.asarray(1e-9)).problem == ""
    problem = compare(counted, value, np.asarray(8.0), np.asarray(1e-9)).problem
    assert problem == "gives y = 7, but 8 was expected"


@pytest.mark.parametrize(("value", "kind"), [(True, "bool"), (10**30, "object"), (7j, "complex128")])
def test_what_is_counted_is_still_a_number(value, kind):
    found = compare(Case({"size": 9}, whole=True), value, np.asarray(7.0), np.asarray(1e-9)).problem
    assert found.endswith("return one number") or found == f"returned {kind} values; make the result an int"


@pytest.mark.parametrize("seed", range(50))
def test_the_bound_covers_every_order_of_summing_in_float32(seed):
    rng = np.random.default_rng(seed)
    terms = rng.standard_normal(200).astype("f4") * rng.choice([1, 1000], 200).astype("f4")
    exact, magnitude = terms.astype(float).sum(), np.abs(terms.astype(float)).sum()
    bound = rounding_bound(200, magnitude, "float32")
    for order in (terms, terms[::-1], np.sort(terms), rng.permutation(terms)):
        assert abs(float(np.cumsum(order)[-1]) - exact) <= bound
    assert bound < 1e-4 * magnitude
