"""Convolution of 8-bit integers: scales stand for reals, and the sums are exact in 32 bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.reference.checks import Array, argument_error, check_shapes, named
from convlab.reference.direct import oracle
from convlab.reference.sums import check_fit, sum_type
from convlab.spec import ConvSpec

__all__ = [
    "convolve_int8",
    "convolve_integer",
    "dequantise",
    "filter_scales",
    "quantise",
    "requantise",
    "symmetric_scale",
]

Scale = float | np.floating | npt.NDArray[np.floating]

_TYPES: Mapping[str, tuple[str, ...]] = {"x": ("int8", "uint8"), "w": ("int8",), "bias": ("int32",)}


def symmetric_scale(x: Array) -> np.float32:
    """Give the step between neighbouring integers with which −127 … 127 just hold all of ``x``.

    >>> float(symmetric_scale(np.array([-254.0, 1.0])))
    2.0

    Parameters: ``x`` holds floats. Where all of it is zero, any step would do, and the result is 1.
    """
    return np.float32(float(abs(x).max()) / 127 or 1)


def filter_scales(w: Array) -> npt.NDArray[np.float32]:
    """Give each filter a step of its own, so that small filters keep their precision beside large ones.

    >>> filter_scales(np.array([127.0, 254.0, -1270.0]).reshape(3, 1, 1, 1))
    array([ 1.,  2., 10.], dtype=float32)

    Parameters: ``w`` of shape (K, C/G, R, S), floats. Returns an array of shape (K,).
    """
    return np.array([symmetric_scale(one) for one in w], np.float32)


def quantise(x: Array, scale: Scale, zero_point: int = 0, dtype: npt.DTypeLike = "int8") -> Array:
    """Round to the nearest step, ties to even, and saturate where the type ends.

    >>> quantise(np.array([-0.5, 0.5, 1.5, 2.0, 200.0]), scale=1.0)
    array([  0,   0,   2,   2, 127], dtype=int8)
    >>> quantise(np.array([-1.0, 0.0, 0.5]), scale=0.25, zero_point=3, dtype="uint8")
    array([0, 3, 5], dtype=uint8)

    Parameters: ``x`` holds floats; ``scale`` is one step, or one for each index of the first axis of ``x``
    (for weights, each filter); ``zero_point`` is the integer that stands for 0. Divides in float32, in
    float64 where ``x`` is float64. Raises ``ArgumentError`` for NaN and for a scale that is not positive.
    Source: ONNX, QuantizeLinear.
    """
    context = f"quantise, x of shape {x.shape}"
    if np.isnan(x).any():
        raise argument_error("x holds NaN, which no integer stands for", context, "Find where it comes from")
    wide = sum_type(x.dtype)
    steps = _steps(scale, x.shape[:1], x.ndim - 1, context).astype(wide)
    return _saturated(x.astype(wide) / steps, zero_point, dtype)


def dequantise(x_q: Array, scale: Scale, zero_point: int = 0) -> npt.NDArray[np.float32]:
    """Give the reals that the integers stand for.

    >>> dequantise(np.array([0, 3, 5], dtype="uint8"), scale=0.25, zero_point=3)
    array([-0.75,  0.  ,  0.5 ], dtype=float32)

    Parameters are those of ``quantise``, ``x_q`` of any integer type up to 32 bits. Source: ONNX,
    DequantizeLinear.
    """
    steps = _steps(scale, x_q.shape[:1], x_q.ndim - 1, f"dequantise, x_q of shape {x_q.shape}")
    centred = (x_q.astype(np.int64) - zero_point).astype(np.float32)
    return centred * steps.astype(np.float32)


def convolve_integer(x_q: Array, w_q: Array, bias: Array | None, spec: ConvSpec, x_zero_point: int = 0) -> Array:
    """Sum the products of 8-bit integers exactly, in 32 bits.

    >>> spec = ConvSpec(n=1, c=1, h=1, w=3, k=1, r=1, s=2)
    >>> x_q, w_q = np.array([255, 10, 0], "uint8"), np.array([127, -128], "int8")
    >>> convolve_integer(x_q.reshape(1, 1, 1, 3), w_q.reshape(1, 1, 1, 2), None, spec, x_zero_point=10)
    array([[[[31115,  1280]]]], dtype=int32)

    Parameters: ``x_q`` of shape (N, C, H, W), int8 or uint8; ``w_q`` of shape (K, C/G, R, S), int8; ``bias``
    of shape (K,), int32, in steps of x_scale · w_scales, or None; ``x_zero_point`` is subtracted from ``x_q``
    first, so that padding stands for 0. Returns int32 of shape (N, K, P, Q). Raises ``ArgumentError`` for
    another shape, type or zero point, and where a sum would not fit 32 bits. Source: ONNX, ConvInteger.
    """
    check_shapes(x_q, w_q, bias, spec)
    for name, array in named(x_q, w_q, bias).items():
        if array.dtype not in _TYPES[name]:
            wanted = " or ".join(_TYPES[name])
            raise argument_error(f"{name} is {array.dtype}, not {wanted}", spec, f"Make {name} {wanted} with quantise")
    _check_zero_point(x_zero_point, x_q.dtype, spec)
    # float64 holds every integer up to 2^53, and no sum of 8-bit products that fits a memory comes near it.
    sums = oracle(x_q.astype(np.int32) - x_zero_point, w_q, bias, spec).astype(np.int64)
    check_fit(sums, np.dtype(np.int32), spec, "Split the channels, or use weights of fewer bits")
    return sums.astype(np.int32)


def convolve_int8(
    x_q: Array,
    w_q: Array,
    x_scale: Scale,
    w_scales: Scale,
    bias: Array | None,
    spec: ConvSpec,
    x_zero_point: int = 0,
) -> npt.NDArray[np.float32]:
    """Convolve in integers, and give the reals that the sums stand for.

    >>> spec = ConvSpec(n=1, c=1, h=1, w=2, k=2, r=1, s=1)
    >>> x_q, w_q = np.array([[[[10, 20]]]], "int8"), np.array([1, 100], "int8").reshape(2, 1, 1, 1)
    >>> convolve_int8(x_q, w_q, 0.5, np.array([2.0, 0.01]), np.array([0.0, 1.0]), spec)[0, :, 0]
    array([[10., 20.],
           [ 6., 11.]], dtype=float32)

    Parameters: ``x_scale`` is the step of ``x_q``, ``w_scales`` one step for all of ``w_q`` or one for each
    filter; ``bias`` of shape (K,) holds reals, or is None. The others and the errors are those of
    ``convolve_integer``; raises ``ArgumentError`` also for a scale that is not positive.
    """
    check_shapes(x_q, w_q, bias, spec)
    steps = _sum_steps(x_scale, w_scales, spec.k, repr(spec))
    y = convolve_integer(x_q, w_q, None, spec, x_zero_point) * steps
    shift = 0.0 if bias is None else bias[:, np.newaxis, np.newaxis]
    return (y + shift).astype(np.float32)


def requantise(
    sums: Array,
    x_scale: Scale,
    w_scales: Scale,
    y_scale: Scale,
    y_zero_point: int = 0,
    dtype: npt.DTypeLike = "int8",
) -> Array:
    """Turn the 32-bit sums of one layer into the 8-bit input of the next.

    >>> sums = np.array([[[[10, 30, 9000]]]], dtype="int32")
    >>> requantise(sums, x_scale=0.5, w_scales=0.25, y_scale=0.5)
    array([[[[  2,   8, 127]]]], dtype=int8)

    Parameters: ``sums`` of shape (N, K, P, Q), the result of ``convolve_integer``; ``y_scale`` and
    ``y_zero_point`` are those of the output, ``dtype`` its type; the others are those of ``convolve_int8``.
    Rounds to the nearest, ties to even, before the zero point is added, and saturates. Raises
    ``ArgumentError`` for a scale that is not positive. Source: ONNX, QLinearConv.
    """
    context = f"requantise, sums of shape {sums.shape}"
    factors = _sum_steps(x_scale, w_scales, sums.shape[1], context) / np.float32(_steps(y_scale, (), 0, context))
    return _saturated(sums * factors, y_zero_point, dtype)


def _sum_steps(x_scale: Scale, w_scales: Scale, filters: int, context: str) -> npt.NDArray[np.float32]:
    """Give the step of the sums: one number, or an array of shape (K, 1, 1)."""
    one, many = _steps(x_scale, (), 0, context), _steps(w_scales, (filters,), 2, context)
    return one.astype(np.float32) * many.astype(np.float32)


def _steps(scale: Scale, shape: tuple[int, ...], axes_after: int, context: str) -> Array:
    """Check a scale, which is one number or has the given shape, and make it meet its axis."""
    steps = np.asarray(scale)
    if steps.shape not in {(), shape}:
        wanted = f"one number or {shape[0]}" if shape else "one number"
        raise argument_error(f"a scale has shape {steps.shape}, not {wanted}", context, f"Give {wanted}")
    if not (np.isfinite(steps) & (steps > 0)).all():
        raise argument_error(f"the scale {scale} is not positive and finite", context, "Use symmetric_scale")
    return steps.reshape(*steps.shape, *[1] * axes_after) if steps.ndim else steps


def _saturated(values: Array, zero_point: int, dtype: npt.DTypeLike) -> Array:
    limits = np.iinfo(np.dtype(dtype))
    whole = np.rint(values.astype(np.float64))  # float32 cannot hold where an int32 ends
    return (whole + zero_point).clip(limits.min, limits.max).astype(dtype)


def _check_zero_point(zero_point: int, dtype: np.dtype[Any], spec: ConvSpec) -> None:
    limits = np.iinfo(dtype)
    if not limits.min <= zero_point <= limits.max:
        fact = f"x_zero_point={zero_point}, but x is {dtype}, which goes from {limits.min} to {limits.max}"
        raise argument_error(fact, spec, "Use the zero point with which x was quantised")
