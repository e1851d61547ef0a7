"""The question inside of lesson 00: change one line of a kernel, so that it computes 2·a + b."""

from __future__ import annotations

import numpy as np

from convlab.checker.compare import rounding_bound
from convlab.checker.exercises.misconceptions import mutant
from convlab.checker.exercises.taps import Array, random_values
from convlab.checker.record import Case, Exercise, Floats

__all__ = ["EXERCISE"]


def _cases(rng: np.random.Generator) -> list[Case]:
    """No length divides by a block of 256, and the last case has more than one block."""
    return [
        Case({"a": random_values(rng, size), "b": random_values(rng, size)}, axes=("i",))
        for size in (5, 200, 255, int(rng.integers(600, 700)))
    ]


def _oracle(a: Array, b: Array) -> Floats:
    return 2.0 * a.astype(np.float64) + b.astype(np.float64)


def _tolerance(a: Array, b: Array) -> Floats:
    return rounding_bound(terms=2, magnitude=_oracle(np.abs(a), np.abs(b)), dtype=a.dtype)


def _last_missing(a: Array, b: Array) -> Array:
    result = _oracle(a, b)
    result[-1] = 0
    return result


def _one_block(a: Array, b: Array) -> Array:
    return np.where(np.arange(a.size) < 256, _oracle(a, b), 0)


EXERCISE = Exercise(
    id="00-one-line",
    notebook="00_start_here",
    title="One line of CUDA C",
    points=1,
    kind="function",
    function="combine",
    stub="raise NotImplementedError",
    cases=_cases,
    oracle=_oracle,
    tolerance=_tolerance,
    mutants=(
        mutant("line not changed", lambda a, b: a + b),
        mutant("the other array doubled", lambda a, b: a + 2 * b),
        mutant("the sum doubled", lambda a, b: 2 * (a + b)),
        mutant("one array missing", lambda a, b: 2 * a, lambda a, b: 2 * b, lambda a, b: b),
        mutant("squared, not doubled", lambda a, b: a * a + b),
        mutant("two added, not multiplied", lambda a, b: a + b + 2, lambda a, b: a + 2),
        mutant("multiplied, not added", lambda a, b: 2 * a * b, lambda a, b: a * b),
        mutant("subtracted, not added", lambda a, b: 2 * a - b, lambda a, b: b - 2 * a),
        mutant("last element missing", _last_missing),
        mutant("only the first block", _one_block),
    ),
    hints=(
        "The line that stores y[i] reads both arrays already. Which of the two has to count twice?",
        "Multiply a[i] by 2.0f, and leave b[i] as it is. Then run the kernel's cell again, and the check after it.",
    ),
)
