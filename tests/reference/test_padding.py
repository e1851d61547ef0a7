from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import onnx
import pytest

from convlab.errors import ArgumentError
from convlab.reference.direct import direct
from convlab.reference.padding import MODES, convolve_padded, index_maps, padded, source_index
from convlab.spec import ConvSpec

from .cases import (
    assert_close,
    assert_exact,
    doubles,
    magnitude,
    onnx_conv,
    onnx_pads,
    onnx_run,
    random_arrays,
    random_spec,
)

ONNX_MODES = {"zero": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def narrow_spec(seed):
    """A random spec whose padding every mode can fill."""
    seeds = itertools.count(seed, 1000)
    return next(s for s in map(random_spec, seeds) if all(max(a.before, a.after) < a.size for a in s.axes))


def onnx_padded(x, spec, mode):
    arrays = {"x": x, "pads": np.array(onnx_pads(spec)), "axes": np.array([2, 3])}
    return onnx_run(arrays, onnx.helper.make_node("Pad", ["x", "pads", "", "axes"], ["y"], mode=ONNX_MODES[mode]))


def unpadded(spec):
    return replace(spec, h=spec.axes[0].padded, w=spec.axes[1].padded, padding=(0, 0, 0, 0))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(100))
def test_both_equal_the_onnx_reference(seed, mode):
    spec, dtype = narrow_spec(seed), ["float32", "float64", "float16"][seed // 8 % 3]
    x, w, bias = random_arrays(spec, seed, dtype)
    expected = onnx_padded(x, spec, mode)
    assert np.array_equal(padded(x, spec, mode), expected)
    arrays = expected, w, bias
    y = convolve_padded(x, w, bias, spec, mode)
    assert_close(y, onnx_conv(*doubles(*arrays), unpadded(spec)), arrays, unpadded(spec))


def test_the_modes_differ():
    spec = ConvSpec(n=2, c=3, h=6, w=7, k=2, r=3, s=4, padding=2)
    arrays = random_arrays(spec, seed=1)
    results = [convolve_padded(*arrays, spec, mode) for mode in MODES]
    for a, b in itertools.combinations(results, 2):
        assert abs(a - b).max() > 0.01 * magnitude(*arrays, spec).max()
    assert_close(convolve_padded(*arrays, spec), direct(*arrays, spec), arrays, spec)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_padded_widest_is_still_right(mode):
    size, width = 5, {"reflect": 4, "circular": 5}.get(mode, 12)
    x = np.arange(1, size + 1)
    expected = np.pad(x, (width, width - 1), mode=ONNX_MODES[mode])
    index = source_index(size, width, width - 1, mode)
    assert np.where(index < 0, 0, x[index]).tolist() == expected.tolist()


def test_rows_and_columns_have_maps_of_their_own():
    spec = ConvSpec(n=1, c=1, h=3, w=4, k=1, r=1, s=1, padding=(1, 0, 2, 3))
    rows, columns = index_maps(spec, "circular")
    assert rows.tolist() == [2, 0, 1, 2]
    assert columns.tolist() == [2, 3, 0, 1, 2, 3, 0, 1, 2]


@pytest.mark.parametrize("mode", MODES)
def test_integers_are_exact_and_keep_their_type(mode):
    spec = ConvSpec(n=2, c=4, h=6, w=5, k=6, r=3, s=2, padding=(1, 2, 0, 1), groups=2)
    rng = np.random.default_rng(1)
    x, w, bias = (rng.integers(-3, 4, shape, "i1") for shape in (spec.input_shape, spec.weight_shape, 6))
    y = convolve_padded(x, w, bias, spec, mode)
    assert_exact(y, direct(onnx_padded(x, spec, mode), w, bias, unpadded(spec)))
    assert y.dtype == padded(x, spec, mode).dtype == "int8"


# What is refused


@pytest.mark.parametrize(
    ("mode", "padding", "fact", "most"),
    [
        ("reflect", (0, 5, 0, 0), "reflect padding of 5 rows needs 6, but the input has 5", "4 rows"),
        (
            "reflect",
            (0, 0, 9, 1),
            "reflect padding of 9 columns needs 10, but the input has 7",
            "6 columns",
        ),
        ("circular", (6, 0, 0, 0), "circular padding of 6 rows needs 6, but the input has 5", "5 rows"),
        (
            "circular",
            (0, 0, 0, 8),
            "circular padding of 8 columns needs 8, but the input has 7",
            "7 columns",
        ),
    ],
)
def test_wider_padding_than_there_are_pixels_is_refused(mode, padding, fact, most):
    spec = ConvSpec(n=2, c=3, h=5, w=7, k=2, r=3, s=2, padding=padding)
    x, w, bias = random_arrays(spec, seed=1)
    for call in (lambda: padded(x, spec, mode), lambda: convolve_padded(x, w, bias, spec, mode)):
        with pytest.raises(ValueError, match=mode) as caught:
            call()
        fix = f"Pad at most {most}, or use replicate, which needs but one"
        assert str(caught.value) == f"{fact}.\n  In: {spec!r}\n  Fix: {fix}."


def test_source_index_names_its_own_call():
    with pytest.raises(ValueError, match="reflect") as caught:
        source_index(size=4, before=1, after=4, mode="reflect")
    assert str(caught.value) == (
        "reflect padding of 4 pixels needs 5, but the input has 4.\n"
        "  In: source_index(size=4, before=1, after=4, mode='reflect')\n"
        "  Fix: Pad at most 3 pixels, or use replicate, which needs but one."
    )


def test_another_mode_is_refused():
    spec = ConvSpec(n=2, c=3, h=5, w=7, k=2, r=3, s=2, padding=1)
    with pytest.raises(ValueError, match="mirror") as caught:
        padded(random_arrays(spec, seed=1)[0], spec, "mirror")
    fact, fix = "mode='mirror' is not a padding mode", "Use one of zero, reflect, replicate, circular"
    assert str(caught.value) == f"{fact}.\n  In: {spec!r}\n  Fix: {fix}."


def test_arrays_are_checked():
    spec = ConvSpec(n=2, c=3, h=5, w=7, k=2, r=3, s=2, padding=1)
    x, w, bias = random_arrays(spec, seed=1, dtype="float32")
    with pytest.raises(ArgumentError, match=r"x has shape \(2, 3, 7, 5\), but the spec needs \(N, C, H, W\)"):
        padded(x.reshape(2, 3, 7, 5), spec, "zero")
    with pytest.raises(ArgumentError, match="w is float64, but x is float32"):
        convolve_padded(x, w.astype("f8"), bias, spec, "reflect")
