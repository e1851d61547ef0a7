"""Direct convolution in NumPy: the definition itself, and in float64 the oracle of every test."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.reference.checks import Array, argument_error, check_arrays, check_shapes, named
from convlab.reference.sums import rounded
from convlab.reference.taps import sum_over_taps, tap_slices
from convlab.spec import ConvSpec

__all__ = ["direct", "oracle"]


def direct(x: Array, w: Array, bias: Array | None, spec: ConvSpec) -> Array:
    """Convolve ``x`` with ``w``, add ``bias``, and give the result in the type of ``x``.

    >>> spec = ConvSpec(n=1, c=1, h=3, w=4, k=1, r=2, s=2)
    >>> x = np.arange(12, dtype="float32").reshape(spec.input_shape)
    >>> w = np.array([1, 2, 3, 4], dtype="float32").reshape(spec.weight_shape)
    >>> direct(x, w, None, spec)
    array([[[[34., 44., 54.],
             [74., 84., 94.]]]], dtype=float32)

    Parameters, all of one type: ``x`` of shape (N, C, H, W); ``w`` of shape (K, C/G, R, S), not flipped, as
    in every deep-learning framework; ``bias`` of shape (K,) or None. Returns an array of shape (N, K, P, Q).
    Floats of up to 64 bits are summed in float64 and rounded once, to infinity beyond the type's range;
    integers are summed in int64. Raises ``ArgumentError`` for another shape or type, and for an integer
    result that does not fit the type.
    """
    check_arrays(x, w, bias, spec)
    accumulator = np.dtype(np.int64 if np.issubdtype(x.dtype, np.integer) else np.float64)
    return rounded(_convolve(x, w, bias, spec, accumulator), x.dtype, spec)


def oracle(x: Array, w: Array, bias: Array | None, spec: ConvSpec) -> npt.NDArray[np.float64]:
    """Convolve in float64, whatever the types of ``x``, ``w`` and ``bias``, and leave the result unrounded.

    >>> spec = ConvSpec(n=2, c=4, h=9, w=7, k=6, r=3, s=1, stride=(2, 1), groups=2)
    >>> y = oracle(np.ones(spec.input_shape, "float16"), np.ones(spec.weight_shape), np.ones(6), spec)
    >>> y.shape, y.dtype, float(y.max())
    ((2, 6, 4, 7), dtype('float64'), 7.0)

    Parameters: shapes as in ``direct``, any real types. Raises ``ArgumentError`` for another shape or type.
    """
    check_shapes(x, w, bias, spec)
    for name, array in named(x, w, bias).items():
        if not np.can_cast(array.dtype, np.float64, "same_kind"):
            fact = f"{name} is {array.dtype}, which has no real value"
            raise argument_error(fact, spec, f"Convert {name} to float64")
    return _convolve(x, w, bias, spec, np.dtype(np.float64))


def _convolve(x: Array, w: Array, bias: Array | None, spec: ConvSpec, accumulator: np.dtype[Any]) -> Array:
    top, bottom, left, right = spec.padding
    padded = np.pad(x.astype(accumulator), ((0, 0), (0, 0), (top, bottom), (left, right)))

    def pixels(r: int, s: int) -> Array:
        return padded[..., *tap_slices(spec, r, s)]

    return sum_over_taps(pixels, w.astype(accumulator), bias, spec)
