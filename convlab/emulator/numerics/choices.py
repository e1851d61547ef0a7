"""Choices between values (``selp``, ``slct``), and tests of floats (``testp``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.emulator.vectorized import vectorized

__all__ = ["is_normal", "is_subnormal", "select"]

CHOICES = ["i1(b1,i1,i1)", "i2(b1,i2,i2)", "i4(b1,i4,i4)", "i8(b1,i8,i8)"]


# NumPy's `where` takes five times as long.
@vectorized(*CHOICES)
def select(chosen: Any, a: Any, b: Any) -> Any:
    """``selp``: the bits of a where the predicate holds, else those of b."""
    return a if chosen else b


def is_subnormal(a: Any) -> Any:
    """``testp.subnormal``."""
    return (a != 0) & (np.absolute(a) < np.finfo(a.dtype).tiny)


def is_normal(a: Any) -> Any:
    """``testp.normal``: neither subnormal nor infinite nor NaN; zero counts as normal."""
    return np.isfinite(a) & ~is_subnormal(a)
