"""Arithmetic as PTX defines it, on NumPy arrays and scalars, one element a lane."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import vectorize
from numba.extending import intrinsic

__all__ = ["DTYPES", "NAMESPACE", "bits", "constant"]

DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(code)
    for name, code in {
        "pred": "?",
        **{"b8": "i1", "s8": "i1", "u8": "u1", "b16": "i2", "s16": "i2", "u16": "u2", "f16": "f2"},
        **{
            "b32": "i4",
            "s32": "i4",
            "u32": "u4",
            "f32": "f4",
            "b64": "i8",
            "s64": "i8",
            "u64": "u8",
            "f64": "f8",
        },
    }.items()
}


def constant(value: int | float, dtype: np.dtype[Any]) -> Any:
    """A literal as a NumPy scalar; integers wrap to the type's size, floats given for integers are their bits."""
    if dtype.kind in "iu" and isinstance(value, int):
        size = dtype.itemsize
        return np.frombuffer((value % (1 << 8 * size)).to_bytes(size, "little"), dtype)[0]
    if dtype.kind in "iu":
        return np.array(value, f"f{dtype.itemsize}").view(dtype)[()]
    return dtype.type(value)


def bits(value: Any, dtype: np.dtype[Any]) -> Any:
    """The same bits under another type of the same size."""
    return value if value.dtype == dtype else value.view(dtype)


@intrinsic
def _llvm_fma(_context: Any, a: Any, b: Any, c: Any) -> Any:
    return a(a, b, c), lambda _ctx, builder, _signature, args: builder.fma(*args)


# NumPy has no fused multiply-add, and double precision alone rounds twice; LLVM's rounds once, on any CPU.
@vectorize(["f4(f4,f4,f4)", "f8(f8,f8,f8)"], cache=True)  # type: ignore[no-untyped-call,untyped-decorator]
def fma(a: Any, b: Any, c: Any) -> Any:
    """a·b + c, rounded once (IEEE 754 fusedMultiplyAdd)."""
    return _llvm_fma(a, b, c)  # type: ignore[call-arg]


def divide(a: Any, b: Any) -> Any:
    """Integer division that truncates towards zero, as in C; by zero it gives all ones, as NVIDIA's hardware does."""
    safe = np.where(b == 0, b.dtype.type(1), b)
    quotient = (a - np.fmod(a, safe)) // safe
    return np.where(b == 0, ~np.zeros_like(quotient), quotient)[()]


def remainder(a: Any, b: Any) -> Any:
    """The remainder of `divide`, with the sign of ``a``; by zero it gives ``a``."""
    safe = np.where(b == 0, b.dtype.type(1), b)
    return np.where(b == 0, a, np.fmod(a, safe))[()]


def shift_left(a: Any, count: Any) -> Any:
    """``shl``: counts beyond the width give zero."""
    width = 8 * a.dtype.itemsize
    return np.where(count < width, a << np.minimum(count, width - 1).astype(a.dtype), a.dtype.type(0))[()]


def shift_right(a: Any, count: Any) -> Any:
    """``shr``: counts beyond the width give zero, or the sign for signed types."""
    width = 8 * a.dtype.itemsize
    shifted = a >> np.minimum(count, width - 1).astype(a.dtype)
    return shifted if a.dtype.kind == "i" else np.where(count < width, shifted, a.dtype.type(0))[()]


def multiply_high(a: Any, b: Any) -> Any:
    """``mul.hi``: the upper half of the full product of 16- or 32-bit integers."""
    wide = np.dtype(f"{a.dtype.kind}{2 * a.dtype.itemsize}")
    return ((a.astype(wide) * b.astype(wide)) >> wide.type(8 * a.dtype.itemsize)).astype(a.dtype)


def to_integer(a: Any, dtype: np.dtype[Any], rounding: Any) -> Any:
    """``cvt`` from float to integer: rounds, saturates at the type's limits, and makes NaN zero."""
    limits = np.iinfo(dtype)
    rounded = rounding(a.astype(np.float64))
    # 2^63 - 1 is no double: clip below by comparison, so that the largest values saturate exactly.
    inside = (rounded > float(limits.min)) & (rounded < float(limits.max))
    whole = np.where(inside, rounded, 0.0).astype(dtype)
    edge = np.where(rounded <= float(limits.min), dtype.type(limits.min), dtype.type(limits.max))
    return np.where(inside, whole, np.where(np.isnan(a), dtype.type(0), edge))[()]


def select(chosen: Any, a: Any, b: Any) -> Any:
    """``selp``: a where the predicate holds, else b."""
    return np.where(chosen, a, b)[()]


# What generated code may call, by name; nothing else is in its reach.
NAMESPACE: dict[str, Any] = {
    "__builtins__": {},
    "bits": bits,
    "fma": fma,
    "divide": divide,
    "remainder": remainder,
    "shift_left": shift_left,
    "shift_right": shift_right,
    "multiply_high": multiply_high,
    "to_integer": to_integer,
    "select": select,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "fmin": np.fmin,
    "fmax": np.fmax,
    "absolute": np.absolute,
    "sqrt": np.sqrt,
    "exp2": np.exp2,
    "log2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "rint": np.rint,
    "trunc": np.trunc,
    "floor": np.floor,
    "ceil": np.ceil,
    "isnan": np.isnan,
}
