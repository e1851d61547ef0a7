"""P-Net, the first network of MTCNN, on kernels of this course or the learner's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from convlab.errors import ConvlabError
from convlab.executors.compile import compile
from convlab.executors.empty import empty
from convlab.executors.launch import launch
from convlab.kernels.tiling import ceil_div
from convlab.nets.weights import Weights, load_weights
from convlab.ops.conv2d import conv2d

__all__ = ["CELL", "SOURCE", "STRIDE", "Kernels", "Scores", "kernels", "pnet"]

Array = npt.NDArray[Any]
CELL, STRIDE = 12, 2  # pixels that one output sees, and from one to the next
SOURCE = Path(__file__).with_name("pnet.cu")
THREADS = 256


class Kernels(NamedTuple):
    """Who computes: ``conv(x, w, bias)``, ``prelu(y, slope)`` and ``max_pool(x)``, each giving its output.

    Arrays are (N, C, H, W) and (K, C, R, S) of float32; convolutions have stride 1 and no padding, pooling takes the
    largest of 2×2 with stride 2, of what is there where the size is odd.
    """

    conv: Callable[[Array, Array, Array], Array]
    prelu: Callable[[Array, Array], Array]
    max_pool: Callable[[Array], Array]


class Scores(NamedTuple):
    """What P-Net says of each window of 12×12 pixels: how sure it is of a face, and where the face's sides lie.

    ``face`` is (P, Q), from 0 to 1; ``box`` is (4, P, Q): left, top, right, bottom, each as a part of 12 pixels from
    the window's own side.
    """

    face: Array
    box: Array


def kernels(method: str = "auto", device: str = "auto", conv: Any = None) -> Kernels:
    """The course's kernels, with a convolution by a method of the ladder or by a function of one's own.

    >>> ours = kernels("naive", device="emulator")
    >>> ours.max_pool(np.arange(15, dtype="f4").reshape(1, 1, 3, 5))
    array([[[[ 6.,  8.,  9.],
             [11., 13., 14.]]]], dtype=float32)

    Parameters: ``method`` and ``device`` as in ``cl.conv2d``; "cpu" computes all with references, in NumPy; ``conv``
    takes x (1, C, H, W), w (K, C, R, S) and bias (K,), and gives (1, K, P, Q).
    """
    own = partial(conv2d, method=method, device=device) if conv is None else partial(_checked, conv)
    if device == "cpu":
        return Kernels(own, _prelu_reference, _max_pool_reference)
    return Kernels(own, partial(_prelu, device=device), partial(_max_pool, device=device))


def pnet(x: Array, on: Kernels, weights: Weights | None = None) -> Scores:
    """Run P-Net on one image.

    >>> pnet(np.zeros((1, 3, 30, 25), "f4"), kernels("direct", "cpu")).face.shape
    (10, 8)

    Parameters: ``x`` is (1, 3, H, W) of float32, red, green and blue from −1 to 1, at least 12×12; ``weights`` are
    those of `load_weights` where none are given.
    """
    w = weights or load_weights()
    for number in range(3):
        x = on.prelu(on.conv(x, w.filters[number], w.biases[number]), w.slopes[number])
        x = on.max_pool(x) if number == 0 else x
    no, yes = on.conv(x, *w.face)[0].astype(np.float64)
    return Scores(1 / (1 + np.exp(np.clip(no - yes, -500, 500))), on.conv(x, *w.box)[0])


def _checked(conv: Callable[[Array, Array, Array], Array], x: Array, w: Array, bias: Array) -> Array:
    """A learner's convolution: a wrong shape would only be noticed much later."""
    y = conv(x, w, bias)
    n, _, height, width = x.shape
    shape = (n, w.shape[0], height - w.shape[2] + 1, width - w.shape[3] + 1)
    if getattr(y, "shape", None) != shape:
        got = getattr(y, "shape", type(y).__name__)
        raise ConvlabError(
            f"Your convolution gave {got}, not {shape}.\n"
            f"  In: x of {x.shape}, w of {w.shape}, stride 1, no padding\n"
            "  Fix: return y of shape (N, K, H − R + 1, W − S + 1)."
        )
    return np.ascontiguousarray(y, dtype=np.float32)


def _launch(entry: str, pixels: int, planes: tuple[int, ...], arguments: list[Any], device: str) -> None:
    kernel = compile(SOURCE.read_text(encoding="utf-8"), name=SOURCE.name).kernels[entry]
    n, k = planes
    launch(kernel, (ceil_div(pixels, THREADS), k, n), THREADS, arguments, device=device, observe=False)


def _prelu(y: Array, slope: Array, device: str) -> Array:
    pixels = y.shape[2] * y.shape[3]
    _launch("prelu", pixels, y.shape[:2], [y, slope, pixels], device)
    return y


def _max_pool(x: Array, device: str) -> Array:
    n, k, height, width = x.shape
    y = empty((n, k, ceil_div(height, 2), ceil_div(width, 2)), "float32")
    _launch("max_pool_all", y.shape[2] * y.shape[3], (n, k), [x, y, height, width], device)
    return np.asarray(y)


def _prelu_reference(y: Array, slope: Array) -> Array:
    return np.where(y < 0, y * slope.reshape(1, -1, 1, 1), y).astype(np.float32)


def _max_pool_reference(x: Array) -> Array:
    n, k, height, width = x.shape
    even = np.pad(x, ((0, 0), (0, 0), (0, height % 2), (0, width % 2)), constant_values=-np.inf)
    best: Array = even.reshape(n, k, even.shape[2] // 2, 2, even.shape[3] // 2, 2).max(axis=(3, 5))
    return best
