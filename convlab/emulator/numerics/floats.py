"""Floating-point arithmetic as PTX defines it: rounded once, flushed or saturated where the instruction says so."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import vectorize
from numba.extending import intrinsic

__all__ = ["flush", "fma", "fma_directed", "saturate"]


@intrinsic
def _llvm_fma(_context: Any, a: Any, b: Any, c: Any) -> Any:
    return a(a, b, c), lambda _ctx, builder, _signature, args: builder.fma(*args)


# NumPy has no fused multiply-add, and double precision alone rounds twice; LLVM's rounds once, on any CPU.
@vectorize(["f4(f4,f4,f4)", "f8(f8,f8,f8)"], cache=True)  # type: ignore[no-untyped-call,untyped-decorator]
def fma(a: Any, b: Any, c: Any) -> Any:
    """a·b + c, rounded once (IEEE 754 fusedMultiplyAdd)."""
    return _llvm_fma(a, b, c)  # type: ignore[call-arg]


def fma_directed(a: Any, b: Any, c: Any, towards: float) -> Any:
    """a·b + c of single-precision numbers, rounded towards −∞, +∞ or zero (0.0).

    In double precision a·b is exact, and the sum with its error term (Knuth's two-sum) is exact as well, so that the
    nearest single can be compared with the true value.
    """
    product, addend = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + addend
    back = total - product
    lost = (product - (total - back)) + (addend - back)
    nearest = total.astype(np.float32)
    beyond = (total - nearest) + lost  # the true value minus the nearest single
    goal = np.copysign(np.float32(0), nearest) if towards == 0.0 else np.float32(towards)
    overshot = np.where(goal > nearest, beyond > 0, np.where(goal < nearest, beyond < 0, False))
    return np.where(overshot, np.nextafter(nearest, goal), nearest)[()]


def flush(a: Any) -> Any:
    """``.ftz``: denormals become zero of the same sign."""
    return np.where(np.absolute(a) < np.finfo(a.dtype).tiny, np.copysign(a.dtype.type(0), a), a)[()]


def saturate(a: Any) -> Any:
    """``.sat``: into the range from 0 to 1; NaN becomes 0."""
    return np.where(np.isnan(a), a.dtype.type(0), np.clip(a, a.dtype.type(0), a.dtype.type(1)))[()]
