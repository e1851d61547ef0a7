"""Arithmetic as PTX defines it, on NumPy arrays and scalars, one element a lane."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.emulator.numerics import conversions, floats, integers
from convlab.emulator.types import bits

__all__ = ["NAMESPACE"]

# Our name → NumPy's function, where that is what PTX asks for.
PLAIN = {
    name: name
    for name in (
        *("absolute", "ceil", "copysign", "cos", "exp2", "floor", "fmax", "fmin", "isnan", "log2", "maximum"),
        *("minimum", "rint", "sin", "sqrt", "tanh", "trunc"),
    )
} | {"bit_count": "bitwise_count"}

# What generated code may call, by name; nothing else is in its reach.
NAMESPACE: dict[str, Any] = {
    "__builtins__": {},
    "bits": bits,
    **{name: getattr(np, function) for name, function in PLAIN.items()},
    **{name: getattr(module, name) for module in (conversions, floats, integers) for name in module.__all__},
}
