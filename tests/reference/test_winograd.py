from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from convlab.errors import ArgumentError
from convlab.reference import winograd as module
from convlab.reference.direct import direct, oracle
from convlab.reference.im2col import im2col
from convlab.reference.winograd import Transforms, Work, transforms, winograd_f2, winograd_f4
from convlab.spec import ConvSpec

from .cases import doubles, onnx_conv, random_arrays, random_spec

DTYPES = "float32", "float64", "float16"
BOTH = [(winograd_f2, transforms(2, 3)), (winograd_f4, transforms(4, 3))]

# The transforms


@pytest.mark.parametrize(
    ("m", "r", "points"),
    [
        (2, 3, (0, 1, -1)),
        (4, 3, (0, 1, -1, 2, -2)),
        (6, 3, module.POINTS),
        (3, 2, (0, 1, -1)),
        (1, 3, (0, 1)),
        (2, 5, (3, Fraction(2, 7), -1, 5, 0)),
        (5, 1, (0, 1, 2, 3)),
        (1, 1, ()),
    ],
)
def test_the_transforms_filter_exactly_whatever_the_points(m, r, points):
    f = transforms(m, r, points)
    at, g, bt = (np.array(matrix, dtype=object) for matrix in (f.at, f.g, f.bt))
    for i in range(m + r - 1):  # both sides are linear in d and in g: unit vectors prove it for all
        for j in range(r):
            d, taps = (np.array([Fraction(at == one) for at in range(n)]) for n, one in ((m + r - 1, i), (r, j)))
            outputs = at @ ((g @ taps) * (bt @ d))
            assert outputs.tolist() == [sum(d[p + s] * taps[s] for s in range(r)) for p in range(m)]


def test_they_are_the_published_ones_but_for_signs():
    f = transforms(4, 3)
    published = [[4, 0, -5, 0, 1, 0], [0, -4, -4, 1, 1, 0], [0, 4, -4, -1, 1, 0], [0, -2, -1, 2, 1, 0]]
    for row, other in zip(f.bt[:4], published, strict=True):
        assert list(row) in (other, [-number for number in other])
    assert f.g[3] == (Fraction(1, 24), Fraction(1, 12), Fraction(1, 6))
    assert [list(row) for row in transforms(2, 3).at] == [[1, 1, 1, 0], [0, 1, -1, 1]]


def test_the_work_of_a_tile():
    assert transforms(2, 3).work() == Work(16, 36, input_additions=32, output_additions=24, filter_additions=28)
    f4 = transforms(4, 3).work()
    assert (f4.products, f4.direct_products) == (36, 144)
    assert transforms(1, 3).work().products == transforms(1, 3).work().direct_products == 9


@pytest.mark.parametrize(
    ("arguments", "fact", "call", "fix"),
    [
        ((3, 3, (0, 1, -1)), "F(3, 3) needs 4 different points, but has 3", "m=3, r=3", "Add points, such as 3 and -3"),
        ((2, 3, (0, 1, 1)), "F(2, 3) needs 3 different points, but has 2", "m=2, r=3", "Add points, such as 3 and -3"),
        ((0, 3), "m=0 outputs of r=3 taps are nothing to compute", "m=0, r=3", "Give both at least 1"),
    ],
)
def test_too_few_points_and_sizes_are_refused(arguments, fact, call, fix):
    with pytest.raises(ArgumentError) as caught:
        transforms(*arguments)
    assert str(caught.value) == f"{fact}.\n  In: transforms({call})\n  Fix: {fix}."


# Convolution


def _spec(seed):
    """A random spec that winograd takes: odd and even sizes, all kinds of padding, groups."""
    return replace(random_spec(seed), r=3, s=3, stride=(1, 1), dilation=(1, 1))


def _absolute(f):
    return Transforms(f.m, f.r, *(tuple(tuple(map(abs, row)) for row in matrix) for matrix in (f.at, f.g, f.bt)))


def _allowed(arrays, spec, f, dtype):
    """The rounding of every sum on the way, each at most a half unit of what the transforms make of |w| and |x|."""
    x, w, bias = (None if array is None else abs(array) for array in doubles(*arrays))
    roundings = 2 * (3 + 1) + 4 * (f.m + 2) + spec.c // spec.groups + 1
    unit = np.finfo(np.promote_types(dtype, "float32")).eps / 2
    return 1.01 * roundings * unit * module._winograd(x, w, bias, spec, _absolute(f))


@pytest.mark.parametrize(("convolve", "f"), BOTH, ids=["F2", "F4"])
@pytest.mark.parametrize("seed", range(200))
def test_both_equal_the_onnx_reference(seed, convolve, f):
    spec = _spec(seed)
    arrays = random_arrays(spec, seed, DTYPES[seed // 8 % 3])
    expected = onnx_conv(*doubles(*arrays), spec)
    y = convolve(*arrays, spec)
    allowed = _allowed(arrays, spec, f, y.dtype)
    if y.dtype == "float16":
        allowed += np.finfo("float16").eps / 2 * abs(expected)
    assert y.dtype == arrays[0].dtype
    assert y.shape == expected.shape == spec.output_shape
    assert (abs(y.astype("float64") - expected) <= allowed).all()


@pytest.mark.parametrize("sizes", [(1, 1), (2, 1), (5, 3), (4, 9)])
def test_small_images_within_wide_padding(sizes):
    spec = ConvSpec(n=2, c=3, h=sizes[0], w=sizes[1], k=4, r=3, s=3, padding=(4, 1, 2, 5))
    arrays = random_arrays(spec, seed=1)
    for convolve, f in BOTH:
        y = convolve(*arrays, spec)
        assert (abs(y - oracle(*arrays, spec)) <= _allowed(arrays, spec, f, y.dtype)).all()


def test_f2_is_exact_on_small_whole_numbers():
    spec = ConvSpec(n=2, c=5, h=7, w=6, k=3, r=3, s=3, padding=1)
    rng = np.random.default_rng(3)
    x, w, bias = (rng.integers(-9, 10, shape).astype("f4") for shape in (spec.input_shape, spec.weight_shape, 3))
    assert np.array_equal(winograd_f2(x, w, bias, spec), direct(x, w, bias, spec))


@pytest.mark.parametrize("seed", range(3))
def test_the_larger_tile_pays_with_accuracy(seed):
    """In float32, of normal random numbers: F(2×2) errs about as im2col does, F(4×4) several times as much."""
    spec = ConvSpec(n=1, c=64, h=20, w=24, k=16, r=3, s=3, padding=1)
    arrays = random_arrays(spec, seed, "float32")
    exact = oracle(*arrays, spec)
    by_matrix, by_f2, by_f4 = (
        np.sqrt(np.mean((convolve(*arrays, spec) - exact) ** 2)) for convolve in (im2col, winograd_f2, winograd_f4)
    )
    assert 0.5 < by_f2 / by_matrix < 4
    assert 3 < by_f4 / by_f2 < 12
    assert by_f4 / np.sqrt(np.mean(exact**2)) < 2e-6


# What is refused


@pytest.mark.parametrize("convolve", [winograd_f2, winograd_f4])
@pytest.mark.parametrize("changes", [{"r": 2}, {"s": 5}, {"stride": (1, 2)}, {"dilation": (2, 1)}])
def test_other_filters_than_3_by_3_are_refused(convolve, changes):
    spec = replace(ConvSpec(n=2, c=3, h=9, w=8, k=4, r=3, s=3), **changes)
    arrays = random_arrays(spec, seed=1)
    with pytest.raises(ArgumentError) as caught:
        convolve(*arrays, spec)
    fact = "winograd needs 3×3 filters with stride 1 and dilation 1"
    assert str(caught.value) == f"{fact}.\n  In: {spec!r}\n  Fix: Use im2col, or another method that takes any filter."


@pytest.mark.parametrize("convolve", [winograd_f2, winograd_f4])
def test_integers_and_wrong_shapes_are_refused(convolve):
    spec = ConvSpec(n=2, c=4, h=5, w=6, k=3, r=3, s=3)
    x, w, bias = random_arrays(spec, seed=1)
    with pytest.raises(ArgumentError) as caught:
        convolve(x.astype("i4"), w.astype("i4"), bias.astype("i4"), spec)
    fact = "x is int32, but winograd's filter transform has fractions"
    assert str(caught.value) == f"{fact}.\n  In: {spec!r}\n  Fix: Convert x and w to float32."
    with pytest.raises(ArgumentError, match=r"x has shape \(2, 4, 6, 5\), but the spec needs \(N, C, H, W\)"):
        convolve(x.reshape(2, 4, 6, 5), w, bias, spec)
