"""What an exercise is: one record that check, release, tests and documentation all read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = ["Case", "Exercise", "Floats", "Mutant"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """One call of the learner's function, and the names of what it gives back.

    >>> case = Case({"x": np.ones((2, 3)), "stride": (2, 1)}, axes=("p", "q"))
    >>> print(case, "->", case.element((0, 4)))
    x of 2×3, stride=(2, 1) -> y[p=0, q=4]
    >>> Case({"k": 1}, fixed={"k": 1}).element(())
    'y[k=1]'

    Parameters: ``arguments`` by name, in the order of the call; ``axes``, the letters of the result's axes,
    none for a single number; ``fixed``, the indices that the case itself chooses.
    """

    arguments: Mapping[str, Any]
    axes: tuple[str, ...] = ()
    fixed: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    def element(self, index: Sequence[int]) -> str:
        """Name one element of the result in tensor terms."""
        places = {**self.fixed, **dict(zip(self.axes, index, strict=True))}
        return f"y[{', '.join(f'{axis}={place}' for axis, place in places.items())}]"

    def __str__(self) -> str:
        return ", ".join(_argument(name, value) for name, value in self.arguments.items())


def _argument(name: str, value: object) -> str:
    return f"{name} of {'×'.join(map(str, value.shape))}" if isinstance(value, np.ndarray) else f"{name}={value}"


@dataclass(frozen=True)
class Mutant:
    """A known-wrong answer: the misconception it stands for, a hint, and what it computes.

    ``misconception`` is a sentence about the code; ``hint`` leads on without telling the answer.
    ``functions`` are the ways in which the mistake is usually written; each takes a case's arguments as the
    learner's function does, and where the learner's would raise, so may it.
    """

    name: str
    misconception: str
    hint: str
    functions: tuple[Callable[..., npt.ArrayLike], ...]


@dataclass(frozen=True)
class Exercise:
    """One question of an exercise notebook, with all that is needed to pose, check and release it.

    - ``id``: the ``grade_id`` of the answer's cell; ``notebook``: the name, without its ending, of the
      exercise's notebook, or of the lesson that asks the question itself;
    - ``function``: the name that the answer defines; ``stub``: what stands where the answer was;
    - ``cases``: makes the calls from a seeded generator, the easiest first;
    - ``oracle`` and ``tolerance`` take a case's arguments and give the right result in float64 and the error
      that each of its elements may have;
    - ``mutants``: the known-wrong answers that the check must reject and name;
    - ``seconds``: how long all cases together may take.
    """

    id: str
    notebook: str
    title: str
    points: int
    kind: Literal["function"]
    function: str
    stub: str
    cases: Callable[[np.random.Generator], list[Case]]
    oracle: Callable[..., Floats]
    tolerance: Callable[..., Floats]
    mutants: tuple[Mutant, ...]
    seconds: float = 5.0
