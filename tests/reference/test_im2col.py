from __future__ import annotations

import tracemalloc
from collections import Counter

import numpy as np
import pytest

from convlab.errors import ArgumentError
from convlab.reference import im2col as module
from convlab.reference.direct import direct
from convlab.reference.im2col import fold, im2col, im2col_chunked, unfold
from convlab.spec import ConvSpec

from .cases import assert_close, assert_exact, doubles, onnx_conv, random_arrays, random_spec

SEEDS = range(250)
DTYPES = "float32", "float64", "float16"


@pytest.mark.parametrize("seed", SEEDS)
def test_it_equals_the_onnx_reference(seed):
    spec = random_spec(seed)
    arrays = random_arrays(spec, seed, DTYPES[seed // 8 % 3])
    expected = onnx_conv(*doubles(*arrays), spec)
    assert_close(im2col(*arrays, spec), expected, arrays, spec)
    column = spec.c * spec.r * spec.s * np.promote_types(arrays[0].dtype, "f4").itemsize
    limit = column * (1 + seed % (3 * spec.q))  # from one column to three rows
    assert_close(im2col_chunked(*arrays, spec, limit), expected, arrays, spec)


@pytest.mark.parametrize("seed", range(60))
def test_each_column_is_a_window_read_row_by_row(seed):
    spec = random_spec(seed)
    x, _, _ = random_arrays(spec, seed)
    top, bottom, left, right = spec.padding
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    columns = unfold(x, spec)
    assert columns.shape == (spec.n, spec.groups * spec.im2col_shape[0], spec.p * spec.q)
    for p, q in np.ndindex(spec.p, spec.q):
        rows = p * spec.stride[0] + spec.dilation[0] * np.arange(spec.r)
        places = q * spec.stride[1] + spec.dilation[1] * np.arange(spec.s)
        window = padded[:, :, rows[:, np.newaxis], places].reshape(spec.n, -1)
        assert np.array_equal(columns[:, :, p * spec.q + q], window)


@pytest.mark.parametrize("seed", SEEDS)
def test_fold_is_the_adjoint_of_unfold(seed):
    spec = random_spec(seed)
    x, _, _ = random_arrays(spec, seed)
    columns = np.random.default_rng(seed).standard_normal(unfold(x, spec).shape)
    there, back = (unfold(x, spec) * columns).sum(), (x * fold(columns, spec)).sum()
    assert there == pytest.approx(back, rel=1e-12, abs=1e-10)


def test_folding_what_was_unfolded_counts_the_windows_of_each_pixel():
    spec = ConvSpec(n=2, c=3, h=5, w=7, k=1, r=2, s=3, stride=(2, 1), padding=(0, 1, 2, 0), dilation=(1, 2))
    x, _, _ = random_arrays(spec, seed=1)
    times = Counter()
    for p, q, r, s in np.ndindex(spec.p, spec.q, spec.r, spec.s):
        times[p * 2 + r, q + 2 * s - 2] += 1
    expected = [[times[h, w] for w in range(spec.w)] for h in range(spec.h)]
    np.testing.assert_allclose(fold(unfold(x, spec), spec), x * expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8"])
def test_integers_are_as_exact_as_in_the_direct_convolution(dtype):
    spec = ConvSpec(n=2, c=4, h=6, w=5, k=6, r=3, s=2, padding=1, groups=2)
    rng = np.random.default_rng(2)
    x, w, bias = (rng.integers(0, 3, shape).astype(dtype) for shape in (spec.input_shape, spec.weight_shape, 6))
    assert_exact(im2col(x, w, bias, spec), direct(x, w, bias, spec))
    assert_exact(im2col_chunked(x, w, bias, spec, limit=500), direct(x, w, bias, spec))


def test_an_integer_beyond_its_type_is_refused():
    spec = ConvSpec(n=1, c=1, h=1, w=2, k=1, r=1, s=2)
    x = np.full(spec.input_shape, 100, "int8")
    for convolve in (im2col, im2col_chunked):
        with pytest.raises(ArgumentError, match="the output holds 20000, but int8 goes from -128 to 127"):
            convolve(x, x, None, spec)


# Memory


@pytest.mark.parametrize("limit", [2_000, 100_000, 2**20])
def test_the_chunked_matrix_stays_within_its_limit(limit, monkeypatch):
    spec = ConvSpec(n=2, c=8, h=60, w=50, k=3, r=3, s=5, padding=1)
    arrays = random_arrays(spec, seed=1, dtype="float32")
    sizes = []
    multiply = module._multiply

    def recorded(w, columns, groups):
        sizes.append(columns.nbytes)
        return multiply(w, columns, groups)

    monkeypatch.setattr(module, "_multiply", recorded)
    y = im2col_chunked(*arrays, spec, limit)
    assert_close(y, direct(*doubles(*arrays), spec), arrays, spec)
    assert limit * 0.5 < max(sizes) <= limit
    assert sum(sizes) == 2 * 8 * 3 * 5 * spec.p * spec.q * 4


def test_chunks_save_the_memory_that_the_matrix_takes():
    spec = ConvSpec(n=1, c=8, h=90, w=80, k=3, r=3, s=5, padding=1)
    arrays = random_arrays(spec, seed=1, dtype="float32")
    matrix = 8 * 3 * 5 * spec.p * spec.q * 4
    assert _peak(lambda: im2col(*arrays, spec)) > matrix
    assert _peak(lambda: im2col_chunked(*arrays, spec, limit=matrix // 20)) < matrix / 3


def _peak(work):
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("limit", [143, 0, -1])
def test_a_limit_below_one_column_is_refused(limit):
    spec = ConvSpec(n=1, c=6, h=5, w=7, k=4, r=3, s=2, groups=2)
    arrays = random_arrays(spec, seed=1, dtype="float32")
    with pytest.raises(ArgumentError) as caught:
        im2col_chunked(*arrays, spec, limit)
    fact = f"one column of the im2col matrix takes 144 bytes, but the limit is {limit}"
    assert str(caught.value) == f"{fact}.\n  In: {spec!r}\n  Fix: Set limit to at least 144."
    assert_close(im2col_chunked(*arrays, spec, 144), direct(*doubles(*arrays), spec), arrays, spec)


# What is refused

SPEC = ConvSpec(n=2, c=6, h=5, w=7, k=4, r=3, s=2, groups=2)


@pytest.mark.parametrize("convolve", [im2col, im2col_chunked])
def test_arrays_are_checked_as_in_the_direct_convolution(convolve):
    x, w, bias = random_arrays(SPEC, seed=1, dtype="float32")
    with pytest.raises(ArgumentError, match=r"x has shape \(2, 6, 7, 5\), but the spec needs \(N, C, H, W\)"):
        convolve(x.reshape(2, 6, 7, 5), w, bias, SPEC)
    with pytest.raises(ArgumentError, match="w is float64, but x is float32"):
        convolve(x, w.astype("f8"), bias, SPEC)


@pytest.mark.parametrize(
    ("function", "name", "letters", "needed"),
    [(unfold, "x", "(N, C, H, W)", "(2, 6, 5, 7)"), (fold, "columns", "(N, C·R·S, P·Q)", "(2, 36, 18)")],
)
def test_other_shapes_than_the_specs_are_refused(function, name, letters, needed):
    with pytest.raises(ArgumentError) as caught:
        function(np.zeros((2, 18, 36)), SPEC)
    fact = f"{name} has shape (2, 18, 36), but the spec needs {letters} = {needed}"
    fix = f"Reshape {name}, or make the spec that belongs to it"
    assert str(caught.value) == f"{fact}.\n  In: {SPEC!r}\n  Fix: {fix}."
