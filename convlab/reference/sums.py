"""How the reference methods sum: in which type, where the bias comes in, and how a sum becomes a result."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.reference.checks import Array, argument_error

__all__ = ["check_fit", "rounded", "sum_type", "with_bias"]


def sum_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Give the type that the fast methods sum in: int64 for integers, at least 32 bits for floats.

    >>> [str(sum_type(np.dtype(name))) for name in ("float16", "float32", "float64", "int8")]
    ['float32', 'float32', 'float64', 'int64']

    ``direct`` sums floats in float64; the other methods sum as GPU kernels do, and their errors show it.
    """
    return np.dtype(np.int64) if np.issubdtype(dtype, np.integer) else np.promote_types(dtype, np.float32)


def with_bias(y: Array, bias: Array | None) -> Array:
    """Add one number to each channel, in the type of ``y``.

    >>> with_bias(np.zeros((1, 2, 1, 3)), np.array([4, 5]))
    array([[[[4., 4., 4.]],
            [[5., 5., 5.]]]])

    Parameters: ``y`` of shape (N, K, P, Q), ``bias`` of shape (K,) or None.
    """
    return y if bias is None else y + bias.astype(y.dtype)[:, np.newaxis, np.newaxis]


def rounded(y: Array, dtype: np.dtype[Any], spec: object) -> Array:
    """Round sums to the type of the input: to infinity beyond a float's range, never around an integer's.

    >>> from convlab.spec import ConvSpec
    >>> spec = ConvSpec(n=1, c=1, h=1, w=2, k=1, r=1, s=1)
    >>> rounded(np.array([1.0, 70000.0]), np.dtype("float16"), spec)
    array([ 1., inf], dtype=float16)

    Raises ``ArgumentError`` for an integer that the type does not hold.
    """
    if np.issubdtype(dtype, np.integer):
        check_fit(y, dtype, spec, "Convert the inputs to a wider type, such as int64")
    with np.errstate(over="ignore"):
        return y.astype(dtype, copy=False)


def check_fit(y: Array, dtype: np.dtype[Any], spec: object, fix: str) -> None:
    """Check that an integer type holds all sums.

    >>> from convlab.spec import ConvSpec
    >>> spec = ConvSpec(n=1, c=1, h=1, w=2, k=1, r=1, s=1)
    >>> check_fit(np.array([-128, 127]), np.dtype("int8"), spec, "Convert x and w to int16")

    Raises ``ArgumentError`` with the given fix otherwise.
    """
    limits = np.iinfo(dtype)
    for extreme in (y.min(), y.max()):
        if not limits.min <= extreme <= limits.max:
            fact = f"the output holds {extreme}, but {dtype} goes from {limits.min} to {limits.max}"
            raise argument_error(fact, spec, fix)
