"""What every reference method asks of its arrays before it starts: one set of shapes, one type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.errors import ArgumentError
from convlab.spec import ConvSpec

__all__ = ["Array", "argument_error", "check_arrays", "check_shape", "check_shapes", "check_types", "named"]

Array = npt.NDArray[Any]

_RESHAPE = "Reshape {}, or make the spec with ConvSpec.from_shapes(x.shape, w.shape)"


def argument_error(fact: str, context: object, fix: str) -> ArgumentError:
    """Give the error that states a fact, the spec or call it arose in, and the fix.

    >>> print(argument_error("x is bool", "y = relu(x)", "Convert x"))
    x is bool.
      In: y = relu(x)
      Fix: Convert x.
    """
    return ArgumentError(f"{fact}.\n  In: {context if isinstance(context, str) else repr(context)}\n  Fix: {fix}.")


def named(x: Array, w: Array, bias: Array | None) -> dict[str, Array]:
    """Give the arrays of a convolution by name, without a bias that is None.

    >>> list(named(np.ones(1), np.ones(1), None))
    ['x', 'w']
    """
    return {"x": x, "w": w} if bias is None else {"x": x, "w": w, "bias": bias}


def check_arrays(x: Array, w: Array, bias: Array | None, spec: ConvSpec) -> None:
    """Check that the arrays have the spec's shapes and one type that can be summed.

    >>> spec = ConvSpec(n=1, c=1, h=3, w=4, k=1, r=2, s=2)
    >>> check_arrays(np.ones(spec.input_shape), np.ones(spec.weight_shape, "int8"), None, spec)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    convlab.errors.ArgumentError: w is int8, but x is float64.
      In: ...
      Fix: Give all arrays one type, such as float32.

    Parameters are those of ``direct``. Raises ``ArgumentError`` for another shape, and as ``check_types`` does.
    """
    check_shapes(x, w, bias, spec)
    check_types(named(x, w, bias), spec)


def check_types(arrays: Mapping[str, Array], spec: object) -> None:
    """Check that the arrays have one type that can be summed.

    >>> check_types({"a": np.ones(2, "int8"), "b": np.ones(3, "int8")}, "any op")

    Raises ``ArgumentError`` for types that differ, and for a type whose sums neither float64 nor int64 holds.
    """
    first, dtype = next((name, array.dtype) for name, array in arrays.items())
    widest = np.dtype(np.int64 if np.issubdtype(dtype, np.integer) else np.float64)
    if dtype.kind == "b" or not np.can_cast(dtype, widest):
        fact = f"{first} is {dtype}, which {widest} cannot sum exactly"
        raise argument_error(fact, spec, f"Convert {first} to float32 or int32")
    for name, array in arrays.items():
        if array.dtype != dtype:
            fact = f"{name} is {array.dtype}, but {first} is {dtype}"
            raise argument_error(fact, spec, "Give all arrays one type, such as float32")


def check_shapes(x: Array, w: Array, bias: Array | None, spec: ConvSpec) -> None:
    """Check that the arrays have the spec's shapes, whatever their types.

    >>> spec = ConvSpec(n=1, c=1, h=3, w=4, k=1, r=2, s=2)
    >>> check_shapes(np.ones((1, 1, 3, 4)), np.ones((1, 1, 2, 2), "int8"), None, spec)

    Parameters: ``x`` of shape (N, C, H, W), ``w`` of shape (K, C/G, R, S), ``bias`` of shape (K,) or None.
    Raises ``ArgumentError`` for another shape, and for what is no NumPy array.
    """
    wanted = {
        "x": ("(N, C, H, W)", spec.input_shape),
        "w": ("(K, C/G, R, S)", spec.weight_shape),
        "bias": ("(K,)", (spec.k,)),
    }
    for name, array in named(x, w, bias).items():
        check_shape(name, array, *wanted[name], spec, _RESHAPE.format(name))


def check_shape(name: str, array: Array, letters: str, shape: tuple[int, ...], context: object, fix: str) -> None:
    """Check that one array has the shape that the letters stand for.

    >>> check_shape("gamma", np.ones(3), "(K,)", (4,), "batch_norm", "Give one number a channel")
    Traceback (most recent call last):
    convlab.errors.ArgumentError: gamma has shape (3,), but the spec needs (K,) = (4,).
      In: batch_norm
      Fix: Give one number a channel.

    Raises ``ArgumentError`` otherwise, and for what is no NumPy array.
    """
    if not isinstance(array, np.ndarray):
        fact = f"{name} is of type {type(array).__name__}, not a NumPy array"
        raise argument_error(fact, context, f"Convert it with np.asarray; its shape must be {letters} = {shape}")
    if array.shape != shape:
        fact = f"{name} has shape {array.shape}, but the spec needs {letters} = {shape}"
        raise argument_error(fact, context, fix)
