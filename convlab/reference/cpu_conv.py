"""The CPU ladder of convolution: from seven loops to register tiles on all cores, in Numba."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from convlab.reference.checks import argument_error, check_arrays, named
from convlab.reference.cpu_conv_tiles import Plan, convolve_on_all_cores, convolve_on_one_core
from convlab.spec import ConvSpec

__all__ = ["CPU_CONV", "blocked", "loops", "parallel", "vectorised"]

Tensor = npt.NDArray[np.float32]

FILTERS = 4  # of one block: as many sums go on at a time


def loops(x: Tensor, w: Tensor, bias: Tensor | None, spec: ConvSpec) -> Tensor:
    """Convolve by seven loops, one output at a time: the definition, compiled.

    >>> spec = ConvSpec(n=1, c=2, h=3, w=4, k=1, r=2, s=2)
    >>> loops(np.ones(spec.input_shape, "f4"), np.ones(spec.weight_shape, "f4"), None, spec)
    array([[[[8., 8., 8.],
             [8., 8., 8.]]]], dtype=float32)

    Each addition waits for the one before it, and each pixel is loaded anew for every filter.

    Parameters, all float32: ``x`` of shape (N, C, H, W), ``w`` of shape (K, C/G, R, S), ``bias`` of shape
    (K,) or None. Returns (N, K, P, Q), float32. Raises ``ArgumentError`` for other types and shapes.
    """
    return _run(_loops, x, w, bias, spec)


@njit(cache=True, nogil=True)
def _loops(x: Any, w: Any, bias: Any, y: Any, v: Plan) -> None:
    for n in range(y.shape[0]):
        for k in range(y.shape[1]):
            first = k // v.filters * v.channels  # the first channel of this filter's group
            for p in range(y.shape[2]):
                for q in range(y.shape[3]):
                    total = bias[k]
                    for c in range(v.channels):
                        for r in range(w.shape[2]):
                            for s in range(w.shape[3]):
                                row, column = (
                                    p * v.down - v.top + r * v.down_tap,
                                    q * v.right - v.left + s * v.right_tap,
                                )
                                if 0 <= row < x.shape[2] and 0 <= column < x.shape[3]:
                                    total += x[n, first + c, row, column] * w[k, c, r, s]
                    y[n, k, p, q] = total


def blocked(x: Tensor, w: Tensor, bias: Tensor | None, spec: ConvSpec) -> Tensor:
    """Convolve with four filters at a time: a pixel is loaded once for all, and no sum waits for another.

    >>> spec = ConvSpec(n=1, c=2, h=3, w=4, k=5, r=2, s=2)
    >>> float(blocked(np.ones(spec.input_shape, "f4"), np.ones(spec.weight_shape, "f4"), None, spec).min())
    8.0

    Parameters, result and errors are those of ``loops``.
    """
    return _run(_blocked, x, w, bias, spec)


@njit(cache=True, nogil=True)
def _blocked(x: Any, w: Any, bias: Any, y: Any, v: Plan) -> None:
    for n in range(y.shape[0]):
        for g in range(y.shape[1] // v.filters):
            for k in range(g * v.filters, (g + 1) * v.filters, FILTERS):
                last = (g + 1) * v.filters - 1
                block = k, min(k + 1, last), min(k + 2, last), min(k + 3, last)  # the last filter fills up a block
                for p in range(y.shape[2]):
                    for q in range(y.shape[3]):
                        _four_outputs(x, w, bias, y, v, n, g, p, q, block)


@njit(cache=True, nogil=True)
def _four_outputs(
    x: Any, w: Any, bias: Any, y: Any, v: Plan, n: int, g: int, p: int, q: int, block: tuple[int, int, int, int]
) -> None:
    k0, k1, k2, k3 = block
    y0, y1, y2, y3 = bias[k0], bias[k1], bias[k2], bias[k3]
    for c in range(v.channels):
        for r in range(w.shape[2]):
            for s in range(w.shape[3]):
                row, column = p * v.down - v.top + r * v.down_tap, q * v.right - v.left + s * v.right_tap
                if 0 <= row < x.shape[2] and 0 <= column < x.shape[3]:
                    pixel = x[n, g * v.channels + c, row, column]
                    y0 += pixel * w[k0, c, r, s]
                    y1 += pixel * w[k1, c, r, s]
                    y2 += pixel * w[k2, c, r, s]
                    y3 += pixel * w[k3, c, r, s]
    y[n, k0, p, q], y[n, k1, p, q], y[n, k2, p, q], y[n, k3, p, q] = y0, y1, y2, y3


def vectorised(x: Tensor, w: Tensor, bias: Tensor | None, spec: ConvSpec) -> Tensor:
    """Convolve by register tiles of TM pixels and TN filters, from packed filters and channels-last rows.

    >>> spec = ConvSpec(n=1, c=2, h=3, w=4, k=5, r=2, s=2)
    >>> float(vectorised(np.ones(spec.input_shape, "f4"), np.ones(spec.weight_shape, "f4"), None, spec).min())
    8.0

    It converts ``x`` to NHWC and the result back to NCHW, a few rows at a time, and packs the filters at every
    call. A group with few filters leaves most of the TN lanes idle: depthwise convolution uses one.
    Parameters, result and errors are those of ``loops``.
    """
    return _run(convolve_on_one_core, x, w, bias, spec)


def parallel(x: Tensor, w: Tensor, bias: Tensor | None, spec: ConvSpec) -> Tensor:
    """Convolve as ``vectorised`` does, with images, groups and blocks of rows shared out to all cores.

    >>> spec = ConvSpec(n=1, c=2, h=3, w=4, k=5, r=2, s=2)
    >>> float(parallel(np.ones(spec.input_shape, "f4"), np.ones(spec.weight_shape, "f4"), None, spec).min())
    8.0

    Parameters, result and errors are those of ``loops``.
    """
    return _run(convolve_on_all_cores, x, w, bias, spec)


CPU_CONV: Mapping[str, Callable[[Tensor, Tensor, Tensor | None, ConvSpec], Tensor]] = MappingProxyType(
    {"loops": loops, "blocked": blocked, "vectorised": vectorised, "parallel": parallel}
)


def _run(convolve: Callable[..., None], x: Tensor, w: Tensor, bias: Tensor | None, spec: ConvSpec) -> Tensor:
    check_arrays(x, w, bias, spec)
    if x.dtype != np.float32:
        fact = f"the arrays are {x.dtype}, but the CPU ladder computes in float32"
        raise argument_error(fact, spec, f"Convert {', '.join(named(x, w, bias))} with .astype(np.float32)")
    y = np.empty(spec.output_shape, np.float32)
    sums = np.zeros(spec.k, np.float32) if bias is None else np.ascontiguousarray(bias)  # what each filter starts with
    convolve(np.ascontiguousarray(x), np.ascontiguousarray(w), sums, y, Plan.of(spec))
    return y
