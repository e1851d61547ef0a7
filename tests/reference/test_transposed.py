from __future__ import annotations

import numpy as np
import pytest

from convlab.errors import ArgumentError
from convlab.reference.direct import direct, oracle
from convlab.reference.transposed import flipped_filters, spread, transposed_matrix, zero_insertion
from convlab.spec import ConvSpec, ConvTransposeSpec

from .cases import assert_exact, doubles, random_arrays
from .transposed_cases import onnx_conv_transpose
from .transposed_specs import random_transposed

DTYPES = "float32", "float64", "float16"
BOTH = transposed_matrix, zero_insertion


def _assert_close(y, expected, arrays, spec):
    """Allow each of the sums of one output one rounding in the type that is summed in."""
    bound = zero_insertion(*(None if array is None else abs(array) for array in doubles(*arrays)), spec)
    sums = spec.c // spec.groups * spec.r * spec.s + 1
    allowed = sums * np.finfo(np.promote_types(y.dtype, "float32")).eps * bound
    if y.dtype == "float16":
        allowed += np.finfo("float16").eps * abs(expected)
    assert y.dtype == arrays[0].dtype
    assert y.shape == expected.shape == spec.output_shape
    assert (abs(y.astype("float64") - expected) <= allowed).all()


@pytest.mark.parametrize("seed", range(300))
def test_both_equal_the_onnx_reference(seed):
    spec = random_transposed(seed, onnx_right=True)
    arrays = random_arrays(spec, seed, DTYPES[seed // 8 % 3])
    expected = onnx_conv_transpose(*doubles(*arrays), spec)
    for convolve in BOTH:
        _assert_close(convolve(*arrays, spec), expected, arrays, spec)


@pytest.mark.parametrize("convolve", BOTH)
@pytest.mark.parametrize("seed", range(300))
def test_each_is_the_adjoint_of_the_convolution(seed, convolve):
    """⟨conv(z), x⟩ = ⟨z, conv_transpose(x)⟩: for groups and wide output padding, where ONNX's evaluator is wrong."""
    spec = random_transposed(seed)
    x, w, _ = random_arrays(spec, seed)
    z = np.random.default_rng(seed + 1000).standard_normal(spec.output_shape)
    there = (_strided_back(z, w, spec) * x).sum()
    back = (z * convolve(x, w, None, spec)).sum()
    assert there == pytest.approx(back, rel=1e-12, abs=1e-10)


def _strided_back(z, w, spec):
    """The convolution from (N, K, P, Q) to (N, C, H, W); what lies beyond z counts as zero."""
    top, _, left, _ = spec.padding
    shape = [
        (size - 1) * stride + dilation * (window - 1) + 1
        for size, stride, dilation, window in zip(
            (spec.h, spec.w), spec.stride, spec.dilation, (spec.r, spec.s), strict=True
        )
    ]
    canvas = np.zeros((spec.n, spec.k, *(np.array(shape) + spec.output_padding)))
    canvas[:, :, top : top + spec.p, left : left + spec.q] = z
    full = canvas[:, :, : shape[0], : shape[1]]
    return oracle(full, w, None, ConvSpec.from_shapes(full.shape, w.shape, spec.stride, 0, spec.dilation, spec.groups))


def test_the_random_specs_are_as_varied_as_they_claim():
    specs = [random_transposed(seed) for seed in range(300)]
    assert all(s.h != s.w and s.r != s.s and s.c != s.k and s.n > 1 for s in specs)
    assert sum(any(map(int.__ge__, s.output_padding, s.stride)) for s in specs) > 30
    assert sum(s.groups > 1 for s in specs) > 100
    assert sum(len(set(s.padding)) > 2 for s in specs) > 30
    assert sum(s.padding[0] > s.dilation[0] * (s.r - 1) for s in specs) > 30  # more is cropped than the window reaches


@pytest.mark.parametrize("seed", range(60))
def test_bias_is_added_once_to_every_output(seed):
    spec = random_transposed(seed)
    x, w, _ = random_arrays(spec, seed)
    bias = np.random.default_rng(seed).standard_normal(spec.k)
    for convolve in BOTH:
        difference = convolve(x, w, bias, spec) - convolve(x, w, None, spec)
        np.testing.assert_allclose(difference, np.broadcast_to(bias[:, None, None], spec.output_shape), atol=1e-13)


def test_an_output_row_that_only_output_padding_made_holds_the_bias():
    spec = ConvTransposeSpec(n=1, c=2, h=1, w=2, k=1, r=3, s=1, stride=2, padding=(3, 0, 0, 0), output_padding=(1, 0))
    x, w, _ = random_arrays(spec, seed=1)
    assert spec.output_shape == (1, 1, 1, 3)
    for convolve in BOTH:
        assert_exact(convolve(x, w, np.array([7.0]), spec), np.full((1, 1, 1, 3), 7.0))


def test_integers_are_exact():
    spec = ConvTransposeSpec(n=2, c=4, h=5, w=3, k=6, r=3, s=2, stride=2, padding=1, output_padding=1, groups=2)
    rng = np.random.default_rng(2)
    x, w, bias = (rng.integers(-3, 4, shape).astype("i1") for shape in (spec.input_shape, spec.weight_shape, 6))
    assert_exact(transposed_matrix(x, w, bias, spec), zero_insertion(x, w, bias, spec))
    with pytest.raises(ArgumentError, match=r"the output holds .*, but int8 goes from -128 to 127"):
        transposed_matrix(np.full_like(x, 100), np.full_like(w, 2), None, spec)


# The two steps of zero insertion


def test_a_pixel_lands_where_its_stride_says():
    spec = ConvTransposeSpec(n=2, c=3, h=3, w=2, k=1, r=2, s=3, stride=(2, 3), padding=(1, 0, 1, 2), dilation=(3, 1))
    x, _, _ = random_arrays(spec, seed=1)
    canvas = spread(x, spec)
    assert canvas.shape == (2, 3, spec.p + 3, spec.q + 2)
    assert np.array_equal(canvas[:, :, 2::2, 1::3][:, :, :3, :2], x)
    assert np.count_nonzero(canvas) == x.size


def test_pixels_beyond_the_window_are_cropped():
    spec = ConvTransposeSpec(n=1, c=1, h=4, w=3, k=1, r=1, s=1, padding=(1, 2, 0, 1))
    x = np.arange(1.0, 13).reshape(spec.input_shape)
    assert np.array_equal(spread(x, spec), x[:, :, 1:2, :2])


def test_filters_are_turned_and_their_channels_swapped_within_their_group():
    w = np.arange(6 * 2 * 2 * 3).reshape(6, 2, 2, 3)  # (C, K/G, R, S), three groups
    flipped = flipped_filters(w, groups=3)
    assert flipped.shape == (6, 2, 2, 3)
    for g, k, c in np.ndindex(3, 2, 2):
        assert np.array_equal(flipped[2 * g + k, c], np.rot90(w[2 * g + c, k], 2))


def test_flipping_twice_gives_the_filters_back():
    w = np.random.default_rng(1).standard_normal((4, 3, 2, 5))
    assert np.array_equal(flipped_filters(flipped_filters(w, 2).reshape(6, 2, 2, 5), 2), w)


def test_three_of_four_products_have_an_inserted_zero_at_stride_2():
    spec = ConvTransposeSpec(n=1, c=16, h=16, w=16, k=16, r=3, s=3, stride=2, padding=1, output_padding=1)
    canvas = spread(np.ones(spec.input_shape), spec)
    ordinary = ConvSpec.from_shapes(canvas.shape, (16, 16, 3, 3))
    assert ordinary.output_shape == spec.output_shape
    assert ordinary.macs == 4 * spec.macs
    useful = direct(canvas, np.ones((16, 16, 3, 3)), None, ordinary).sum()
    assert useful == pytest.approx(ordinary.macs / 4, rel=0.05)  # but for what is cropped


# What is refused


@pytest.mark.parametrize("convolve", BOTH)
def test_other_shapes_and_types_are_refused(convolve):
    spec = ConvTransposeSpec(n=2, c=4, h=5, w=3, k=6, r=3, s=2, groups=2)
    x, w, bias = random_arrays(spec, seed=1)
    with pytest.raises(ArgumentError) as caught:
        convolve(x, w.reshape(6, 2, 3, 2), bias, spec)
    fact = "w has shape (6, 2, 3, 2), but the spec needs (C, K/G, R, S) = (4, 3, 3, 2)"
    fix = "Reshape w, or make the spec with ConvTransposeSpec.from_shapes(x.shape, w.shape)"
    assert str(caught.value) == f"{fact}.\n  In: {spec!r}\n  Fix: {fix}."
    with pytest.raises(ArgumentError, match=r"bias has shape \(4,\), but the spec needs \(K,\) = \(6,\)"):
        convolve(x, w, bias[:4], spec)
    with pytest.raises(ArgumentError, match="w is float32, but x is float64"):
        convolve(x, w.astype("f4"), bias, spec)
