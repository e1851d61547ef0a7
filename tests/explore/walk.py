"""Random changes of an explorer's controls, as a restless hand makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.explore.controls import Choice, Text
from convlab.explore.explorer import Explorer

__all__ = ["change"]


def change(explorer: Explorer, rng: np.random.Generator) -> tuple[str, Any]:
    """Move one control to a value that it reaches now, and give its name and the value."""
    usable = [name for name, field in explorer.controls.items() if not field.disabled]
    name = str(rng.choice(usable))
    field, control = explorer.controls[name], explorer.table[name]
    if isinstance(control, Choice):
        field.value = str(rng.choice([*control.words]))
    elif isinstance(control, Text):
        field.value = str(rng.choice([*control.examples]))
    else:
        field.value = int(rng.integers(field.min, field.max + 1))
    return name, field.value
