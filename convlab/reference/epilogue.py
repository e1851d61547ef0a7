"""What follows a convolution in a network, and can be done while its result is still at hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.reference.checks import Array, argument_error
from convlab.reference.taps import tap_slices
from convlab.spec import ConvSpec, PaddingLike, PairLike
from convlab.spec.values import UnfitError, call_text, integers, named_shape

__all__ = ["average_pool", "batch_norm", "fold_batch_norm", "max_pool", "relu"]


def batch_norm(x: Array, gamma: Array, beta: Array, mean: Array, variance: Array, eps: float = 1e-5) -> Array:
    """Normalise each channel with known statistics, as a trained network does.

    >>> one = np.ones(1)
    >>> batch_norm(np.array([[[[1.0, 3.0, 5.0]]]]), gamma=2 * one, beta=one, mean=3 * one, variance=4 * one, eps=0)
    array([[[[-1.,  1.,  3.]]]])

    Parameters: ``x`` of shape (N, C, H, W), floats; ``gamma``, ``beta``, ``mean``, ``variance`` of shape
    (C,). Returns gamma·(x − mean) / √(variance + eps) + beta, computed in float64 and rounded once to the
    type of ``x``. Raises ``ArgumentError`` for another number of channels. Source: Ioffe and Szegedy, Batch
    normalization (2015), algorithm 2.
    """
    scale, shift = _scale_and_shift("batch_norm", x.shape, 1, gamma, beta, mean, variance, eps)
    return (x * _a_channel(scale) + _a_channel(shift)).astype(x.dtype)


def fold_batch_norm(
    w: Array,
    bias: Array | None,
    gamma: Array,
    beta: Array,
    mean: Array,
    variance: Array,
    eps: float = 1e-5,
) -> tuple[Array, Array]:
    """Give the weights and bias of the convolution that does the batch norm after it as well.

    >>> one = np.ones(1)
    >>> w, bias = fold_batch_norm(np.array([[[[5.0]]]]), one, 2 * one, one, mean=3 * one, variance=4 * one, eps=0)
    >>> w.item(), bias.item()  # 2·(5x + 1 − 3) / 2 + 1
    (5.0, -1.0)

    Parameters: ``w`` of shape (K, C/G, R, S), floats, ``bias`` of shape (K,) or None; the others, of shape
    (K,), are those of ``batch_norm``. Both results are computed in float64 and rounded once to the type of
    ``w``. Raises ``ArgumentError`` for another number of channels. Source: Jacob and others, Quantization and
    training of neural networks (2018), section 3.2.
    """
    scale, shift = _scale_and_shift("fold_batch_norm", w.shape, 0, gamma, beta, mean, variance, eps)
    old = 0.0 if bias is None else bias
    return (w * scale.reshape(-1, 1, 1, 1)).astype(w.dtype), (scale * old + shift).astype(w.dtype)


def relu(x: Array) -> Array:
    """Give zero for what is negative; NaN stays NaN.

    >>> relu(np.array([-2, 0, 3], dtype="int8"))
    array([0, 0, 3], dtype=int8)
    """
    y: Array = np.maximum(x, 0)
    return y


def max_pool(x: Array, window: PairLike, stride: PairLike | None = None, padding: PaddingLike = 0) -> Array:
    """Give the largest pixel of each window.

    >>> max_pool(np.arange(12).reshape(1, 1, 3, 4), window=(2, 2), stride=(1, 2))
    array([[[[ 5,  7],
             [ 9, 11]]]])

    Parameters: ``x`` of shape (N, C, H, W), any real type; ``window`` as one number or a pair (vertical,
    horizontal); ``stride`` likewise, the window's size where it is None; ``padding`` as in ``ConvSpec``, and
    smaller than the window, so that each window holds a pixel: padding itself is never the largest. Returns an
    array of shape (N, C, P, Q). Raises ``ValueError`` for sizes that do not fit.
    """
    spec = _pooling("max_pool", x, window, stride, padding)
    least = -np.inf if np.issubdtype(x.dtype, np.floating) else np.iinfo(x.dtype).min
    padded = _padded(x, spec, least)
    taps = (padded[..., *tap_slices(spec, r, s)] for r, s in np.ndindex(spec.r, spec.s))
    y = next(taps).copy()
    for pixels in taps:
        np.maximum(y, pixels, out=y)
    return y


def average_pool(
    x: Array,
    window: PairLike,
    stride: PairLike | None = None,
    padding: PaddingLike = 0,
    count_include_pad: bool = False,
) -> Array:
    """Give the mean of each window.

    >>> x = np.array([[[[4.0, 8.0, 6.0]]]])
    >>> average_pool(x, window=(1, 2), padding=(0, 1), stride=1)
    array([[[[4., 6., 7., 6.]]]])
    >>> average_pool(x, window=(1, 2), padding=(0, 0, 1, 1), stride=1, count_include_pad=True)
    array([[[[2., 6., 7., 3.]]]])

    Parameters: ``x`` holds floats; where ``count_include_pad`` is true, the zeros of the padding count as
    pixels, as in PyTorch; otherwise, as in ONNX, they do not. The others are those of ``max_pool``. The sums
    are kept in float64. Raises ``ValueError`` for sizes that do not fit, ``ArgumentError`` for integers.
    """
    spec = _pooling("average_pool", x, window, stride, padding)
    if not np.issubdtype(x.dtype, np.floating):
        raise argument_error(f"x is {x.dtype}, which has no fractions", spec, "Convert x to float32")
    padded = _padded(x, spec, 0)
    counted = _padded(np.ones((1, 1, spec.h, spec.w)), spec, float(count_include_pad))
    y, count = np.zeros(spec.output_shape), np.zeros((spec.p, spec.q))  # float64
    for r, s in np.ndindex(spec.r, spec.s):
        area = tap_slices(spec, r, s)
        y += padded[..., *area]
        count += counted[0, 0, *area]
    return (y / count).astype(x.dtype)


def _scale_and_shift(
    name: str, shape: tuple[int, ...], axis: int, gamma: Array, beta: Array, mean: Array, variance: Array, eps: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    statistics = {"gamma": gamma, "beta": beta, "mean": mean, "variance": variance}
    for letter, array in statistics.items():
        if np.shape(array) != (shape[axis],):
            fact = f"{letter} has shape {np.shape(array)}, but there are {shape[axis]} channels"
            raise argument_error(fact, f"{name} of an array of shape {shape}", f"Give {letter} one number a channel")
    scale = gamma.astype(np.float64) / np.sqrt(variance.astype(np.float64) + eps)
    return scale, beta - scale * mean


def _a_channel(numbers: Array) -> Array:
    return numbers[:, np.newaxis, np.newaxis]


def _pooling(name: str, x: Array, window: PairLike, stride: PairLike | None, padding: PaddingLike) -> ConvSpec:
    """Describe a pooling by a depthwise convolution, which has the same windows."""
    given = {"window": window, "stride": stride, "padding": padding}
    try:
        n, c, h, w = named_shape("x", x.shape, ("N", "C", "H", "W"))
        r, s = integers("window", window, least=1, lengths=(2,))
        spec = ConvSpec(n, c, h, w, c, r, s, (r, s) if stride is None else stride, padding, groups=c)
        if max(spec.padding[:2]) >= r or max(spec.padding[2:]) >= s:
            fact = f"padding {spec.padding} is as wide as the window of {r}×{s}: some windows would hold no pixel"
            raise UnfitError(fact, "Pad less than the window's size on each side")
    except UnfitError as unfit:
        raise unfit.within(call_text(name, {"x.shape": x.shape, **given})) from None
    return spec


def _padded(x: Array, spec: ConvSpec, value: float) -> Array:
    top, bottom, left, right = spec.padding
    padded: npt.NDArray[Any] = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=value)
    return padded
