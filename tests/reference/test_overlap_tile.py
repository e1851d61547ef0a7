from __future__ import annotations

import numpy as np
import pytest

from convlab.errors import ArgumentError
from convlab.reference.direct import direct
from convlab.reference.overlap_tile import overlap_tile, tiles
from convlab.reference.padding import MODES, convolve_padded
from convlab.spec import ConvSpec

from .cases import assert_close, assert_exact, doubles, onnx_conv, random_arrays, random_spec

SIZES = 1, 2, (3, 2), (2, 5), 4, (100, 1)


@pytest.mark.parametrize("seed", range(200))
def test_tiles_equal_the_onnx_reference(seed):
    spec = random_spec(seed)
    arrays = random_arrays(spec, seed, ["float32", "float64", "float16"][seed // 8 % 3])
    y = overlap_tile(*arrays, spec, SIZES[seed % len(SIZES)])
    assert_close(y, onnx_conv(*doubles(*arrays), spec), arrays, spec)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tile", SIZES)
def test_every_mode_is_filled_at_the_outer_border_only(tile, mode):
    spec = ConvSpec(n=2, c=4, h=9, w=11, k=6, r=3, s=4, stride=(1, 2), padding=(2, 3, 1, 4), dilation=(2, 1), groups=2)
    arrays = random_arrays(spec, seed=1)
    np.testing.assert_allclose(
        overlap_tile(*arrays, spec, tile, mode), convolve_padded(*arrays, spec, mode), rtol=0, atol=1e-13
    )


@pytest.mark.parametrize("seed", range(60))
def test_tiles_cover_every_output_once_and_read_just_what_they_need(seed):
    spec, tile = random_spec(seed), SIZES[seed % len(SIZES)]
    height, width = tile if isinstance(tile, tuple) else (tile, tile)
    written = np.zeros((spec.p, spec.q), int)
    for outputs, inputs in tiles(spec, tile):
        written[outputs] += 1
        assert written[outputs].shape <= (height, width)
        for axis, output, pixels in zip(spec.axes, outputs, inputs, strict=True):
            reach = axis.dilation * np.arange(axis.window)
            read = np.add.outer(axis.stride * np.arange(output.start, output.stop), reach)
            assert (pixels.start, pixels.stop) == (read.min(), read.max() + 1)
            assert pixels.stop <= axis.padded
    assert (written == 1).all()


def test_integers_are_exact():
    spec = ConvSpec(n=2, c=3, h=9, w=8, k=5, r=3, s=2, padding=1)
    rng = np.random.default_rng(1)
    x, w, bias = (rng.integers(-3, 4, shape, "i1") for shape in (spec.input_shape, spec.weight_shape, 5))
    assert_exact(overlap_tile(x, w, bias, spec, (2, 3)), direct(x, w, bias, spec))


# What is refused

SPEC = ConvSpec(n=2, c=3, h=9, w=8, k=5, r=3, s=2, padding=(0, 9))


@pytest.mark.parametrize(
    ("tile", "fact", "fix"),
    [
        (0, "tile=0 is less than 1", "Give tile a whole number, at least 1"),
        ((2, 3, 4), "tile=(2, 3, 4) has 3 numbers", "Give tile as one number, or as 2"),
    ],
)
def test_another_tile_is_refused(tile, fact, fix):
    with pytest.raises(ValueError, match="tile") as caught:
        overlap_tile(*random_arrays(SPEC, seed=1), SPEC, tile)
    context = f"{SPEC!r}, tile={tile}"
    assert str(caught.value) == f"{fact}.\n  In: {context}\n  Fix: {fix}."


def test_padding_that_the_mode_cannot_fill_is_refused():
    with pytest.raises(ValueError, match="reflect padding of 9 columns needs 10, but the input has 8"):
        overlap_tile(*random_arrays(SPEC, seed=1), SPEC, 4, "reflect")


def test_arrays_are_checked_as_in_the_direct_convolution():
    x, w, bias = random_arrays(SPEC, seed=1, dtype="float32")
    with pytest.raises(ArgumentError, match=r"x has shape \(2, 3, 8, 9\), but the spec needs \(N, C, H, W\)"):
        overlap_tile(x.reshape(2, 3, 8, 9), w, bias, SPEC, 4)
    with pytest.raises(ArgumentError, match="bias is float64, but x is float32"):
        overlap_tile(x, w, bias.astype("f8"), SPEC, 4)
