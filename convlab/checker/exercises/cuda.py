"""What exercises in CUDA C share: the answer's source with its mutants, and convolutions as cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from convlab.checker.compare import rounding_bound
from convlab.checker.exercises.misconceptions import mutant
from convlab.checker.exercises.taps import Array, random_values
from convlab.checker.record import Case, Floats, Mutant
from convlab.reference.direct import oracle as convolve
from convlab.spec import ConvSpec

__all__ = ["conv_case", "conv_oracle", "conv_tolerance", "mutants_of"]


def mutants_of(source: str, changes: Mapping[str, tuple[tuple[str, str], ...]]) -> tuple[Mutant, ...]:
    """Make the mutants of an answer by changing its text, in one place each.

    >>> made = mutants_of("y[i] = 2 * a[i];", {"line not changed": (("2 * a", "a"),)})
    >>> made[0].ways
    ('y[i] = a[i];',)

    Parameters: ``source``, the right answer; ``changes``: a misconception's name → its ways, each the text that is
    replaced and what by. Raises ``ValueError`` for a text that does not occur exactly once.
    """
    return tuple(mutant(name, *(_changed(source, *change) for change in ways)) for name, ways in changes.items())


def _changed(source: str, old: str, new: str) -> str:
    if source.count(old) != 1:
        raise ValueError(
            f"{old!r} occurs {source.count(old)} times in the answer.\n  Fix: name a text that occurs once."
        )
    return source.replace(old, new)


def conv_case(rng: np.random.Generator, spec: ConvSpec, numbers: Mapping[str, int]) -> Case:
    """A convolution as a kernel's arguments: x, w, y, then whole numbers by name, as the signature lists them."""
    x, w = random_values(rng, *spec.input_shape), random_values(rng, *spec.weight_shape)
    ints = {name: np.int32(value) for name, value in numbers.items()}
    return Case(
        {"x": x, "w": w, "y": np.zeros(spec.output_shape, np.float32), **ints},
        axes=("n", "k", "p", "q"),
        given={"x": x, "w": w, "spec": spec},
        words=str(spec),
    )


def conv_oracle(x: Array, w: Array, spec: ConvSpec) -> Floats:
    """The convolution in float64."""
    return np.asarray(convolve(x, w, None, spec))


def conv_tolerance(x: Array, w: Array, spec: ConvSpec) -> Floats:
    """The error that rounding in float32 may make of it."""
    magnitude: Any = convolve(np.abs(x), np.abs(w), None, spec)
    return rounding_bound(terms=spec.gemm_shape.gemm_k, magnitude=magnitude, dtype=x.dtype)
