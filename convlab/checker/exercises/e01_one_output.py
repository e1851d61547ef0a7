"""Exercise 01, question 1: one output of a first layer, 27 products and a bias."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from convlab.checker.compare import rounding_bound
from convlab.checker.exercises.misconceptions import mutant
from convlab.checker.exercises.taps import Array, Edge, positions, products, random_values
from convlab.checker.record import Case, Exercise, Floats
from convlab.reference.direct import oracle as convolve
from convlab.spec import ConvSpec, Pair

__all__ = ["EXERCISE"]

STRIDE, PADDING, WINDOW = 2, 1, 3

Answer = Callable[..., float]


def _cases(rng: np.random.Generator) -> list[Case]:
    height, width = int(rng.choice([7, 9, 11])), int(rng.choice([8, 10, 12]))
    last_p, last_q = (
        (height - 1) // STRIDE,
        (width - 1) // STRIDE,
    )  # at the bottom a padding row, at the right none
    x, w, bias = random_values(rng, 3, height, width), random_values(rng, 4, 3, 3, 3), random_values(rng, 4)
    places = [(1, 2), (0, 0), (last_p, 1), (1, 0), (0, 3), (2, last_q)]
    return [_case(x, w, bias, int(rng.integers(1, 4)), p, q) for p, q in places]


def _case(x: Array, w: Array, bias: Array, *kpq: int) -> Case:
    place = dict(zip("kpq", kpq, strict=True))
    return Case({"x": x, "w": w, "bias": bias, **place}, fixed=place)


def _oracle(x: Array, w: Array, bias: Array, *kpq: int) -> Floats:
    spec = ConvSpec.from_shapes((1, *x.shape), w.shape, stride=STRIDE, padding=PADDING)
    return np.asarray(convolve(x[np.newaxis], w, bias, spec)[(0, *kpq)])


def _tolerance(x: Array, w: Array, bias: Array, *kpq: int) -> Floats:
    magnitude = _oracle(np.abs(x), np.abs(w), np.abs(bias), *kpq)
    return rounding_bound(terms=3 * WINDOW * WINDOW + 1, magnitude=magnitude, dtype=x.dtype)


def _bent(
    *,
    stride: int = STRIDE,
    start: int = -PADDING,
    spread: int = 1,
    edge: Edge = "zero",
    weights: Callable[[Array, int], Array] = lambda w, k: w[k],
    finish: Callable[[Array, float], float] = lambda terms, bias: terms.sum() + bias,
) -> Answer:
    """Make an answer with one thing bent; as it stands, it is right.

    ``weights`` picks the filter (C, R, S); ``finish`` makes the output of the 27 ``terms`` (C, R, S) and the
    bias. A term is 0 in the padding and nowhere else, since the data are never 0.
    """

    def answer(x: Array, w: Array, bias: Array, *kpq: int) -> float:
        k, p, q = kpq
        taps = spread * np.arange(WINDOW) + start
        rows, columns = (stride * p + taps)[np.newaxis], (stride * q + taps)[np.newaxis]
        terms = products(x[np.newaxis], weights(w, k)[np.newaxis], rows, columns, edge)[0, 0, 0, 0]
        return finish(terms, float(bias[k]))

    return answer


def _sliced(*, stride: int = STRIDE, start: int = 0, frame: int = 0) -> Answer:
    """Make an answer that cuts its window out with a slice, which past the edge is too small to multiply."""

    def answer(x: Array, w: Array, bias: Array, *kpq: int) -> float:
        k, p, q = kpq
        framed = np.pad(x.astype(np.float64), ((0, 0), (frame, frame), (frame, frame)))
        top, left = stride * p + start, stride * q + start
        window = framed[:, top : top + WINDOW, left : left + WINDOW]
        try:
            return float((window * w[k]).sum() + bias[k])  # a window one pixel wide is stretched by NumPy, and passes
        except ValueError as error:
            raise ArithmeticError("the window is cut off") from error

    return answer


def _index_error_beyond(x: Array, w: Array, bias: Array, *kpq: int) -> float:
    _, p, q = kpq
    if STRIDE * p + 1 >= x.shape[1] or STRIDE * q + 1 >= x.shape[2]:
        raise ArithmeticError("index out of bounds")
    return _bent(edge="wrap")(x, w, bias, *kpq)


def _image_swapped(x: Array, w: Array, bias: Array, *kpq: int) -> float:
    k, p, q = kpq
    total = float(bias[k])
    for c, r, s in np.ndindex(w.shape[1:]):
        i, j = STRIDE * p + r - PADDING, STRIDE * q + s - PADDING
        if 0 <= i < x.shape[1] and 0 <= j < x.shape[2]:
            if i >= x.shape[2] or j >= x.shape[1]:
                raise ArithmeticError("index out of bounds")
            total += float(w[k, c, r, s]) * float(x[c, j, i])
    return total


def _in_one_direction(rows: Pair, columns: Pair) -> Answer:
    """Place the window along the two axes by what each takes of the output's row or column: stride and start."""

    def answer(x: Array, w: Array, bias: Array, *kpq: int) -> float:
        k, p, q = kpq
        down, across = (positions(1, WINDOW, 1, at * step + start) for at, (step, start) in ((p, rows), (q, columns)))
        return float(products(x[np.newaxis], w[k][np.newaxis], down, across).sum() + bias[k])

    return answer


def _inside(terms: Array) -> Array:
    """Keep the terms before the first one of a row that is padding."""
    kept: Array = terms * np.cumprod(terms != 0, axis=-1)
    return kept


def _without_border(near: int, far: int) -> Answer:
    """Skip rows and columns at the image's edges, which are no padding yet."""

    def answer(x: Array, w: Array, bias: Array, *kpq: int) -> float:
        kept = np.zeros_like(x)
        inner = np.s_[:, near : x.shape[1] - far, near : x.shape[2] - far]
        kept[inner] = x[inner]
        return _bent()(kept, w, bias, *kpq)

    return answer


def _first_channel(x: Array, w: Array, bias: Array, *kpq: int) -> float:
    return _bent()(np.repeat(x[:1], len(x), axis=0), w, bias, *kpq)


def _first_bias(x: Array, w: Array, bias: Array, *kpq: int) -> float:
    return _bent()(x, w, bias[np.zeros(len(bias), int)], *kpq)


def _output_swapped(x: Array, w: Array, bias: Array, *kpq: int) -> float:
    k, p, q = kpq
    return _bent()(x, w, bias, k, q, p)


_MUTANTS = (
    mutant("stride and padding swapped", _bent(stride=PADDING, start=-STRIDE)),
    mutant("stride ignored", _bent(stride=1), _sliced(stride=1, frame=1)),
    mutant("stride and padding left out", _bent(stride=1, start=0), _sliced(stride=1)),
    mutant("stride applied to the tap", _bent(spread=2), _bent(spread=2, start=-2)),
    mutant(
        "stride missing in one direction",
        _in_one_direction((STRIDE, -PADDING), (1, -PADDING)),
        _in_one_direction((1, -PADDING), (STRIDE, -PADDING)),
    ),
    mutant("padding left out of the index", _bent(start=0), _sliced()),
    mutant(
        "padding missing in one direction",
        _in_one_direction((STRIDE, -PADDING), (STRIDE, 0)),
        _in_one_direction((STRIDE, 0), (STRIDE, -PADDING)),
    ),
    mutant("padding counted twice", _bent(start=-2 * PADDING), _sliced(start=-PADDING, frame=1)),
    mutant("padding added, not subtracted", _bent(start=PADDING)),
    mutant("negative indices wrap around", _bent(edge="wrap"), _index_error_beyond),
    mutant("edge pixels repeated", _bent(edge="repeat")),
    mutant("border pixels taken for padding", _without_border(1, 0), _without_border(0, 1), _without_border(1, 1)),
    mutant("window ended at the padding", _bent(finish=lambda terms, bias: _inside(terms).sum() + bias)),
    mutant("kernel flipped", _bent(weights=lambda w, k: w[k, :, ::-1, ::-1])),
    mutant("rows and columns of the kernel swapped", _bent(weights=lambda w, k: w[k].swapaxes(1, 2))),
    mutant("output row and column swapped", _output_swapped),
    mutant("rows and columns of the image swapped", _image_swapped),
    mutant(
        "last row and column of the window missing",
        _bent(finish=lambda terms, bias: terms[:, :-1, :-1].sum() + bias),
        _bent(finish=lambda terms, bias: terms[:, :-1].sum() + bias),
        _bent(finish=lambda terms, bias: terms[:, :, :-1].sum() + bias),
    ),
    mutant(
        "first row and column of the window missing",
        _bent(finish=lambda terms, bias: terms[:, 1:, 1:].sum() + bias),
        _bent(finish=lambda terms, bias: terms[:, 1:].sum() + bias),
        _bent(finish=lambda terms, bias: terms[:, :, 1:].sum() + bias),
    ),
    mutant("only the first channel", _bent(finish=lambda terms, bias: terms[0].sum() + bias), _first_channel),
    mutant(
        "one channel of the filter for all",
        _bent(weights=lambda w, k: np.repeat(w[k, :1], 3, axis=0)),
    ),
    mutant("only the last channel", _bent(finish=lambda terms, bias: terms[-1].sum() + bias)),
    mutant("channels averaged", _bent(finish=lambda terms, bias: terms.sum() / len(terms) + bias)),
    mutant(
        "sum overwritten",
        _bent(finish=lambda terms, bias: terms[-1, -1, -1] + bias),
        _bent(finish=lambda terms, bias: terms[terms != 0][-1] + bias),
    ),
    mutant(
        "returned too early",
        _bent(finish=lambda terms, bias: terms[0, 0, 0] + bias),
        _bent(finish=lambda terms, bias: terms[terms != 0][0] + bias),
        _bent(finish=lambda terms, bias: terms[0, 0].sum() + bias),
    ),
    mutant("bias missing", _bent(finish=lambda terms, bias: terms.sum())),
    mutant("one bias for all outputs", _first_bias),
    mutant(
        "bias added too often",
        _bent(finish=lambda terms, bias: terms.sum() + terms.size * bias),
        _bent(finish=lambda terms, bias: terms.sum() + np.count_nonzero(terms) * bias),
        _bent(finish=lambda terms, bias: terms.sum() + len(terms) * bias),
    ),
    mutant("one filter for all outputs", _bent(weights=lambda w, k: w[0])),
)

EXERCISE = Exercise(
    id="01-one-output",
    notebook="01_loops",
    title="One output by hand",
    points=4,
    kind="function",
    function="one_output",
    stub="raise NotImplementedError  # your 27 products and the bias go here",
    cases=_cases,
    oracle=_oracle,
    tolerance=_tolerance,
    mutants=_MUTANTS,
    hints=(
        "Three nested loops, over c, r and s, and one sum. Which row of the image does tap r of output row p meet?",
        "It is row 2·p + r − 1; columns likewise. Where that lies outside of the image, the product is zero: skip it.",
    ),
)
