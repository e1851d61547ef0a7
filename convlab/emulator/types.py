"""The types of PTX as NumPy dtypes, and literals as values of them."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["DTYPES", "SIZES", "bits", "constant"]

DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(code)
    for name, code in {
        "pred": "?",
        **{"b8": "i1", "s8": "i1", "u8": "u1"},
        **{"b16": "i2", "s16": "i2", "u16": "u2", "f16": "f2"},
        **{"b32": "i4", "s32": "i4", "u32": "u4", "f32": "f4"},
        **{"b64": "i8", "s64": "i8", "u64": "u8", "f64": "f8"},
        # Narrow floats that NumPy lacks, and pairs of them, are kept as their bits.
        **{"bf16": "u2", "f16x2": "u4", "bf16x2": "u4", "tf32": "u4"},
        **{"s16x2": "u4", "u16x2": "u4", "e4m3x2": "u2", "e5m2x2": "u2"},
    }.items()
}
SIZES = {name: dtype.itemsize for name, dtype in DTYPES.items()} | {"b128": 16}


def constant(value: int | float, dtype: np.dtype[Any]) -> Any:
    """A literal as a NumPy scalar; integers wrap to the type's size, floats given for integers are their bits."""
    if dtype.kind in "iu" and isinstance(value, int):
        size = dtype.itemsize
        return np.frombuffer((value % (1 << 8 * size)).to_bytes(size, "little"), dtype)[0]
    with np.errstate(over="ignore"):  # a literal that is too large for its type is infinite
        if dtype.kind in "iu":
            return np.array(value, f"f{dtype.itemsize}").view(dtype)[()]
        return dtype.type(value)


def bits(value: Any, dtype: np.dtype[Any]) -> Any:
    """The same bits under another type of the same size."""
    return value if value.dtype == dtype else value.view(dtype)
