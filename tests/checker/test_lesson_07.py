"""Exercise 07: right answers that are written differently pass, the data hide nothing, and the task's examples hold."""

import numpy as np
import pytest

from convlab.checker import check, exercise
from convlab.checker.exercises.e07_memory import LAYER


def sizes(images, window, stride, padding, dilation):
    spans = [dilation[i] * (window[i] - 1) + 1 for i in (0, 1)]
    return [(images.shape[2 + i] + 2 * padding[i] - spans[i]) // stride[i] + 1 for i in (0, 1)]


def one_value_at_a_time(images, window, stride, padding, dilation):
    n, c, h, w = images.shape
    p, q = sizes(images, window, stride, padding, dilation)
    columns = np.zeros((c * window[0] * window[1], n * p * q))
    for row, column in np.ndindex(columns.shape):
        channel, r, s = np.unravel_index(row, (c, *window))
        image, i, j = np.unravel_index(column, (n, p, q))
        y, x = i * stride[0] + r * dilation[0] - padding[0], j * stride[1] + s * dilation[1] - padding[1]
        if 0 <= y < h and 0 <= x < w:
            columns[row, column] = images[image, channel, y, x]
    return columns


def with_sliding_windows(images, window, stride, padding, dilation):
    framed = np.pad(images, ((0, 0), (0, 0), 2 * (padding[0],), 2 * (padding[1],)))
    spans = [dilation[i] * (window[i] - 1) + 1 for i in (0, 1)]
    views = np.lib.stride_tricks.sliding_window_view(framed, spans, axis=(2, 3))
    taps = views[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]  # (N, C, P, Q, R, S)
    return taps.transpose(1, 4, 5, 0, 2, 3).reshape(images.shape[1] * window[0] * window[1], -1)


def with_index_arrays(images, window, stride, padding, dilation):
    """One gather from an image with a zero behind its last pixel, for what lies outside."""
    n, c, h, w = images.shape
    p, q = sizes(images, window, stride, padding, dilation)
    y = np.arange(window[0])[:, None] * dilation[0] + np.arange(p) * stride[0] - padding[0]
    x = np.arange(window[1])[:, None] * dilation[1] + np.arange(q) * stride[1] - padding[1]
    inside = ((y >= 0) & (y < h))[:, None, :, None] & ((x >= 0) & (x < w))[:, None, :]
    place = np.where(inside, y[:, None, :, None] * w + x[:, None, :], h * w).reshape(-1, p * q)
    flat = np.concatenate([images.reshape(n, c, -1), np.zeros((n, c, 1), np.float32)], axis=2)
    return np.asfortranarray(flat[:, :, place].transpose(1, 2, 0, 3).reshape(-1, n * p * q))


def window_after_window(images, window, stride, padding, dilation):
    framed = np.pad(images, ((0, 0), (0, 0), 2 * (padding[0],), 2 * (padding[1],)))
    p, q = sizes(images, window, stride, padding, dilation)
    found = []
    for image in framed:
        for i in range(0, p * stride[0], stride[0]):
            for j in range(0, q * stride[1], stride[1]):
                rows = range(i, i + window[0] * dilation[0], dilation[0])
                columns = range(j, j + window[1] * dilation[1], dilation[1])
                found.append(image[:, list(rows)][:, :, list(columns)].ravel())
    return np.array(found).T


RIGHT = [one_value_at_a_time, with_sliding_windows, with_index_arrays, window_after_window]


@pytest.mark.parametrize("answer", RIGHT, ids=lambda answer: answer.__name__)
@pytest.mark.parametrize("seed", range(3))
def test_right_column_matrices_pass(answer, seed):
    verdict = check("07-im2col", answer, seed=seed)
    assert verdict.passed, verdict


@pytest.mark.parametrize("seed", range(20))
def test_the_cases_meet_every_kind_of_asymmetry(seed):
    cases = [case.arguments for case in exercise("07-im2col").cases(np.random.default_rng(seed))]
    for case in cases:
        images = case["images"]
        assert images.shape[2] != images.shape[3]
        assert case["window"][0] != case["window"][1]
        assert np.abs(images).min() >= 0.25
    assert [cases[0][name] for name in ("stride", "padding", "dilation")] == [(1, 1), (0, 0), (1, 1)]
    assert sum(len(case["images"]) > 1 for case in cases) >= 4
    last = cases[-1]
    assert last["stride"] != last["dilation"]
    for name in ("stride", "padding", "dilation"):
        assert last[name][0] != last[name][1]


def test_the_example_of_the_task_is_true(answers):
    made = answers["07-im2col"](np.arange(9.0).reshape(1, 1, 3, 3), (2, 2), (1, 1), (0, 0), (1, 1))
    assert made[0].tolist() == [0, 1, 3, 4]
    assert made[:, -1].tolist() == [4, 5, 7, 8]
    assert np.array_equal(made, made.T)


def memory(**changes):
    rows, columns = LAYER.im2col_shape[0], LAYER.p * LAYER.q
    size = 4 * 2 * rows * columns
    values = {"rows": rows, "columns": columns, "mebibytes": round(size / 2**20, 2), "times_the_input": 3.75}
    return values | {"images": 2**26 // size, "strip": 2**20 // (size // LAYER.p)} | changes


@pytest.mark.parametrize("change", [{}, {"mebibytes": 5.19}, {"images": 12.0}, {"rows": np.int64(720)}])
def test_right_memories_pass_as_numbers_of_any_kind(change):
    verdict = check("07-memory", memory(**change))
    assert verdict.passed, verdict


def test_taps_that_are_reshaped_where_they_should_be_transposed_are_named():
    def im2col(images, window, stride, padding, dilation):
        n, c = images.shape[:2]
        p, q = sizes(images, window, stride, padding, dilation)
        framed = np.pad(images, ((0, 0), (0, 0), 2 * (padding[0],), 2 * (padding[1],)))
        columns = np.empty((c, *window, n, p, q))
        for r, s in np.ndindex(*window):
            down, right = r * dilation[0], s * dilation[1]
            tap = framed[:, :, down : down + p * stride[0] : stride[0], right : right + q * stride[1] : stride[1]]
            columns[:, r, s] = tap.reshape(c, n, p, q)
        return columns.reshape(c * window[0] * window[1], -1)

    assert check("07-im2col", im2col).diagnosis == "axes reshaped without being put in order"


def test_a_wrong_memory_is_named():
    verdict = check("07-memory", memory(mebibytes=4 * 2 * 720 * 945 / 1e6))
    assert verdict.diagnosis == "megabytes taken for mebibytes"
