"""Exercise 04: right answers however they are written, and the numbers that the task states."""

import numpy as np
import pytest

from convlab.checker import check
from convlab.checker.exercises.e04_bounds import BANDWIDTH, LAYERS, PEAK
from convlab.perf.gpus import gpu
from convlab.spec import ConvSpec

RIGHT = {
    "a_intensity": 275.36,
    "a_bound": "arithmetic",
    "b_intensity": 2.2499,
    "b_bound": "memory",
    "b_milliseconds": 0.06609,
    "c_bound": "memory",
    "d_batch": 28,
}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"a_intensity": 275, "b_intensity": np.float32(2.25)},
        {"a_intensity": np.float64(275.4), "b_milliseconds": 0.066},
        {"a_bound": "Arithmetic", "b_bound": " memory "},
        {"d_batch": 28.0},
    ],
)
def test_right_bounds_pass_however_they_are_rounded(changes):
    assert check("04-bounds", RIGHT | changes).passed


def test_a_wrong_number_is_named_however_it_is_rounded():
    for intensity in (288, 288.0, 287.5):
        assert check("04-bounds", RIGHT | {"a_intensity": intensity}).diagnosis == "weights not counted as bytes"


def slower_of_two_times(x, w, stride, padding, size, peak, bandwidth):
    spec = ConvSpec.from_shapes(x.shape, w.shape, stride, padding)
    numbers = np.prod(spec.input_shape) + np.prod(spec.weight_shape) + np.prod(spec.output_shape)
    return spec.flops / max(spec.flops / peak, size * numbers / bandwidth)


def by_the_spec(x, w, stride, padding, size, peak, bandwidth):
    spec = ConvSpec.from_shapes(x.shape, w.shape, stride, padding)
    intensity = spec.intensity({2: "float16", 4: "float32"}[size])
    return peak if intensity > peak / bandwidth else bandwidth * intensity


def in_float32(x, w, stride, padding, size, peak, bandwidth):
    return np.float32(by_the_spec(x, w, stride, padding, size, peak, bandwidth))


def windows_counted(x, w, stride, padding, size, peak, bandwidth):
    frame = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    windows = np.lib.stride_tricks.sliding_window_view(frame, w.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
    outputs = len(w) * windows[:, 0, ..., 0, 0].size
    return min(peak, 2 * len(w) * windows.size / (size * (x.size + w.size + outputs)) * bandwidth)


@pytest.mark.parametrize("answer", [slower_of_two_times, by_the_spec, in_float32, windows_counted])
@pytest.mark.parametrize("seed", range(3))
def test_right_roofs_pass_however_they_are_written(answer, seed):
    verdict = check("04-attainable", answer, seed=seed)
    assert verdict.passed, verdict


def test_the_numbers_that_the_task_states_are_those_of_the_data_sheet():
    a100 = gpu("A100")
    assert pytest.approx(a100.peak_tflops("float32"), abs=0.05) == PEAK
    assert pytest.approx(a100.dram_gbs / 1e3) == BANDWIDTH
    assert a100.peak_tflops("float16") == pytest.approx(312, abs=0.5)


def test_the_layers_lie_clearly_on_their_side_of_the_ridge():
    a100 = gpu("A100")
    assert LAYERS["a"].intensity("float32") > 2 * a100.ridge("float32")
    assert LAYERS["b"].intensity("float32") < a100.ridge("float32") / 2
    assert LAYERS["c"].intensity("float16") < 0.7 * a100.ridge("float16")
    assert LAYERS["c"].intensity("float16") > 2 * a100.ridge("float32")  # with the wrong ridge it is the other answer
