"""Arithmetic as PTX defines it, on NumPy arrays and scalars, one element a lane."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np

from convlab.emulator.types import bits

__all__ = ["NAMESPACE"]

# NumPy's own functions, where they do what PTX asks for.
PLAIN = (
    *("absolute", "ceil", "copysign", "cos", "exp2", "floor", "isfinite", "isinf", "isnan", "log2", "maximum"),
    *("minimum", "rint", "sin", "sqrt", "tanh", "trunc"),
)
MODULES = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]

# What generated code may call, by name; nothing else is in its reach.
NAMESPACE: dict[str, Any] = {
    "__builtins__": {},
    "bits": bits,
    **{name: getattr(np, name) for name in PLAIN},
    **{name: getattr(module, name) for module in MODULES for name in module.__all__},
}
