from __future__ import annotations

import numpy as np
import pytest

from convlab.errors import ArgumentError
from convlab.reference.dilated import dilated, zero_stuffed, zero_stuffed_convolution
from convlab.reference.direct import direct
from convlab.spec import ConvSpec

from .cases import assert_close, assert_exact, doubles, onnx_conv, random_arrays, random_spec

DTYPES = "float32", "float64", "float16"


@pytest.mark.parametrize("seed", range(250))
def test_both_equal_the_onnx_reference(seed):
    spec = random_spec(seed)
    arrays = random_arrays(spec, seed, DTYPES[seed // 8 % 3])
    expected = onnx_conv(*doubles(*arrays), spec)
    assert_close(dilated(*arrays, spec), expected, arrays, spec)
    assert_close(zero_stuffed_convolution(*arrays, spec), expected, arrays, spec)


@pytest.mark.parametrize("padding", [(7, 0, 0, 9), (0, 8, 11, 0), (9, 9, 9, 9)])
def test_taps_that_meet_nothing_but_padding_add_nothing(padding):
    spec = ConvSpec(n=2, c=3, h=4, w=5, k=2, r=3, s=2, stride=(3, 2), padding=padding, dilation=(4, 6))
    arrays = random_arrays(spec, seed=1)
    assert_close(dilated(*arrays, spec), onnx_conv(*arrays, spec), arrays, spec)


def test_integers_are_exact():
    spec = ConvSpec(n=2, c=4, h=9, w=8, k=6, r=2, s=3, padding=2, dilation=(3, 2), groups=2)
    rng = np.random.default_rng(1)
    x, w, bias = (rng.integers(-3, 4, shape, "i1") for shape in (spec.input_shape, spec.weight_shape, 6))
    assert_exact(dilated(x, w, bias, spec), direct(x, w, bias, spec))
    assert_exact(zero_stuffed_convolution(x, w, bias, spec), direct(x, w, bias, spec))


def test_nine_weights_become_25_taps():
    w = np.arange(1.0, 10).reshape(1, 1, 3, 3)
    stuffed = zero_stuffed(w, 2)
    assert stuffed.shape == (1, 1, 5, 5)
    assert stuffed[0, 0, ::2, ::2].tolist() == w[0, 0].tolist()
    assert np.count_nonzero(stuffed) == 9


def test_rows_and_columns_have_gaps_of_their_own():
    w = np.ones((4, 2, 3, 2), "int8")
    stuffed = zero_stuffed(w, (2, 5))
    assert stuffed.shape == (4, 2, 5, 6)
    assert stuffed.dtype == "int8"
    assert np.argwhere(stuffed[3, 1]).tolist() == [[0, 0], [0, 5], [2, 0], [2, 5], [4, 0], [4, 5]]


def test_another_dilation_is_refused():
    with pytest.raises(ValueError, match="dilation") as caught:
        zero_stuffed(np.ones((1, 1, 2, 3)), (2, 0))
    fact, context = "dilation[1]=0 is less than 1", "zero_stuffed(dilation=(2, 0))"
    assert str(caught.value) == f"{fact}.\n  In: {context}\n  Fix: Give dilation[1] a whole number, at least 1."


@pytest.mark.parametrize("convolve", [dilated, zero_stuffed_convolution])
def test_arrays_are_checked_as_in_the_direct_convolution(convolve):
    spec = ConvSpec(n=2, c=4, h=9, w=8, k=6, r=2, s=3, dilation=2)
    x, w, bias = random_arrays(spec, seed=1, dtype="float32")
    with pytest.raises(ArgumentError) as caught:
        convolve(x, w.reshape(6, 4, 3, 2), bias, spec)
    fact = "w has shape (6, 4, 3, 2), but the spec needs (K, C/G, R, S) = (6, 4, 2, 3)"
    assert str(caught.value).startswith(f"{fact}.\n  In: {spec!r}\n  Fix: ")
    with pytest.raises(ArgumentError, match="w is float64, but x is float32"):
        convolve(x, w.astype("f8"), bias, spec)
