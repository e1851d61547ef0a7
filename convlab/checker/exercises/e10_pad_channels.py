"""Exercise 10, question 2: how many multipliers of a Tensor Core are useful, in both ways of filling up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from convlab.checker.exercises.misconceptions import mutant
from convlab.checker.record import Case, Exercise, Floats
from convlab.spec import ConvSpec
from convlab.views.idle_multipliers import Order, idle_multipliers

__all__ = ["EXERCISE"]


class _Sizes(NamedTuple):
    """What the answer is called with: K filters of C × R × S, the sides of the tile, and the order of the sum."""

    c: int
    k: int
    r: int
    s: int
    filters: int
    elements: int
    per_tap: bool


Count = Callable[[_Sizes], float]
Answer = Callable[..., float]


def _cases(rng: np.random.Generator) -> list[Case]:
    """From tiles that are full to such that lack both; the seed chooses some of the channels."""
    few, some, many = (int(rng.choice(numbers)) for numbers in ((3, 5, 6), (5, 7, 9), range(18, 31)))
    sizes = [
        _Sizes(32, 16, 3, 3, 16, 16, per_tap=False),
        _Sizes(32, 16, 3, 3, 16, 16, per_tap=True),
        _Sizes(3, 7, 3, 3, 16, 16, per_tap=False),
        _Sizes(3, 7, 3, 3, 16, 16, per_tap=True),
        _Sizes(some, 20, 3, 2, 8, 16, per_tap=False),
        _Sizes(few, 20, 5, 3, 16, 8, per_tap=True),
        _Sizes(some, 33, 2, 5, 16, 8, per_tap=False),
        _Sizes(many, 35, 2, 5, 8, 16, per_tap=True),
    ]
    return [Case(each._asdict()) for each in sizes]


def _oracle(*arguments: Any) -> Floats:
    of = _Sizes(*arguments)
    spec = ConvSpec(n=1, c=of.c, h=32, w=32, k=of.k, r=of.r, s=of.s)
    order: Order = "per tap" if of.per_tap else "flattened"
    return np.asarray(idle_multipliers(spec, order, filters=of.filters, elements=of.elements).useful)


def _tolerance(*arguments: Any) -> Floats:
    return 1e-6 * _oracle(*arguments)


def _filled(count: int, side: int) -> int:
    return -(-count // side) * side


def _rows(of: _Sizes) -> float:
    return _filled(of.k, of.filters)


def _depth(of: _Sizes) -> float:
    if of.per_tap:
        return of.r * of.s * _filled(of.c, of.elements)
    return _filled(of.c * of.r * of.s, of.elements)


def _bent(
    rows: Count = _rows,
    depth: Count = _depth,
    share: Callable[[float, float], float] = lambda filters, elements: filters * elements,
    change: Callable[[_Sizes], _Sizes] = lambda of: of,
) -> Answer:
    """Make an answer with one thing bent; as it stands, it is right.

    ``rows`` and ``depth`` are what is paid for, ``share`` joins the useful part of the one and of the other.
    """

    def answer(*arguments: Any) -> float:
        of = change(_Sizes(*arguments))
        return share(of.k / rows(of), of.c * of.r * of.s / depth(of))

    return answer


def _down(count: int, side: int) -> int:
    return max(1, count // side) * side


def _one_more(count: int, side: int) -> int:
    return (count // side + 1) * side


def _rounded(way: Callable[[int, int], int]) -> Answer:
    return _bent(
        rows=lambda of: way(of.k, of.filters),
        depth=lambda of: of.r * of.s * way(of.c, of.elements) if of.per_tap else way(of.c * of.r * of.s, of.elements),
    )


_MUTANTS = (
    mutant("one step for each tap", _bent(depth=lambda of: of.r * of.s * of.elements if of.per_tap else _depth(of))),
    mutant(
        "taps left out of what is paid for",
        _bent(depth=lambda of: _filled(of.c, of.elements) if of.per_tap else _depth(of)),
        _bent(depth=lambda of: _filled(of.c, of.elements)),
    ),
    mutant(
        "taps left out of what is useful",
        _bent(depth=lambda of: of.r * of.s * _depth(of)),
        _bent(depth=lambda of: of.r * of.s * _depth(of) if of.per_tap else _depth(of)),
    ),
    mutant(
        "a single tile counted",
        _bent(rows=lambda of: of.filters),
        _bent(depth=lambda of: _depth(of) if of.per_tap else of.elements),
        _bent(rows=lambda of: of.filters, depth=lambda of: of.elements),
    ),
    mutant(
        "each row of the window filled up",
        _bent(depth=lambda of: _depth(of) if of.per_tap else of.r * _filled(of.c * of.s, of.elements)),
    ),
    mutant("filters not filled up", _bent(rows=lambda of: of.k)),
    mutant("elements not filled up", _bent(depth=lambda of: of.c * of.r * of.s)),
    mutant("flattened and per tap taken for each other", _bent(change=lambda of: of._replace(per_tap=not of.per_tap))),
    mutant("always flattened", _bent(change=lambda of: of._replace(per_tap=False))),
    mutant("always per tap", _bent(change=lambda of: of._replace(per_tap=True))),
    mutant(
        "taps filled up, not channels",
        _bent(
            depth=lambda of: (
                of.c * _filled(of.r * of.s, of.elements) if of.per_tap else _filled(of.c * of.r * of.s, of.elements)
            )
        ),
        _bent(depth=lambda of: _depth(of) if of.per_tap else of.c * _filled(of.r * of.s, of.elements)),
        _bent(depth=lambda of: of.c * _filled(of.r * of.s, of.elements)),
    ),
    mutant(
        "sides of the tile exchanged",
        _bent(change=lambda of: of._replace(filters=of.elements, elements=of.filters)),
        _bent(rows=lambda of: _filled(of.k, of.elements)),
        _bent(change=lambda of: of._replace(elements=of.filters)),
    ),
    mutant("tiles rounded down", _rounded(_down)),
    mutant("a tile too many", _rounded(_one_more)),
    mutant(
        "shares averaged, not multiplied",
        _bent(share=lambda filters, elements: (filters + elements) / 2),
        _bent(share=min),
    ),
    mutant("idle part given", _bent(share=lambda filters, elements: 1 - filters * elements)),
    mutant("per cent given", _bent(share=lambda filters, elements: 100 * filters * elements)),
    mutant("paid for divided by useful", _bent(share=lambda filters, elements: 1 / (filters * elements))),
)

EXERCISE = Exercise(
    id="10-pad-channels",
    notebook="10_tensor_cores",
    title="Pad channels",
    points=4,
    kind="function",
    function="useful",
    stub="raise NotImplementedError  # what is useful, divided by what is paid for",
    cases=_cases,
    oracle=_oracle,
    tolerance=_tolerance,
    mutants=_MUTANTS,
    hints=(
        "Count what is paid for along each side alone: filters, filled up; and elements of the sum, filled up.",
        "Per tap, the C channels are filled up, R · S times. Flattened, it is the product C · R · S, once.",
    ),
)
