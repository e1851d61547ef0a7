"""What an exercise is: one record that check, release, tests and documentation all read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = ["Budget", "Case", "Exercise", "Floats", "Kernel", "Mutant", "Shape"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """One call of the learner's function, and the names of what it gives back.

    >>> case = Case({"x": np.ones((2, 3)), "stride": (2, 1)}, axes=("p", "q"))
    >>> print(case, "->", case.element((0, 4)))
    x of 2×3, stride=(2, 1) -> y[p=0, q=4]
    >>> Case({"k": 1}, fixed={"k": 1}).element(())
    'y[k=1]'
    >>> Case({"size": 7}, whole=True).element(())
    'y'

    Parameters: ``arguments`` by name, in the order of the call; ``axes``, the letters of the result's axes,
    none for a single number; ``fixed``, the indices that the case itself chooses; ``given``, what the oracle and the
    tolerance take, the arguments themselves where empty; ``words``, the case in words, the arguments where empty;
    ``whole``, whether the result counts something, so that it may be an int.
    """

    arguments: Mapping[str, Any]
    axes: tuple[str, ...] = ()
    fixed: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    given: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    words: str = ""
    whole: bool = False

    @property
    def known(self) -> tuple[Any, ...]:
        """What the oracle, the tolerance and the budgets take."""
        return tuple((self.given or self.arguments).values())

    def element(self, index: Sequence[int]) -> str:
        """Name one element of the result in tensor terms."""
        places = {**self.fixed, **dict(zip(self.axes, index, strict=True))}
        return f"y[{', '.join(f'{axis}={place}' for axis, place in places.items())}]" if places else "y"

    def __str__(self) -> str:
        return self.words or ", ".join(_argument(name, value) for name, value in self.arguments.items())


def _argument(name: str, value: object) -> str:
    return f"{name} of {'×'.join(map(str, value.shape))}" if isinstance(value, np.ndarray) else f"{name}={value}"


@dataclass(frozen=True)
class Mutant:
    """A known-wrong answer: the misconception it stands for, a hint, and what it computes.

    ``misconception`` is a sentence about the code; ``hint`` leads on without telling the answer.
    ``ways`` are the ways in which the mistake is usually written: functions, each of which takes a case's arguments
    as the learner's function does, and where the learner's would raise, so may it; for kernels the whole CUDA C; for
    values the values themselves.
    """

    name: str
    misconception: str
    hint: str
    ways: tuple[Any, ...]


Shape = int | tuple[int, ...]


@dataclass(frozen=True)
class Kernel:
    """How the check launches a kernel.

    - ``entry``: its name in the CUDA C;
    - ``launch``: takes what the oracle takes, and gives grid, block, and bytes of dynamic shared memory;
    - ``output``: the parameter that the result is written to; the case holds an array of its shape and type;
    - ``letters``: the axes of arrays, for the sanitizer's sentences, as {"x": "nchw"}.
    """

    entry: str
    launch: Callable[..., tuple[Shape, Shape, int]]
    output: str = "y"
    letters: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class Budget:
    """A limit on what an answer may use in a case.

    - ``measure``: a counter of the run, such as "sectors_global_load", "registers" (of a thread on an A100), or, for
      functions, "memory" (bytes at the peak, the result included);
    - ``words``: what is counted, as it stands in sentences: "sectors loaded";
    - ``most``: takes what the oracle takes, and gives the limit; ``why`` says where it comes from.
    """

    measure: str
    words: str
    most: Callable[..., float]
    why: str


@dataclass(frozen=True)
class Exercise:
    """One question of an exercise notebook, with all that is needed to pose, check and release it.

    - ``id``: the ``grade_id`` of the answer's cell; ``notebook``: the name, without its ending, of the
      exercise's notebook, or of the lesson that asks the question itself;
    - ``kind``: a function of Python, a kernel of CUDA C, or values: a number, or a few under their names;
    - ``function``: the name that the answer defines; ``stub``: what stands where the answer was;
    - ``cases``: makes the calls from a seeded generator, the easiest first;
    - ``oracle`` and ``tolerance`` take what the case gives them, its arguments as a rule, and give the right result
      in float64 and the error that each of its elements may have;
    - ``mutants``: the known-wrong answers that the check must reject and name;
    - ``kernel``: how a kernel is launched; ``budgets``: limits on counters and memory;
    - ``hints``: two, for those who are stuck, the second one stronger;
    - ``seconds``: how long all cases together may take; a kernel ends by the number of its instructions;
    - ``allows``: the packages, and modules of this one, that an answer in Python may use when it is graded;
    - ``partial``: whether each right case earns its part of the points when it is graded.
    """

    id: str
    notebook: str
    title: str
    points: int
    kind: Literal["function", "kernel", "values"]
    function: str
    stub: str
    cases: Callable[[np.random.Generator], list[Case]]
    oracle: Callable[..., Floats]
    tolerance: Callable[..., Floats]
    mutants: tuple[Mutant, ...]
    kernel: Kernel | None = None
    budgets: tuple[Budget, ...] = ()
    hints: tuple[str, str] | tuple[()] = ()
    seconds: float = 5.0
    allows: tuple[str, ...] = ("numpy", "convlab.spec")
    partial: bool = False
