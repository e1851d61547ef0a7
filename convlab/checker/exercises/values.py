"""What exercises about numbers and words share: the question is part of the text, the same for every seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from convlab.checker.record import Case, Exercise, Floats

__all__ = ["values_exercise"]


def values_exercise(wanted: Mapping[str, Any], **details: Any) -> Exercise:
    """Make the record of a question that is answered by values.

    >>> values_exercise({"a": 1, "b": (2, 3)}, id="x", notebook="x", title="X", points=1, function="x", mutants=()).stub
    '"a": ...,\\n"b": ...,'

    Parameters: ``wanted``, the right values by name, as ``kinds.values`` compares them; ``details``, the other fields
    of an ``Exercise``.
    """
    return Exercise(
        kind="values",
        stub="\n".join(f'"{name}": ...,' for name in wanted),
        cases=lambda rng: [Case(wanted)],
        oracle=_nothing,
        tolerance=_nothing,
        **details,
    )


def _nothing(*known: object) -> Floats:
    """A range of numbers is its own tolerance."""
    return np.zeros(())
