"""Right answers are right however they are written: other loops, no loops, other arithmetic."""

import math

import numpy as np
import pytest

from convlab.checker import check


def sizes(x, w, stride, padding):
    return tuple((x.shape[2 + i] + 2 * padding[i] - w.shape[2 + i]) // stride[i] + 1 for i in (0, 1))


def padded(x, padding):
    return np.pad(x, ((0, 0), (0, 0), (padding[0], padding[0]), (padding[1], padding[1])))


def windows(x, w, stride, padding):
    """The windows (N, C, P, Q, R, S)."""
    view = np.lib.stride_tricks.sliding_window_view(padded(x, padding), w.shape[2:], axis=(2, 3))
    return view[:, :, :: stride[0], :: stride[1]]


def with_einsum(x, w, bias, stride, padding):
    return np.einsum("ncpqrs,kcrs->nkpq", windows(x, w, stride, padding), w) + bias[:, None, None]


def with_tensordot(x, w, bias, stride, padding):
    y = np.tensordot(windows(x, w, stride, padding), w, axes=((1, 4, 5), (1, 2, 3)))
    return np.moveaxis(y + bias, -1, 1)  # not contiguous


def with_im2col(x, w, bias, stride, padding):
    taps = windows(x, w, stride, padding).transpose(1, 4, 5, 0, 2, 3)
    y = w.reshape(len(w), -1) @ taps.reshape(w[0].size, -1) + bias[:, None]
    return y.reshape(len(w), len(x), *sizes(x, w, stride, padding)).transpose(1, 0, 2, 3)


def weights_outermost(x, w, bias, stride, padding):
    p, q = sizes(x, w, stride, padding)
    x, y = padded(x, padding), np.zeros((len(x), len(w), p, q), np.float32)
    for _, c, r, s in np.ndindex(1, *w.shape[1:]):
        pixels = x[:, c, r : r + p * stride[0] : stride[0], s : s + q * stride[1] : stride[1]][:, :, :q][:, :p]
        y += pixels[:, None] * w[:, c, r, s][:, None, None]
    return y + bias[:, None, None]


def scattering(x, w, bias, stride, padding):
    """Each pixel gives to the outputs that it reaches."""
    p, q = sizes(x, w, stride, padding)
    y = np.zeros((len(x), len(w), p, q)) + bias[:, None, None]
    for h, v, r, s in np.ndindex(*x.shape[2:], *w.shape[2:]):
        i, rest_i = divmod(h + padding[0] - r, stride[0])
        j, rest_j = divmod(v + padding[1] - s, stride[1])
        if rest_i == rest_j == 0 and 0 <= i < p and 0 <= j < q:
            y[:, :, i, j] += x[:, :, h, v] @ w[:, :, r, s].T
    return y


def backwards_in_float32(x, w, bias, stride, padding):
    y = np.zeros((len(x), len(w), *sizes(x, w, stride, padding)), np.float32)
    x = padded(x, padding)
    for n, k, p, q in np.ndindex(y.shape):
        for c, r, s in reversed(list(np.ndindex(w.shape[1:]))):
            y[n, k, p, q] += x[n, c, p * stride[0] + r, q * stride[1] + s] * w[k, c, r, s]
        y[n, k, p, q] += bias[k]
    return y


def bias_first_then_python_floats(x, w, bias, stride, padding):
    y = np.zeros((len(x), len(w), *sizes(x, w, stride, padding)))
    pixels, weights = padded(x, padding).tolist(), w.tolist()
    for n, k, p, q in np.ndindex(y.shape):
        total = float(bias[k])
        for c, r, s in np.ndindex(w.shape[1:]):
            total += pixels[n][c][p * stride[0] + r][q * stride[1] + s] * weights[k][c][r][s]
        y[n, k, p, q] = total
    return y


def exactly_summed(x, w, bias, stride, padding):
    taps = windows(x.astype(float), w, stride, padding)
    y = np.empty((len(x), len(w), *taps.shape[2:4]))
    for n, k, p, q in np.ndindex(y.shape):
        y[n, k, p, q] = math.fsum([*(taps[n, :, p, q] * w[k]).ravel(), bias[k]])
    return y


def in_fortran_order(x, w, bias, stride, padding):
    return np.asfortranarray(with_einsum(x, w, bias, stride, padding))


def in_big_endian(x, w, bias, stride, padding):
    return with_einsum(x, w, bias, stride, padding).astype(">f4")


def in_long_double(x, w, bias, stride, padding):
    return with_einsum(x.astype(np.longdouble), w, bias, stride, padding)


def in_a_subclass(x, w, bias, stride, padding):
    class Traced(np.ndarray):
        pass

    return with_einsum(x, w, bias, stride, padding).view(Traced)


def chattering(x, w, bias, stride, padding):
    print("here", x.shape)
    return with_einsum(x, w, bias, stride, padding)


@pytest.mark.parametrize(
    "answer",
    [
        with_einsum,
        with_tensordot,
        with_im2col,
        weights_outermost,
        scattering,
        backwards_in_float32,
        bias_first_then_python_floats,
        exactly_summed,
        in_fortran_order,
        in_big_endian,
        in_long_double,
        in_a_subclass,
        chattering,
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_right_loops_pass(answer, seed):
    verdict = check("01-loops", answer, seed=seed)
    assert verdict.passed, verdict


def taps(x, p, q):
    return np.pad(x, ((0, 0), (1, 1), (1, 1)))[:, 2 * p : 2 * p + 3, 2 * q : 2 * q + 3]


ONE_OUTPUT = {
    "a NumPy scalar": lambda x, w, bias, k, p, q: np.sum(taps(x, p, q) * w[k]) + bias[k],
    "a Python float": lambda x, w, bias, k, p, q: float(np.vdot(taps(x, p, q), w[k]) + bias[k]),
    "an array without axes": lambda x, w, bias, k, p, q: np.array(np.vdot(taps(x, p, q), w[k]) + bias[k]),
    "exact": lambda x, w, bias, k, p, q: math.fsum([*(taps(x.astype(float), p, q) * w[k]).flat, bias[k]]),
    "bias first": lambda x, w, bias, k, p, q: sum((taps(x, p, q) * w[k]).ravel(), start=bias[k]),
    "by channel": lambda x, w, bias, k, p, q: bias[k] + sum(map(np.vdot, taps(x, p, q), w[k])),
}


@pytest.mark.parametrize("answer", ONE_OUTPUT.values(), ids=ONE_OUTPUT)
@pytest.mark.parametrize("seed", range(3))
def test_right_single_outputs_pass(answer, seed):
    verdict = check("01-one-output", answer, seed=seed)
    assert verdict.passed, verdict


def test_what_a_right_answer_prints_is_kept():
    assert check("01-loops", chattering).printed.startswith("here (")


def by_counting(size, window, stride, padding, dilation):
    if padding == "same":
        return (size + stride - 1) // stride
    before, after = {"valid": (0, 0)}.get(padding, padding if isinstance(padding, tuple) else (padding, padding))
    last = size + before + after - dilation * (window - 1)
    return len(range(0, last, stride))


def with_floor(size, window, stride, padding, dilation):
    if padding == "same":
        return math.ceil(size / stride)
    ends = 0 if padding == "valid" else np.sum(np.broadcast_to(padding, 2))
    span = window + (window - 1) * (dilation - 1)
    return max(0.0, math.floor((size + ends - span) / stride + 1))


def same_by_its_padding(size, window, stride, padding, dilation):
    """As a NumPy integer, with "same" turned into padding first."""
    if padding == "same":
        total = max(0, (-(-size // stride) - 1) * stride + dilation * (window - 1) + 1 - size)
        padding = (total // 2, total - total // 2)
    return np.int64(by_counting(size, window, stride, padding, dilation))


@pytest.mark.parametrize("answer", [by_counting, with_floor, same_by_its_padding])
@pytest.mark.parametrize("seed", range(3))
def test_right_sizes_pass(answer, seed):
    verdict = check("02-output-size", answer, seed=seed)
    assert verdict.passed, verdict


def places(size, window, stride, pad, mode):
    """The pixel that each tap of each window meets, (outputs, window), and whether there is one."""
    there = np.arange(0, size + 2 * pad - window + 1, stride)[:, None] + np.arange(window) - pad
    mirrored = size - 1 - abs(size - 1 - abs(there))
    pixel = mirrored if mode == "reflect" else np.clip(there, 0, size - 1)
    return pixel, (pixel == there) | (mode != "zero")


def tap_by_tap(image, weights, stride, padding, mode):
    (rows, up), (columns, across) = (
        places(image.shape[i], weights.shape[i], stride[i], padding[i], mode) for i in (0, 1)
    )
    y = np.zeros((len(rows), len(columns)), np.float32)
    for r, s in np.ndindex(weights.shape):
        y += weights[r, s] * np.where(up[:, r, None] & across[:, s], image[rows[:, r, None], columns[:, s]], 0)
    return y


def row_by_row(image, weights, stride, padding, mode):
    """Each output row from a strip of its own, which is padded."""
    rows, up = places(image.shape[0], weights.shape[0], stride[0], padding[0], mode)
    style = {"zero": "constant", "reflect": "reflect", "replicate": "edge"}[mode]
    y = []
    for pixels, inside in zip(rows, up, strict=True):
        strip = np.pad(image[pixels] * inside[:, None], ((0, 0), (padding[1], padding[1])), mode=style)
        windows = np.lib.stride_tricks.sliding_window_view(strip, weights.shape[1], axis=1)[:, :: stride[1]]
        y.append(np.einsum("rqs,rs->q", windows, weights))
    return np.array(y)


def one_sum_for_each_output(image, weights, stride, padding, mode):
    (rows, up), (columns, across) = (
        places(image.shape[i], weights.shape[i], stride[i], padding[i], mode) for i in (0, 1)
    )
    y = np.empty((len(rows), len(columns)))
    for p, q in np.ndindex(y.shape):
        window = image[np.ix_(rows[p], columns[q])] * np.outer(up[p], across[q])
        y[p, q] = math.fsum((window.astype(float) * weights).ravel())
    return y


@pytest.mark.parametrize("answer", [tap_by_tap, row_by_row, one_sum_for_each_output])
@pytest.mark.parametrize("seed", range(3))
def test_right_convolutions_without_a_padded_copy_pass(answer, seed):
    verdict = check("02-no-copy", answer, seed=seed)
    assert verdict.passed, verdict


def copied_then_looped(image, weights, stride, padding, mode):
    style = {"zero": "constant", "reflect": "reflect", "replicate": "edge"}[mode]
    frame = np.pad(image, [(pad, pad) for pad in padding], mode=style)
    windows = np.lib.stride_tricks.sliding_window_view(frame, weights.shape)[:: stride[0], :: stride[1]]
    return np.array([[np.vdot(window, weights) for window in row] for row in windows], np.float32)


def test_a_padded_copy_is_named_however_it_is_used():
    verdict = check("02-no-copy", copied_then_looped)
    assert verdict.diagnosis == "a padded copy made"
    assert "bytes of memory at the peak" in verdict.message
    assert verdict.message.endswith("are what the padded copy alone would take.")
