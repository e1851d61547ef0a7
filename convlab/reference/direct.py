"""Direct convolution in NumPy: the definition itself, and in float64 the oracle of every test."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.errors import ArgumentError
from convlab.spec import ConvSpec

__all__ = ["direct", "oracle"]

Array = npt.NDArray[Any]


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
    _check_shapes(x, w, bias, spec)
    is_integer = np.issubdtype(x.dtype, np.integer)
    accumulator = np.dtype(np.int64 if is_integer else np.float64)
    _check_types(x, w, bias, spec, accumulator)
    y = _convolve(x, w, bias, spec, accumulator)
    if is_integer:
        _check_fit(y, x.dtype, spec)
    with np.errstate(over="ignore"):
        return y.astype(x.dtype)


def oracle(x: Array, w: Array, bias: Array | None, spec: ConvSpec) -> npt.NDArray[np.float64]:
    """Convolve in float64, whatever the types of ``x``, ``w`` and ``bias``, and leave the result unrounded.

    >>> spec = ConvSpec(n=2, c=4, h=9, w=7, k=6, r=3, s=1, stride=(2, 1), groups=2)
    >>> y = oracle(np.ones(spec.input_shape, "float16"), np.ones(spec.weight_shape), np.ones(6), spec)
    >>> y.shape, y.dtype, float(y.max())
    ((2, 6, 4, 7), dtype('float64'), 7.0)

    Parameters: shapes as in ``direct``, any real types. Raises ``ArgumentError`` for another shape or type.
    """
    _check_shapes(x, w, bias, spec)
    for name, array in _named(x, w, bias).items():
        if not np.can_cast(array.dtype, np.float64, "same_kind"):
            raise _error(f"{name} is {array.dtype}, which has no real value", spec, f"Convert {name} to float64")
    return _convolve(x, w, bias, spec, np.dtype(np.float64))


def _convolve(x: Array, w: Array, bias: Array | None, spec: ConvSpec, accumulator: np.dtype[Any]) -> Array:
    groups, positions = spec.groups, spec.p * spec.q
    top, bottom, left, right = spec.padding
    x = np.pad(x.astype(accumulator), ((0, 0), (0, 0), (top, bottom), (left, right)))
    x = x.reshape(spec.n, groups, -1, *x.shape[2:])  # (N, G, C/G, H + top + bottom, W + left + right)
    w = w.astype(accumulator).reshape(groups, -1, *w.shape[1:])  # (G, K/G, C/G, R, S)
    y = np.zeros((spec.n, groups, spec.k // groups, positions), accumulator)  # (N, G, K/G, P·Q)
    for r in range(spec.r):
        rows = _taken(r, spec.p, spec.stride[0], spec.dilation[0])
        for s in range(spec.s):
            columns = _taken(s, spec.q, spec.stride[1], spec.dilation[1])
            pixels = x[..., rows, columns].reshape(spec.n, groups, -1, positions)  # (N, G, C/G, P·Q)
            y += w[..., r, s] @ pixels
    y = y.reshape(spec.output_shape)
    return y if bias is None else y + bias.astype(accumulator)[:, np.newaxis, np.newaxis]


def _taken(tap: int, outputs: int, stride: int, dilation: int) -> slice:
    """Give the padded pixels that one tap of the window meets, one for each output along the axis."""
    first = tap * dilation
    return slice(first, first + (outputs - 1) * stride + 1, stride)


def _named(x: Array, w: Array, bias: Array | None) -> dict[str, Array]:
    return {"x": x, "w": w} if bias is None else {"x": x, "w": w, "bias": bias}


def _check_shapes(x: Array, w: Array, bias: Array | None, spec: ConvSpec) -> None:
    wanted = {
        "x": ("(N, C, H, W)", spec.input_shape),
        "w": ("(K, C/G, R, S)", spec.weight_shape),
        "bias": ("(K,)", (spec.k,)),
    }
    for name, array in _named(x, w, bias).items():
        letters, shape = wanted[name]
        if not isinstance(array, np.ndarray):
            fact = f"{name} is of type {type(array).__name__}, not a NumPy array"
            raise _error(fact, spec, f"Convert it with np.asarray; its shape must be {letters} = {shape}")
        if array.shape != shape:
            fact = f"{name} has shape {array.shape}, but the spec needs {letters} = {shape}"
            raise _error(fact, spec, f"Reshape {name}, or make the spec with ConvSpec.from_shapes(x.shape, w.shape)")


def _check_types(x: Array, w: Array, bias: Array | None, spec: ConvSpec, accumulator: np.dtype[Any]) -> None:
    if x.dtype == bool or not np.can_cast(x.dtype, accumulator):
        raise _error(f"x is {x.dtype}, which {accumulator} cannot sum exactly", spec, "Convert x to float32 or int32")
    for name, array in _named(x, w, bias).items():
        if array.dtype != x.dtype:
            fact = f"{name} is {array.dtype}, but x is {x.dtype}"
            raise _error(fact, spec, "Give all arrays one type, such as float32")


def _check_fit(y: Array, dtype: np.dtype[Any], spec: ConvSpec) -> None:
    limits = np.iinfo(dtype)
    for extreme in (y.min(), y.max()):
        if not limits.min <= extreme <= limits.max:
            fact = f"the output holds {extreme}, but {dtype} goes from {limits.min} to {limits.max}"
            raise _error(fact, spec, "Convert x and w to a wider type, such as int64")


def _error(fact: str, spec: ConvSpec, fix: str) -> ArgumentError:
    return ArgumentError(f"{fact}.\n  In: {spec!r}\n  Fix: {fix}.")
