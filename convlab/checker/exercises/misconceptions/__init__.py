"""The table of misconceptions that wrong answers stand for, in the words that a learner reads, by lesson."""

from __future__ import annotations

from typing import Any

from convlab.checker.exercises.misconceptions import (
    bounds,
    first,
    fragments,
    gemm,
    im2col,
    implicit,
    mapping,
    registers,
    sizes,
    tiles,
)
from convlab.checker.record import Mutant

__all__ = ["MISCONCEPTIONS", "mutant"]

_LESSONS = (first, sizes, mapping, bounds, tiles, registers, im2col, gemm, implicit, fragments)

# name: (what the code seems to do, a hint that leads on without telling the answer)
MISCONCEPTIONS: dict[str, tuple[str, str]] = {
    name: texts for lesson in _LESSONS for name, texts in lesson.TEXTS.items()
}


def mutant(name: str, *ways: Any) -> Mutant:
    """Make the mutant of a misconception in the table.

    >>> mutant("bias missing", lambda x, w, bias: x @ w).misconception
    'The bias is missing.'

    Parameters: ``ways``, the functions, CUDA C or values in which the mistake is usually written in this exercise.
    """
    return Mutant(name, *MISCONCEPTIONS[name], ways)
