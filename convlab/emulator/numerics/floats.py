"""Floating-point arithmetic as PTX defines it: rounded once, flushed or saturated where the instruction says so."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import intrinsic

from convlab.emulator.vectorized import vectorized

__all__ = [
    "coarse",
    "flush",
    "fma",
    "fma_odd",
    "is_normal",
    "is_subnormal",
    "maximum_nan",
    "maximum_number",
    "minimum_nan",
    "minimum_number",
    "relu",
    "saturate",
    "signed_by_both",
]

SINGLE_AND_DOUBLE = ["f4(f4,f4)", "f8(f8,f8)"]


@intrinsic
def _llvm_fma(_context: Any, a: Any, b: Any, c: Any) -> Any:
    return a(a, b, c), lambda _ctx, builder, _signature, args: builder.fma(*args)


# NumPy has no fused multiply-add, and double precision alone rounds twice; LLVM's rounds once, on any CPU.
@vectorized("f4(f4,f4,f4)", "f8(f8,f8,f8)")
def fma(a: Any, b: Any, c: Any) -> Any:
    """a·b + c, rounded once (IEEE 754 fusedMultiplyAdd)."""
    return _llvm_fma(a, b, c)  # type: ignore[call-arg]


@vectorized("f4(f4,f4,f4)")
def fma_odd(a: Any, b: Any, c: Any) -> Any:
    """a·b + c of halves, as a single whose last bit is set where it is inexact: rounding it again is then exact.

    Source: Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums", IEEE Trans. Computers 57 (2008).
    """
    product, addend = np.float64(a) * np.float64(b), np.float64(c)
    total = product + addend
    back = total - product
    lost = (product - (total - back)) + (addend - back)
    bits = np.float64(total).view(np.uint64)
    # Towards zero, so that every bit that is lost can be put into the last one.
    shrinks = lost != 0.0 and (lost < 0.0) != (total < 0.0)
    bits = np.uint64(bits - np.uint64(shrinks))
    sticky = lost != 0.0 or (bits & np.uint64(0x1FFFFFFF)) != np.uint64(0)
    head = np.uint64(bits & np.uint64(0xFFFFFFFFE0000000)).view(np.float64)
    single = np.float32(head)
    if not np.isfinite(single) or (single == head and not sticky):
        return single
    return np.uint32(np.float32(single).view(np.uint32) | 1).view(np.float32)


@vectorized(*SINGLE_AND_DOUBLE)
def minimum_number(a: Any, b: Any) -> Any:
    """``min``: the number where the other one is NaN; −0 is less than +0."""
    if a == b:
        return a if np.copysign(1.0, a) < 0.0 else b
    return a if a < b or np.isnan(b) else b


@vectorized(*SINGLE_AND_DOUBLE)
def maximum_number(a: Any, b: Any) -> Any:
    """``max``: the number where the other one is NaN; +0 is greater than −0."""
    if a == b:
        return b if np.copysign(1.0, a) < 0.0 else a
    return a if a > b or np.isnan(b) else b


def minimum_nan(a: Any, b: Any) -> Any:
    """``min.NaN``: NaN where either one is."""
    return np.where(np.isnan(a) | np.isnan(b), a.dtype.type(np.nan), minimum_number(a, b))[()]


def maximum_nan(a: Any, b: Any) -> Any:
    """``max.NaN``: NaN where either one is."""
    return np.where(np.isnan(a) | np.isnan(b), a.dtype.type(np.nan), maximum_number(a, b))[()]


def signed_by_both(value: Any, a: Any, b: Any) -> Any:
    """``.xorsign``: negative where exactly one of a and b is."""
    return np.where(np.signbit(a) ^ np.signbit(b), -np.absolute(value), np.absolute(value))[()]


@vectorized(*SINGLE_AND_DOUBLE)
def flush(a: Any, tiny: Any) -> Any:
    """``.ftz``: denormals, whose magnitude is less than the smallest normal number, become zero of the same sign."""
    return np.copysign(0.0, a) if np.absolute(a) < tiny else a


def saturate(a: Any) -> Any:
    """``.sat``: into the range from 0 to 1; NaN becomes 0, and so does −0: the sum with 0 takes its sign."""
    return np.fmin(np.fmax(a, a.dtype.type(0)), a.dtype.type(1)) + a.dtype.type(0)


def relu(a: Any) -> Any:
    """``.relu``: negative numbers become 0; NaN stays."""
    return np.where(a <= 0, a.dtype.type(0), a)[()]


def coarse(a: Any) -> Any:
    """A double without the lower half of its bits, as ``rcp.approx.ftz.f64`` reads and writes it."""
    return (a.view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)


def is_subnormal(a: Any) -> Any:
    """``testp.subnormal``."""
    return (a != 0) & (np.absolute(a) < np.finfo(a.dtype).tiny)


def is_normal(a: Any) -> Any:
    """``testp.normal``: neither subnormal nor infinite nor NaN; zero counts as normal."""
    return np.isfinite(a) & ~is_subnormal(a)
