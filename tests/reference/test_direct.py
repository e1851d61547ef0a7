from __future__ import annotations

import itertools
import warnings
from collections import Counter

import numpy as np
import pytest

from convlab.errors import ArgumentError
from convlab.reference.direct import direct, oracle
from convlab.spec import ConvSpec

from .cases import doubles, magnitude, onnx_conv, random_arrays, random_spec

SEEDS = range(300)


def test_the_random_specs_cover_what_they_should():
    specs = [random_spec(seed) for seed in SEEDS]
    assert all(spec.h != spec.w and spec.r != spec.s and spec.n > 1 for spec in specs)
    assert all(spec.c != spec.k or spec.groups == spec.c for spec in specs)
    counts = Counter()
    for spec in specs:
        top, bottom, left, right = spec.padding
        counts["uneven padding"] += top != bottom and left != right
        counts["unequal strides"] += spec.stride[0] != spec.stride[1]
        counts["unequal dilations"] += spec.dilation[0] != spec.dilation[1] and spec.r > 1 and spec.s > 1
        counts["grouped"] += 1 < spec.groups < spec.c
        counts["depthwise"] += 1 < spec.groups == spec.c
        counts["more than one output"] += spec.p > 1 and spec.q > 1 and spec.p != spec.q
    assert min(counts.values()) >= 20, counts


@pytest.mark.parametrize("seed", SEEDS)
def test_both_equal_the_onnx_reference(seed):
    spec = random_spec(seed)
    dtype = ["float32", "float64"][seed // 8 % 2]
    x, w, bias = random_arrays(spec, seed, dtype)
    arrays = x, w, bias
    expected = onnx_conv(*doubles(*arrays), spec)
    error = abs(oracle(*arrays, spec) - expected)
    allowed = 1e-14 * magnitude(*doubles(*arrays), spec)
    assert expected.shape == spec.output_shape
    assert (error <= allowed).all()

    y = direct(*arrays, spec)
    assert y.dtype == dtype
    rounded = abs(y.astype("float64") - expected)
    assert (rounded <= allowed + np.finfo(dtype).eps / 2 * abs(expected)).all(), "rounded once, from float64"


def test_one_output_by_hand_is_27_products_and_the_bias():
    spec = ConvSpec(n=2, c=3, h=6, w=5, k=4, r=3, s=3)
    x, w, bias = random_arrays(spec, seed=1)
    n, k, p, q = 1, 2, 3, 1
    products = [x[n, c, p + r, q + s] * w[k, c, r, s] for c, r, s in itertools.product(range(3), range(3), range(3))]
    assert len(products) == 27
    assert direct(x, w, bias, spec)[n, k, p, q] == pytest.approx(sum(products) + bias[k], rel=1e-13)


def test_a_photograph_through_eight_filters():
    spec = ConvSpec(n=1, c=3, h=256, w=240, k=8, r=3, s=3, padding=1)
    x, w, bias = random_arrays(spec, seed=2, dtype="float32")
    y = direct(x, w, bias, spec)
    top_left = np.einsum("chw,kchw->k", x[0, :, :2, :2], w[:, :, 1:, 1:]) + bias
    bottom_right = np.einsum("chw,kchw->k", x[0, :, -2:, -2:], w[:, :, :2, :2]) + bias
    np.testing.assert_allclose(y[0, :, 0, 0], top_left, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(y[0, :, -1, -1], bottom_right, rtol=1e-4, atol=1e-5)


def test_inputs_are_left_alone_and_views_are_taken():
    spec = ConvSpec(n=2, c=3, h=6, w=5, k=4, r=3, s=2, padding=1)
    x, w, bias = random_arrays(spec, seed=4)
    strided = np.asfortranarray(x)
    before = x.copy(), w.copy(), bias.copy()
    assert np.array_equal(direct(strided, w, bias, spec), direct(x, w, bias, spec))
    assert all(map(np.array_equal, before, (x, w, bias)))


# Types


def test_half_precision_is_rounded_once_from_float64():
    spec = ConvSpec(n=2, c=40, h=5, w=6, k=3, r=3, s=2)
    x, w, bias = random_arrays(spec, seed=5, dtype="float16")
    y = direct(x, w, bias, spec)
    assert y.dtype == np.float16
    assert np.array_equal(y, oracle(x, w, bias, spec).astype("float16"))


def test_beyond_the_range_of_a_float_lies_infinity_without_a_warning():
    spec = ConvSpec(n=1, c=1, h=1, w=2, k=1, r=1, s=2)
    x, w = np.full((1, 1, 1, 2), 60_000, "float16"), np.ones((1, 1, 1, 2), "float16")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert direct(x, w, None, spec)[0, 0, 0, 0] == np.inf
    assert oracle(x, w, None, spec)[0, 0, 0, 0] == pytest.approx(120_000, rel=1e-3)


def test_integers_are_exact():
    spec = ConvSpec(n=1, c=1, h=1, w=3, k=1, r=1, s=3)
    x, w = np.array([2**60 + 1, 3, -5]).reshape(1, 1, 1, 3), np.array([2, -7, 11]).reshape(1, 1, 1, 3)
    y = direct(x, w, np.array([4]), spec)
    assert y.dtype == np.int64
    assert y.item() == 2 * (2**60 + 1) - 21 - 55 + 4


@pytest.mark.parametrize(
    ("dtype", "fact"),
    [
        ("int8", "the output holds 200, but int8 goes from -128 to 127"),
        ("uint8", "the output holds 300, but uint8 goes from 0 to 255"),
    ],
)
def test_integer_results_that_do_not_fit_are_refused(dtype, fact):
    spec = ConvSpec(n=1, c=1, h=1, w=2, k=1, r=1, s=2)
    x, w = np.full((1, 1, 1, 2), 50 if dtype == "int8" else 75, dtype), np.full((1, 1, 1, 2), 2, dtype)
    with pytest.raises(ArgumentError) as caught:
        direct(x, w, None, spec)
    assert str(caught.value) == f"{fact}.\n  In: {spec!r}\n  Fix: Convert the inputs to a wider type, such as int64."


def test_the_ends_of_an_integer_type_still_fit():
    spec = ConvSpec(n=1, c=1, h=1, w=2, k=1, r=1, s=1)
    ends, one = np.array([-128, 127], "int8").reshape(1, 1, 1, 2), np.ones((1, 1, 1, 1), "int8")
    assert np.array_equal(direct(ends, one, None, spec), ends)
    with pytest.raises(ArgumentError, match="the output holds 128, but int8 goes from -128 to 127"):
        direct(ends, -one, None, spec)
    with pytest.raises(ArgumentError, match="the output holds -129, but int8 goes from -128 to 127"):
        direct(ends, one, -one.ravel(), spec)


def test_the_oracle_takes_mixed_types():
    spec = ConvSpec(n=2, c=3, h=6, w=5, k=4, r=3, s=2)
    x, w, bias = random_arrays(spec, seed=7, dtype="float16")
    mixed = oracle((10 * x).astype("int8"), w, bias.astype("float32"), spec)
    assert np.array_equal(mixed, oracle((10 * x).astype("int8").astype("float64"), w, bias, spec))


# What is refused: the fact, the whole spec, the fix

SPEC = ConvSpec(n=2, c=6, h=5, w=7, k=4, r=3, s=2, groups=2)
GOOD = dict(zip(("x", "w", "bias"), random_arrays(SPEC, seed=8, dtype="float32"), strict=True))


@pytest.mark.parametrize("convolve", [direct, oracle])
@pytest.mark.parametrize(
    ("name", "array", "fact", "fix"),
    [
        (
            "x",
            np.zeros((2, 6, 7, 5), "float32"),
            "x has shape (2, 6, 7, 5), but the spec needs (N, C, H, W) = (2, 6, 5, 7)",
            "Reshape x, or make the spec with ConvSpec.from_shapes(x.shape, w.shape)",
        ),
        (
            "w",
            np.zeros((4, 6, 3, 2), "float32"),
            "w has shape (4, 6, 3, 2), but the spec needs (K, C/G, R, S) = (4, 3, 3, 2)",
            "Reshape w, or make the spec with ConvSpec.from_shapes(x.shape, w.shape)",
        ),
        (
            "bias",
            np.zeros((1, 4, 1, 1), "float32"),
            "bias has shape (1, 4, 1, 1), but the spec needs (K,) = (4,)",
            "Reshape bias, or make the spec with ConvSpec.from_shapes(x.shape, w.shape)",
        ),
        (
            "w",
            [1.0, 2.0],
            "w is of type list, not a NumPy array",
            "Convert it with np.asarray; its shape must be (K, C/G, R, S) = (4, 3, 3, 2)",
        ),
    ],
)
def test_shapes_that_do_not_fit_the_spec_are_refused(convolve, name, array, fact, fix):
    with pytest.raises(ArgumentError) as caught:
        convolve(**{**GOOD, name: array}, spec=SPEC)
    assert str(caught.value) == f"{fact}.\n  In: {SPEC!r}\n  Fix: {fix}."


@pytest.mark.parametrize(
    ("types", "fact", "fix"),
    [
        (("float32", "float64", "float32"), "w is float64, but x is float32", "Give all arrays one type"),
        (("float32", "float32", "float16"), "bias is float16, but x is float32", "Give all arrays one type"),
        (("bool",) * 3, "x is bool, which float64 cannot sum exactly", "Convert x to float32 or int32"),
        (("complex64",) * 3, "x is complex64, which float64 cannot sum exactly", "Convert x to float32"),
        (("uint64",) * 3, "x is uint64, which int64 cannot sum exactly", "Convert x to float32 or int32"),
    ],
)
def test_direct_refuses_types_it_cannot_return(types, fact, fix):
    arrays = [array.astype(dtype) for array, dtype in zip(GOOD.values(), types, strict=True)]
    with pytest.raises(ArgumentError) as caught:
        direct(*arrays, SPEC)
    assert str(caught.value).startswith(f"{fact}.\n  In: {SPEC!r}\n  Fix: {fix}")


@pytest.mark.parametrize("dtype", ["complex64", "str", "object"])
def test_the_oracle_refuses_what_is_not_real(dtype):
    with pytest.raises(ArgumentError, match=r"x is .*, which has no real value\.\n  In: .*\n  Fix: Convert x to"):
        oracle(**{**GOOD, "x": GOOD["x"].astype(dtype)}, spec=SPEC)
