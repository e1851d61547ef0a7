"""Rounding towards zero, down and up: the nearest number, or its neighbour on the other side of the true value."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite, isnan
from typing import Any

import numpy as np

from convlab.emulator.numerics.floats import fma

__all__ = [
    "add_directed",
    "divide_directed",
    "double_directed",
    "fma_directed",
    "multiply_directed",
    "round_away",
    "sqrt_directed",
]


def _directed(nearest: Any, beyond: Any, towards: Any) -> Any:
    """The neighbour of ``nearest`` in the direction −∞, +∞ or zero (0.0), where the true value lies on that side.

    ``beyond`` has the sign of the true value minus the nearest number.
    """
    goal = np.copysign(nearest.dtype.type(0), nearest) if towards == 0.0 else towards
    overshot = np.where(goal > nearest, beyond > 0, np.where(goal < nearest, beyond < 0, False))
    return np.where(overshot, np.nextafter(nearest, goal), nearest)[()]


def _exactly(difference: Any, *numbers: Any) -> Any:
    """The sign of a difference in exact arithmetic, lane by lane; the last number is the nearest result.

    An infinite result of finite numbers lies beyond every true value; 0 stands for what has no true value.
    """

    def sign(*values: float) -> float:
        *operands, nearest = values
        if not all(map(isfinite, operands)) or isnan(nearest):
            return 0.0
        try:
            exact = difference(*map(Fraction, operands), Fraction(nearest if isfinite(nearest) else 0))
        except ZeroDivisionError:
            return 0.0
        return float((exact > 0) - (exact < 0)) if isfinite(nearest) else -nearest

    return np.asarray(np.frompyfunc(sign, len(numbers), 1)(*numbers), np.float64)[()]


def fma_directed(a: Any, b: Any, c: Any, towards: Any) -> Any:
    """a·b + c, rounded towards −∞, +∞ or zero (0.0); a sum that is exactly zero is −0 when rounding down."""
    nearest = fma(a, b, c)
    if a.dtype == np.float32:
        beyond = _beyond_single_fma(a, b, c, nearest)
    else:
        beyond = _exactly(lambda x, y, z, near: x * y + z - near, a, b, c, nearest)
    if towards == -np.inf:
        cancelled = (nearest == 0) & (beyond == 0) & (np.signbit(a) ^ np.signbit(b) ^ np.signbit(c))
        nearest = np.where(cancelled, nearest.dtype.type(-0.0), nearest)
    return _directed(nearest, beyond, towards)


def _beyond_single_fma(a: Any, b: Any, c: Any, nearest: Any) -> Any:
    """The true value of a·b + c of singles minus the nearest single.

    In double precision a·b is exact, and the sum with its error term (Knuth's two-sum) is exact as well.
    """
    product, addend = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + addend
    back = total - product
    lost = (product - (total - back)) + (addend - back)
    return (total - nearest) + lost


def add_directed(a: Any, b: Any, towards: Any) -> Any:
    """a + b, rounded in a direction."""
    return fma_directed(a, a.dtype.type(1), b, towards)


def multiply_directed(a: Any, b: Any, towards: Any) -> Any:
    """a·b, rounded in a direction; the zero that is added has the product's sign."""
    return fma_directed(a, b, np.copysign(a.dtype.type(0), a) * np.copysign(b.dtype.type(1), b), towards)


def divide_directed(a: Any, b: Any, towards: Any) -> Any:
    """a / b, rounded in a direction."""
    nearest = a / b
    if a.dtype == np.float32:
        # The product of two singles is exact in double precision, so the remainder's sign is right.
        remainder = a.astype(np.float64) - nearest.astype(np.float64) * b.astype(np.float64)
        return _directed(nearest, remainder * np.copysign(1.0, b), towards)
    return _directed(nearest, _exactly(lambda x, y, near: x / y - near, a, b, nearest), towards)


def sqrt_directed(a: Any, towards: Any) -> Any:
    """√a, rounded in a direction."""
    nearest = np.sqrt(a)
    if a.dtype == np.float32:
        beyond = a.astype(np.float64) - nearest.astype(np.float64) ** 2
    else:
        beyond = _exactly(lambda x, near: x - near * near, a, nearest)
    return _directed(nearest, beyond, towards)


def double_directed(a: Any, towards: Any) -> Any:
    """The double next to a 64-bit integer in a direction.

    Both halves of the integer are exact doubles, and so is what the nearest double leaves of them.
    """
    upper = (a >> a.dtype.type(32)).astype(np.float64) * 2.0**32
    lower = (a & a.dtype.type(0xFFFFFFFF)).astype(np.float64)
    nearest = a.astype(np.float64)
    return _directed(nearest, (upper - nearest) + lower, np.float64(towards))


def round_away(a: Any) -> Any:
    """The nearest whole number, ties away from zero (``.rna``)."""
    whole = np.trunc(a)
    return np.where(np.absolute(a - whole) >= 0.5, whole + np.copysign(1.0, a), whole)[()]
