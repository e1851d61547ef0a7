"""Exercise 01, question 2: a whole convolution in seven loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from convlab.checker.compare import rounding_bound
from convlab.checker.exercises.misconceptions import mutant
from convlab.checker.exercises.taps import Array, Edge, Indices, positions, products, random_values
from convlab.checker.record import Case, Exercise, Floats
from convlab.reference.direct import oracle as convolve
from convlab.spec import ConvSpec, Pair

__all__ = ["EXERCISE"]

Answer = Callable[[Array, Array, Array, Pair, Pair], Array]


def _cases(rng: np.random.Generator) -> list[Case]:
    """Go from a bare convolution to one with everything: the first case that fails is the simplest."""
    pairs = [((1, 1), (0, 0)), ((2, 1), (0, 0)), ((1, 1), (1, 2)), ((2, 3), (1, 2)), ((3, 1), (2, 1))]
    return [_case(rng, stride, padding) for stride, padding in pairs]


def _case(rng: np.random.Generator, stride: Pair, padding: Pair) -> Case:
    n, c, k = (int(size) for size in rng.permutation([2, 3, 4]))
    r, s = (int(size) for size in rng.permutation([2, 3]))
    # Where the stride is above 1, one pixel stays uncovered: rounding the output size up is then an error.
    h, w = (
        window - 2 * pad + step * int(steps) + (step > 1)
        for window, step, pad, steps in zip((r, s), stride, padding, rng.permutation([4, 6]), strict=True)
    )
    return Case(
        {
            "x": random_values(rng, n, c, h, w),
            "w": random_values(rng, k, c, r, s),
            "bias": random_values(rng, k),
            "stride": stride,
            "padding": padding,
        },
        axes=("n", "k", "p", "q"),
    )


def _oracle(x: Array, w: Array, bias: Array, stride: Pair, padding: Pair) -> Floats:
    return convolve(x, w, bias, ConvSpec.from_shapes(x.shape, w.shape, stride=stride, padding=padding))


def _tolerance(x: Array, w: Array, bias: Array, stride: Pair, padding: Pair) -> Floats:
    magnitude = _oracle(np.abs(x), np.abs(w), np.abs(bias), stride, padding)
    return rounding_bound(terms=w[0].size + 1, magnitude=magnitude, dtype=x.dtype)


@dataclass(frozen=True)
class _Axis:
    """One direction of the convolution, and the step and the pad that a confused answer might use instead."""

    size: int
    window: int
    step: int
    pad: int
    vertical: bool
    other: Pair  # those of the other direction
    first: Pair  # those of the rows, for either direction

    @property
    def outputs(self) -> int:
        return (self.size + 2 * self.pad - self.window) // self.step + 1

    def covered(self, outputs: int | None = None, step: int | None = None, start: int | None = None) -> Indices:
        """Give the pixels of each window, (outputs, window); what is not bent is right."""
        return positions(
            self.outputs if outputs is None else outputs,
            self.window,
            self.step if step is None else step,
            -self.pad if start is None else start,
        )


def _bent(
    covered: Callable[[_Axis], Indices] = _Axis.covered,
    *,
    edge: Edge = "zero",
    inputs: Callable[[Array], Array] = lambda x: x,
    weights: Callable[[Array], Array] = lambda w: w,
    finish: Callable[[Array, Array], Array] = lambda terms, bias: _sum(terms) + bias,
) -> Answer:
    """Make an answer with one thing bent; as it stands, it is right.

    ``covered`` gives the pixels along one axis; ``finish`` makes the output (N, K, P, Q) of the ``terms``
    (N, K, P, Q, C, R, S) and the bias (K, 1, 1). A term is 0 in the padding and nowhere else.
    """

    def answer(x: Array, w: Array, bias: Array, stride: Pair, padding: Pair) -> Array:
        steps = [(stride[i], padding[i]) for i in (0, 1)]
        rows, columns = (
            covered(_Axis(x.shape[2 + i], w.shape[2 + i], *steps[i], i == 0, other=steps[1 - i], first=steps[0]))
            for i in (0, 1)
        )
        terms = products(inputs(x), weights(w), rows, columns, edge)
        return finish(terms, bias.astype(np.float64)[:, np.newaxis, np.newaxis])

    return answer


def _sum(terms: Array) -> Array:
    total: Array = terms.sum(axis=(4, 5, 6))
    return total


def _last_inside(terms: Array) -> Array:
    """Keep of each output the last term that is not padding."""
    flat = terms.reshape(*terms.shape[:4], -1)
    last = flat.shape[-1] - 1 - np.argmax(flat[..., ::-1] != 0, axis=-1)
    kept: Array = np.take_along_axis(flat, last[..., np.newaxis], axis=-1)[..., 0]
    return kept


def _running(values: Array, axes: int = 4) -> Array:
    """Sum on from output to output along so many of the last axes, all of them as a rule."""
    lines = values.reshape(*values.shape[: values.ndim - axes], -1)
    total: Array = np.cumsum(lines, axis=-1).reshape(values.shape)
    return total


def _inside(terms: Array) -> Array:
    """Keep the terms before the first one of a row of the window that is padding."""
    kept: Array = terms * np.cumprod(terms != 0, axis=-1)
    return kept


def _only(values: Array, *places: slice) -> Array:
    """Keep some of the outputs; the others are what the array held at first, zero."""
    kept = np.zeros_like(values)
    kept[places] = values[places]
    return kept


def _finished(terms: Array, bias: Array) -> Array:
    total: Array = _sum(terms) + bias
    return total


_FIRST, _ALL, _BUT_LAST, _BUT_FIRST = slice(1), slice(None), slice(-1), slice(1, None)


_MUTANTS = (
    mutant(
        "stride and padding swapped",
        _bent(lambda axis: replace(axis, step=axis.pad, pad=axis.step).covered()),
        _bent(lambda axis: axis.covered(step=axis.pad, start=-axis.step)),
    ),
    mutant(
        "vertical and horizontal stride swapped",
        _bent(lambda axis: replace(axis, step=axis.other[0]).covered()),
        _bent(lambda axis: axis.covered(step=axis.other[0])),
    ),
    mutant(
        "vertical and horizontal padding swapped",
        _bent(lambda axis: replace(axis, pad=axis.other[1]).covered()),
        _bent(lambda axis: axis.covered(start=-axis.other[1])),
    ),
    mutant(
        "first number of a pair used for the columns",
        _bent(lambda axis: replace(axis, step=axis.first[0]).covered()),
        _bent(lambda axis: replace(axis, pad=axis.first[1]).covered()),
        _bent(lambda axis: replace(axis, step=axis.first[0], pad=axis.first[1]).covered()),
        _bent(lambda axis: axis.covered(step=axis.first[0])),
        _bent(lambda axis: axis.covered(start=-axis.first[1])),
        _bent(lambda axis: axis.covered(step=axis.first[0], start=-axis.first[1])),
    ),
    mutant(
        "stride ignored",
        _bent(lambda axis: replace(axis, step=1).covered()),
        _bent(lambda axis: axis.covered(step=1)),
    ),
    mutant(
        "stride applied to the tap",
        _bent(lambda axis: axis.step * positions(axis.outputs, axis.window, 1, 0) - axis.pad),
        _bent(lambda axis: axis.step * positions(axis.outputs, axis.window, 1, -axis.pad)),
    ),
    mutant(
        "stride missing in one direction",
        _bent(lambda axis: axis.covered(step=1 if axis.vertical else None)),
        _bent(lambda axis: axis.covered(step=None if axis.vertical else 1)),
    ),
    mutant("padding left out of the index", _bent(lambda axis: axis.covered(start=0))),
    mutant(
        "padding missing in one direction",
        _bent(lambda axis: axis.covered(start=0 if axis.vertical else None)),
        _bent(lambda axis: axis.covered(start=None if axis.vertical else 0)),
    ),
    mutant("padding multiplied by the stride", _bent(lambda axis: axis.covered(start=-axis.pad * axis.step))),
    mutant("padding added, not subtracted", _bent(lambda axis: axis.covered(start=axis.pad))),
    mutant("padding left out altogether", _bent(lambda axis: replace(axis, pad=0).covered())),
    mutant(
        "padding counted on one side",
        _bent(lambda axis: axis.covered(outputs=(axis.size + axis.pad - axis.window) // axis.step + 1)),
    ),
    mutant("window starts one pixel late", _bent(lambda axis: axis.covered(start=1 - axis.pad))),
    mutant(
        "last output missing",
        _bent(lambda axis: axis.covered(outputs=axis.outputs - 1)),
        _bent(finish=lambda terms, bias: _only(_finished(terms, bias), _ALL, _ALL, _BUT_LAST, _BUT_LAST)),
        _bent(finish=lambda terms, bias: _only(_finished(terms, bias), _ALL, _ALL, _BUT_LAST)),
        _bent(finish=lambda terms, bias: _only(_finished(terms, bias), _ALL, _ALL, _ALL, _BUT_LAST)),
    ),
    mutant(
        "output size rounded up",
        _bent(lambda axis: axis.covered(-((axis.window - axis.size - 2 * axis.pad) // axis.step) + 1)),
    ),
    mutant("negative indices wrap around", _bent(edge="wrap")),
    mutant("edge pixels repeated", _bent(edge="repeat")),
    mutant(
        "border pixels taken for padding",
        _bent(inputs=lambda x: _only(x, _ALL, _ALL, _BUT_FIRST, _BUT_FIRST)),
        _bent(inputs=lambda x: _only(x, _ALL, _ALL, _BUT_LAST, _BUT_LAST)),
    ),
    mutant("window ended at the padding", _bent(finish=lambda terms, bias: _sum(_inside(terms)) + bias)),
    mutant("kernel flipped", _bent(weights=lambda w: w[:, :, ::-1, ::-1])),
    mutant(
        "last row and column of the window missing",
        _bent(finish=lambda terms, bias: _sum(terms[..., :-1, :-1]) + bias),
        _bent(finish=lambda terms, bias: _sum(terms[..., :-1, :]) + bias),
        _bent(finish=lambda terms, bias: _sum(terms[..., :-1]) + bias),
    ),
    mutant(
        "first row and column of the window missing",
        _bent(finish=lambda terms, bias: _sum(terms[..., 1:, 1:]) + bias),
        _bent(finish=lambda terms, bias: _sum(terms[..., 1:, :]) + bias),
        _bent(finish=lambda terms, bias: _sum(terms[..., 1:]) + bias),
    ),
    mutant(
        "only the first channel",
        _bent(finish=lambda terms, bias: _sum(terms[:, :, :, :, :1]) + bias),
        _bent(inputs=lambda x: np.repeat(x[:, :1], x.shape[1], axis=1)),
    ),
    mutant("one channel of the filter for all", _bent(weights=lambda w: np.repeat(w[:, :1], w.shape[1], axis=1))),
    mutant("only the last channel", _bent(finish=lambda terms, bias: _sum(terms[:, :, :, :, -1:]) + bias)),
    mutant("channels averaged", _bent(finish=lambda terms, bias: _sum(terms) / terms.shape[4] + bias)),
    mutant(
        "sum overwritten",
        _bent(finish=lambda terms, bias: terms[..., -1, -1, -1] + bias),
        _bent(finish=lambda terms, bias: _last_inside(terms) + bias),
    ),
    mutant(
        "sum not set to zero",
        _bent(finish=lambda terms, bias: _running(_sum(terms)) + bias),
        _bent(finish=lambda terms, bias: _running(_sum(terms) + bias)),
        _bent(finish=lambda terms, bias: _running(_sum(terms), axes=3) + bias),
        _bent(finish=lambda terms, bias: _running(_sum(terms), axes=2) + bias),
        _bent(finish=lambda terms, bias: _running(_sum(terms), axes=1) + bias),
    ),
    mutant(
        "returned too early",
        _bent(finish=lambda terms, bias: _only(_finished(terms, bias), _FIRST)),
        _bent(finish=lambda terms, bias: _only(_finished(terms, bias), _FIRST, _FIRST)),
        _bent(finish=lambda terms, bias: _only(_finished(terms, bias), _FIRST, _FIRST, _FIRST)),
        _bent(finish=lambda terms, bias: _only(_finished(terms, bias), _FIRST, _FIRST, _FIRST, _FIRST)),
    ),
    mutant("bias missing", _bent(finish=lambda terms, bias: _sum(terms))),
    mutant("one bias for all outputs", _bent(finish=lambda terms, bias: _sum(terms) + bias[:1])),
    mutant(
        "bias added too often",
        _bent(finish=lambda terms, bias: _sum(terms) + terms[0, 0, 0, 0].size * bias),
        _bent(finish=lambda terms, bias: _sum(terms) + np.count_nonzero(terms, axis=(4, 5, 6)) * bias),
        _bent(finish=lambda terms, bias: _sum(terms) + terms.shape[4] * bias),
    ),
    mutant("batch index ignored", _bent(inputs=lambda x: x[np.zeros(len(x), int)])),
    mutant("one filter for all outputs", _bent(weights=lambda w: w[np.zeros(len(w), int)])),
)

EXERCISE = Exercise(
    id="01-loops",
    notebook="01_loops",
    title="Seven loops",
    points=6,
    kind="function",
    function="conv2d_loops",
    stub="raise NotImplementedError  # your seven loops go here",
    cases=_cases,
    oracle=_oracle,
    tolerance=_tolerance,
    mutants=_MUTANTS,
    hints=(
        "Write the question before as four loops around one output. What were 2 and 1 is now stride[0] and padding[0] "
        "for rows, and stride[1] and padding[1] for columns.",
        "Make y of P × Q by the formulas. Tap (r, s) of output (p, q) meets row p·stride[0] + r − padding[0] of the "
        "image, and column q·stride[1] + s − padding[1]. Skip taps that lie outside; set the sum to bias[k] first.",
    ),
)
