"""Exercise 10, question 1: what a lane holds of the matrices of mma.sync m16n8k16."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from convlab.checker.exercises.misconceptions import mutant
from convlab.checker.exercises.taps import Array, random_values
from convlab.checker.record import Case, Exercise, Floats
from convlab.emulator.fragments import fragment

__all__ = ["EXERCISE"]

Place = Callable[[int, int, int], tuple[int, int]]  # (g, t, i) → row and column
Answer = Callable[[Array, str, int], Array]

_SHAPES = {"A": (16, 16), "B": (16, 8), "C": (16, 8)}
_COUNTS = {"A": 8, "B": 4, "C": 4}
_RIGHT: Mapping[str, Place] = MappingProxyType(
    {
        "A": lambda g, t, i: (g + 8 * (i // 2 % 2), 2 * t + i % 2 + 8 * (i // 4)),
        "B": lambda g, t, i: (2 * t + i % 2 + 8 * (i // 2), g),
        "C": lambda g, t, i: (g + 8 * (i // 2), 2 * t + i % 2),
    }
)


def _cases(rng: np.random.Generator) -> list[Case]:
    """Three lanes for each matrix, none of which has its number in common with its place or its group.

    One is of the groups 2 and 3: there group and place, exchanged, still lie within the matrices.
    """
    groups = [rng.choice([2, 3]), *rng.permutation(range(4, 8))[:2]]
    lanes = [4 * int(g) + t for g, t in zip(groups, (3, 1, 2), strict=True)]
    return [
        Case({"matrix": random_values(rng, *_SHAPES[name]), "name": name, "lane": lane}, axes=("i",), words=words)
        for name in "CBA"
        for lane in lanes
        for words in [f"matrix {name} of {'×'.join(map(str, _SHAPES[name]))}, lane={lane}"]
    ]


def _oracle(matrix: Array, name: str, lane: int) -> Floats:
    who = fragment("mma", "m16n8k16", name.lower(), "f32" if name == "C" else "f16")
    return np.asarray(matrix[who.row[lane], who.column[lane]], np.float64)


def _tolerance(matrix: Array, name: str, lane: int) -> Floats:
    return np.full(_COUNTS[name], 1e-9)  # nothing is computed


def _bent(
    *,
    lane: Callable[[int], tuple[int, int]] = lambda lane: divmod(lane, 4),
    number: Callable[[int, str], int] = lambda i, name: i,
    **places: Place,
) -> Answer:
    """Make an answer with one thing bent: how a lane is split, the order of elements, or the ``places`` of a matrix."""

    def answer(matrix: Array, name: str, given: int) -> Array:
        place = {**_RIGHT, **places}[name]
        return np.array([matrix[place(*lane(given), number(i, name))] for i in range(_COUNTS[name])])

    return answer


def _in_a_run(matrix: Array, name: str, lane: int) -> Array:
    count = _COUNTS[name]
    return matrix.ravel()[lane * count : (lane + 1) * count]


_MUTANTS = (
    mutant("lanes counted down the rows", _bent(lane=lambda lane: (lane % 8, lane // 8))),
    mutant("group and place in it exchanged", _bent(lane=lambda lane: (lane % 4, lane // 4))),
    mutant("a run of the matrix for each lane", _in_a_run),
    mutant(
        "two elements of a register apart",
        _bent(
            A=lambda g, t, i: (g + 8 * (i // 2 % 2), t + 4 * (i % 2) + 8 * (i // 4)),
            B=lambda g, t, i: (t + 4 * (i % 2) + 8 * (i // 2), g),
            C=lambda g, t, i: (g + 8 * (i // 2), t + 4 * (i % 2)),
        ),
        _bent(C=lambda g, t, i: (g + 8 * (i // 2), t + 4 * (i % 2))),
    ),
    mutant(
        "second and third register of A exchanged",
        _bent(A=lambda g, t, i: (g + 8 * (i // 4), 2 * t + i % 2 + 8 * (i // 2 % 2))),
    ),
    mutant(
        "rows and columns of B exchanged",
        _bent(B=lambda g, t, i: (g, 2 * t + i % 2 + 8 * (i // 2))),
    ),
    mutant("B held along its rows", _bent(B=_RIGHT["C"])),
    mutant("rows and columns of A exchanged", _bent(A=lambda g, t, i: _RIGHT["A"](g, t, i)[::-1])),
    mutant("sums held as B is", _bent(C=_RIGHT["B"])),
    mutant(
        "lanes one element apart",
        _bent(
            A=lambda g, t, i: (g + 8 * (i // 2 % 2), t + i % 2 + 8 * (i // 4)),
            B=lambda g, t, i: (t + i % 2 + 8 * (i // 2), g),
            C=lambda g, t, i: (g + 8 * (i // 2), t + i % 2),
        ),
        _bent(C=lambda g, t, i: (g + 8 * (i // 2), t + i % 2)),
    ),
    mutant(
        "four elements side by side",
        _bent(A=lambda g, t, i: (g + 8 * (i // 4), 4 * t + i % 4)),
        _bent(A=lambda g, t, i: (g, 4 * t + i % 4)),
        _bent(B=lambda g, t, i: (4 * t + i, g)),
    ),
    mutant("pairs of B eight rows apart", _bent(B=lambda g, t, i: (2 * t + i // 2 + 8 * (i % 2), g))),
    mutant(
        "A numbered down first",
        _bent(A=lambda g, t, i: (g + 8 * (i % 2), 2 * t + i // 2 % 2 + 8 * (i // 4))),
    ),
    mutant(
        "halves of a register exchanged",
        _bent(number=lambda i, name: i ^ 1),
        _bent(number=lambda i, name: i ^ (name != "C")),
    ),
    mutant(
        "eight rows further left out",
        _bent(A=lambda g, t, i: (g, 2 * t + i % 2 + 8 * (i // 4)), C=lambda g, t, i: (g, 2 * t + i % 2)),
        _bent(A=lambda g, t, i: (g, 2 * t + i % 2 + 8 * (i // 4))),
        _bent(C=lambda g, t, i: (g, 2 * t + i % 2)),
    ),
    mutant(
        "second half of the depth left out",
        _bent(A=lambda g, t, i: (g + 8 * (i // 2 % 2), 2 * t + i % 2), B=lambda g, t, i: (2 * t + i % 2, g)),
        _bent(A=lambda g, t, i: (g + 8 * (i // 2 % 2), 2 * t + i % 2)),
        _bent(B=lambda g, t, i: (2 * t + i % 2, g)),
    ),
    mutant(
        "rows of a lane side by side",
        _bent(
            A=lambda g, t, i: (2 * g + i // 2 % 2, 2 * t + i % 2 + 8 * (i // 4)),
            C=lambda g, t, i: (2 * g + i // 2, 2 * t + i % 2),
        ),
        _bent(C=lambda g, t, i: (2 * g + i // 2, 2 * t + i % 2)),
    ),
    mutant("sums numbered down first", _bent(C=lambda g, t, i: (g + 8 * (i % 2), 2 * t + i // 2))),
)

EXERCISE = Exercise(
    id="10-fragment-map",
    notebook="10_tensor_cores",
    title="The fragment map",
    points=5,
    kind="function",
    function="held",
    stub="raise NotImplementedError  # the elements that the lane holds",
    cases=_cases,
    oracle=_oracle,
    tolerance=_tolerance,
    mutants=_MUTANTS,
    hints=(
        "Split the lane first: four neighbouring lanes are a group. Then write down, for one lane, where each i lies.",
        "i % 2 moves to the neighbour that shares a register; i // 2 and i // 4 move on by 8.",
    ),
)
