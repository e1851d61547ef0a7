"""Functions of single numbers, made into functions of whole arrays by Numba when they are first called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import vectorize

__all__ = ["vectorized"]


class _Vectorized:
    """A function of arrays, compiled for one type after the other.

    Making a loop takes Numba a twentieth of a second even from its cache: too long for a hundred loops at import.
    """

    def __init__(self, function: Callable[..., Any], signatures: tuple[str, ...]) -> None:
        self.function = function
        self.signatures = {np.dtype(text.rstrip(")").split(",")[-1].split("(")[-1]): text for text in signatures}
        self.loops: dict[np.dtype[Any], Callable[..., Any]] = {}
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        dtype = arguments[-1].dtype
        loop = self.loops.get(dtype)
        if loop is None:
            wrapped: Any = vectorize([self.signatures[dtype]], cache=True)(self.function)  # type: ignore[no-untyped-call]
            loop = self.loops[dtype] = wrapped.ufunc  # without the Python around it, as dear as 10,000 lanes
        return loop(*arguments)


def vectorized(*signatures: str) -> Callable[[Callable[..., Any]], _Vectorized]:
    """Make a function of numbers one of arrays and NumPy scalars; the type of the last argument chooses the signature.

    >>> from convlab.emulator.numerics.floats import fma  # @vectorized("f4(f4,f4,f4)", "f8(f8,f8,f8)")
    >>> fma(np.float32([3, 5]), np.float32(2), np.float32([0.5, 0.25]))
    array([ 6.5 , 10.25], dtype=float32)

    Args:
        signatures: as Numba writes them, ``result(argument,argument)``, each with another type at the end.
    """
    return lambda function: _Vectorized(function, signatures)
