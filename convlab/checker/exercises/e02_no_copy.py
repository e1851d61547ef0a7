"""Exercise 02, question 2: a convolution whose padding is index arithmetic, with no padded copy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from convlab.checker.compare import rounding_bound
from convlab.checker.exercises.misconceptions import mutant
from convlab.checker.exercises.taps import Array, Indices, random_values
from convlab.checker.record import Budget, Case, Exercise, Floats
from convlab.reference.padding import Mode, convolve_padded
from convlab.spec import ConvSpec, Pair

__all__ = ["EXERCISE"]

Answer = Callable[[Array, Array, Pair, Pair, Mode], Array]
Lookup = Callable[[Indices, int, Mode], Indices]  # places along an axis, its size → the pixels there, or _ZERO
Fold = Callable[[Indices, int], Indices]  # the same for the places at one end

_ZERO = -10_000  # no pixel; other negative indices count from the end, as in Python


def _cases(rng: np.random.Generator) -> list[Case]:
    """Each mode alone, then wide frames. Strides are large, so that a padded copy would be what needs most memory."""
    return [
        _case(rng, "replicate", stride=(4, 5), padding=(2, 3)),
        _case(rng, "zero", stride=(5, 4), padding=(1, 2)),
        _case(rng, "reflect", stride=(5, 4), padding=(3, 2)),
        _case(rng, "replicate", stride=(4, 7), padding=(24, 19)),
        _case(rng, "reflect", stride=(7, 5), padding=(26, 41)),
    ]


def _case(rng: np.random.Generator, mode: Mode, stride: Pair, padding: Pair) -> Case:
    height, width = int(rng.integers(55, 65)), int(rng.integers(85, 99))
    r, s = (int(size) for size in rng.permutation([3, 4]))
    names = {"image": random_values(rng, height, width), "weights": random_values(rng, r, s)}
    return Case({**names, "stride": stride, "padding": padding, "mode": mode}, axes=("p", "q"))


def _spec(image: Array, weights: Array, stride: Pair, padding: Pair) -> ConvSpec:
    return ConvSpec.from_shapes((1, 1, *image.shape), (1, 1, *weights.shape), stride=stride, padding=padding)


def _oracle(image: Array, weights: Array, stride: Pair, padding: Pair, mode: Mode) -> Floats:
    x, w = (array.astype(np.float64)[np.newaxis, np.newaxis] for array in (image, weights))
    found: Floats = convolve_padded(x, w, None, _spec(image, weights, stride, padding), mode)[0, 0]
    return found


def _tolerance(image: Array, weights: Array, stride: Pair, padding: Pair, mode: Mode) -> Floats:
    magnitude = _oracle(np.abs(image), np.abs(weights), stride, padding, mode)
    return rounding_bound(terms=weights.size, magnitude=magnitude, dtype=image.dtype)


def _padded_bytes(image: Array, weights: Array, stride: Pair, padding: Pair, mode: Mode) -> int:
    rows, columns = _spec(image, weights, stride, padding).axes
    return rows.padded * columns.padded * image.itemsize


def _nothing(place: Indices, size: int) -> Indices:
    return np.full_like(place, _ZERO)


def _first(place: Indices, size: int) -> Indices:
    return np.zeros_like(place)


def _last(place: Indices, size: int) -> Indices:
    return np.full_like(place, size - 1)


def _mirrored_near(place: Indices, size: int) -> Indices:
    return -place


def _mirrored_far(place: Indices, size: int) -> Indices:
    return 2 * (size - 1) - place


def _twice_near(place: Indices, size: int) -> Indices:
    return -place - 1


def _twice_far(place: Indices, size: int) -> Indices:
    return 2 * size - 1 - place


def _unchanged(place: Indices, size: int) -> Indices:
    return place


def _around(place: Indices, size: int) -> Indices:
    return place % size


# What stands before the first and behind the last pixel.
_FOLDS: Mapping[str, tuple[Fold, Fold]] = {
    "zero": (_nothing, _nothing),
    "replicate": (_first, _last),
    "reflect": (_mirrored_near, _mirrored_far),
}


def _folding(**modes: tuple[Fold, Fold]) -> Lookup:
    """Look pixels up, with other folds than the right ones for the modes that are named."""
    folds = {**_FOLDS, **modes}

    def lookup(place: Indices, size: int, mode: Mode) -> Indices:
        near, far = folds[mode]
        return np.where(place < 0, near(place, size), np.where(place >= size, far(place, size), place))

    return lookup


_RIGHT = _folding()


def _bent(
    lookup: Lookup = _RIGHT,
    *,
    start: Callable[[Pair, int], int] = lambda padding, axis: -padding[axis],
    step: Callable[[Pair, int], int] = lambda stride, axis: stride[axis],
    move: int | None = None,
    frame: Callable[[Pair, int], int] = lambda padding, axis: 2 * padding[axis],
    size: Callable[[Array, int], int] = lambda image, axis: image.shape[axis],
    lacking: int = 0,
    flip: bool = False,
    add: Callable[[Array, Array, Array], Array] = lambda y, term, inside: y + term,
) -> Answer:
    """Make an answer with one thing bent; as it stands, it is right, and needs little memory.

    ``start`` is where the first window begins, ``step`` the stride, ``frame`` the padding at both ends that the
    output's size counts, and ``size`` that of the image, each along an axis; ``move`` is by how much windows move if
    not by the stride, ``lacking`` how many outputs there are too few; ``add`` puts a product, which is 0 where it is
    not inside, to the sum y.
    """

    def answer(image: Array, weights: Array, stride: Pair, padding: Pair, mode: Mode) -> Array:
        steps, wide = [step(stride, axis) for axis in (0, 1)], weights[::-1, ::-1] if flip else weights
        firsts = [
            np.arange((image.shape[i] + frame(padding, i) - weights.shape[i]) // steps[i] + 1 - lacking)
            * (move or steps[i])
            + start(padding, i)
            for i in (0, 1)
        ]
        y = np.zeros((firsts[0].size, firsts[1].size))
        for r, s in np.ndindex(wide.shape):
            rows, columns = (lookup(firsts[i] + tap, size(image, i), mode) for i, tap in ((0, r), (1, s)))
            inside = (rows != _ZERO)[:, np.newaxis] & (columns != _ZERO)
            pixels = image[np.where(rows == _ZERO, 0, rows)[:, np.newaxis], np.where(columns == _ZERO, 0, columns)]
            y = add(y, wide[r, s] * np.where(inside, pixels, 0), inside)
        return y

    return answer


def _copied(image: Array, weights: Array, stride: Pair, padding: Pair, mode: Mode) -> Array:
    style: Any = {"zero": "constant", "reflect": "reflect", "replicate": "edge"}[mode]
    frame = np.pad(image, [(padding[0], padding[0]), (padding[1], padding[1])], mode=style)
    return _bent()(frame, weights, stride, (0, 0), "zero")


def _in_float64(image: Array, *options: Any) -> Array:
    image.astype(np.float64)  # the peak is what counts, not how long it lasts
    return _bent()(image, *options)


_MUTANTS = (
    mutant("a padded copy made", _copied),
    mutant("image copied as float64", _in_float64),
    mutant(
        "border pixel mirrored twice",
        _bent(_folding(reflect=(_twice_near, _twice_far))),
        _bent(_folding(reflect=(_mirrored_near, _twice_far))),
        _bent(_folding(reflect=(_twice_near, _mirrored_far))),
    ),
    mutant(
        "only one end mirrored",
        _bent(_folding(reflect=(_mirrored_near, _last))),
        _bent(_folding(reflect=(_mirrored_near, _nothing))),
        _bent(_folding(reflect=(_first, _mirrored_far))),
        _bent(_folding(reflect=(_unchanged, _mirrored_far))),
    ),
    mutant(
        "reflect and replicate taken for each other",
        _bent(_folding(reflect=_FOLDS["replicate"], replicate=_FOLDS["reflect"])),
        _bent(_folding(reflect=_FOLDS["replicate"])),
        _bent(_folding(replicate=_FOLDS["reflect"])),
    ),
    mutant("padding mode ignored", _bent(_folding(reflect=_FOLDS["zero"], replicate=_FOLDS["zero"]))),
    mutant(
        "negative indices wrap around",
        _bent(_folding(zero=(_unchanged, _nothing))),
        _bent(_folding(replicate=(_unchanged, _last))),
        _bent(_folding(zero=(_unchanged, _nothing), replicate=(_unchanged, _last))),
        _bent(
            _folding(zero=(_unchanged, _nothing), replicate=(_unchanged, _last), reflect=(_unchanged, _mirrored_far))
        ),
    ),
    mutant(
        "image begins again at its far side",
        _bent(_folding(reflect=(_around, _around))),
        _bent(_folding(reflect=(_mirrored_near, _around))),
        _bent(_folding(replicate=(_around, _around))),
        _bent(_folding(replicate=(_around, _around), reflect=(_around, _around))),
    ),
    mutant(
        "replicate takes one pixel for both ends",
        _bent(_folding(replicate=(_first, _first))),
        _bent(_folding(replicate=(_last, _last))),
    ),
    mutant("edge pixels repeated", _bent(_folding(zero=_FOLDS["replicate"]))),
    mutant("padding counted on one side", _bent(frame=lambda padding, axis: padding[axis])),
    mutant("last output missing", _bent(lacking=1)),
    mutant("stride ignored", _bent(move=1)),
    mutant(
        "first number of a pair used for the columns",
        _bent(step=lambda stride, axis: stride[0]),
        _bent(start=lambda padding, axis: -padding[0], frame=lambda padding, axis: 2 * padding[0]),
        _bent(start=lambda padding, axis: -padding[0]),
    ),
    mutant(
        "sum overwritten",
        _bent(add=lambda y, term, inside: term),
        _bent(add=lambda y, term, inside: np.where(inside, term, y)),
    ),
    mutant(
        "vertical and horizontal padding swapped",
        _bent(start=lambda padding, axis: -padding[1 - axis], frame=lambda padding, axis: 2 * padding[1 - axis]),
        _bent(start=lambda padding, axis: -padding[1 - axis]),
    ),
    mutant("vertical and horizontal stride swapped", _bent(step=lambda stride, axis: stride[1 - axis])),
    mutant("padding left out of the index", _bent(start=lambda padding, axis: 0)),
    mutant("padding added, not subtracted", _bent(start=lambda padding, axis: padding[axis])),
    mutant("height used for the columns", _bent(size=lambda image, axis: image.shape[0])),
    mutant("kernel flipped", _bent(flip=True)),
)

EXERCISE = Exercise(
    id="02-no-copy",
    notebook="02_sizes_and_padding",
    title="Padding without a padded copy",
    points=6,
    kind="function",
    function="convolve",
    stub="raise NotImplementedError  # your index arithmetic and loops go here",
    cases=_cases,
    oracle=_oracle,
    tolerance=_tolerance,
    mutants=_MUTANTS,
    budgets=(Budget("memory", "bytes of memory at the peak", _padded_bytes, "what the padded copy alone would take"),),
    hints=(
        "Write the rule for one index first: place along an axis, size and mode in, index of a pixel out.",
        "For reflect, print the rule for the places −3 … 7 of an axis of 5 pixels: 3 2 1 0 1 2 3 4 3 2 1.",
    ),
)
