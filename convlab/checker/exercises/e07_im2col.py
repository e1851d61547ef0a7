"""Exercise 07, question 1: the column matrix of a batch, with strides and dilations that differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from convlab.checker.exercises.misconceptions import mutant
from convlab.checker.exercises.taps import Array, Edge, Indices, gather, random_values
from convlab.checker.record import Case, Exercise, Floats
from convlab.spec import ConvSpec, Pair

__all__ = ["EXERCISE"]

Answer = Callable[[Array, Pair, Pair, Pair, Pair], Array]
TAPS = "cprqs"  # the axes that `gather` gives behind the image, n


def _cases(rng: np.random.Generator) -> list[Case]:
    """Go from one image without anything to all options at once: the first case that fails is the simplest."""
    plain, tall, flat = (1, 1), (2, 1), (1, 3)
    options = [
        (1, plain, (0, 0), plain),
        (2, tall, (0, 0), plain),
        (2, plain, (1, 2), plain),
        (2, plain, (0, 0), flat),
        (3, flat, (2, 1), tall),
        (2, (3, 2), (1, 2), (1, 2)),
    ]
    return [_case(rng, *each) for each in options]


def _case(rng: np.random.Generator, n: int, stride: Pair, padding: Pair, dilation: Pair) -> Case:
    c, r, s = (int(size) for size in rng.permutation([2, 3, 4]))
    # Where the stride is above 1, one pixel stays uncovered: rounding the output size up is then an error.
    h, w = (
        spread * (window - 1) + 1 - 2 * pad + step * int(steps) + (step > 1)
        for window, step, pad, spread, steps in zip(
            (r, s), stride, padding, dilation, rng.permutation([5, 7]), strict=True
        )
    )
    images = random_values(rng, n, c, h, w + (h == w))
    arguments = {"images": images, "window": (r, s), "stride": stride, "padding": padding, "dilation": dilation}
    return Case(arguments, axes=("row", "column"))


@dataclass(frozen=True)
class _Axis:
    """One direction of the windows; ``other`` is the same of the other direction."""

    size: int
    window: int
    stride: int
    pad: int
    dilation: int
    other: tuple[int, int, int]  # stride, padding, dilation
    vertical: bool

    @property
    def outputs(self) -> int:
        return (self.size + 2 * self.pad - self.dilation * (self.window - 1) - 1) // self.stride + 1

    @property
    def rounded_up(self) -> int:
        return -((self.dilation * (self.window - 1) + 1 - self.size - 2 * self.pad) // self.stride) + 1

    def covered(self, outputs: int | None = None, start: int | None = None) -> Indices:
        """Give the pixel of each tap of each window, of shape (outputs, window)."""
        first = self.stride * np.arange(self.outputs if outputs is None else outputs)[:, np.newaxis]
        return first + self.dilation * np.arange(self.window) + (-self.pad if start is None else start)

    def spanned(self, span: int) -> Indices:
        """As many windows as if each spanned so many pixels."""
        return self.covered((self.size + 2 * self.pad - span) // self.stride + 1)

    def bent(self, stride: int | None = None, dilation: int | None = None) -> Indices:
        """The right number of windows, each with pixels at another stride or dilation."""
        wrong = replace(
            self,
            stride=self.stride if stride is None else stride,
            dilation=self.dilation if dilation is None else dilation,
        )
        return wrong.covered(self.outputs)


def _unfolded(
    covered: Callable[[_Axis], Indices] = _Axis.covered,
    *,
    order: str = "crsnpq",
    rows: int = 3,
    edge: Edge = "zero",
    inputs: Callable[[Array], Array] = lambda x: x,
    flip: bool = False,
    framed: bool = False,
    reshaped: bool = False,
) -> Answer:
    """Make an answer with one thing bent; as it stands, it is right.

    ``covered`` gives the pixels along one axis; ``order`` that of the matrix's axes, of which the first ``rows``
    number its rows and the others its columns; ``framed``, that a window which leaves the padded copy ends in an error;
    ``reshaped``, that the matrix is given its right shape, whatever the order.
    """

    def answer(x: Array, window: Pair, stride: Pair, padding: Pair, dilation: Pair) -> Array:
        options = list(zip(stride, padding, dilation, strict=True))
        axes = [_Axis(x.shape[2 + i], window[i], *options[i], options[1 - i], vertical=i == 0) for i in (0, 1)]
        vertical, horizontal = (covered(axis) for axis in axes)
        if framed and any(covered(axis).max() >= axis.size + axis.pad for axis in axes):
            raise ArithmeticError("a window leaves the padded copy")
        taps = gather(inputs(x), vertical, horizontal, edge)  # (N, C, P, R, Q, S)
        if flip:
            taps = taps[:, :, :, ::-1, :, ::-1]
        turned = taps.transpose([("n" + TAPS).index(letter) for letter in order])
        return turned.reshape(x.shape[1] * prod(window) if reshaped else prod(turned.shape[:rows]), -1)

    return answer


def _first_numbers(axis: _Axis, stride: bool, pad: bool, dilation: bool) -> Indices:
    """The first number of the pairs that are named, for the columns as well."""
    if axis.vertical:
        return axis.covered()
    chosen = zip((stride, pad, dilation), axis.other, (axis.stride, axis.pad, axis.dilation), strict=True)
    first, second, third = (other if choice else own for choice, other, own in chosen)
    return replace(axis, stride=first, pad=second, dilation=third).covered()


Number = Callable[[Sequence[int], Sequence[int]], int]  # three indices and their sizes → one number


def _counted(index: Sequence[int], size: Sequence[int]) -> int:
    return (index[0] * size[1] + index[1]) * size[2] + index[2]


def _placed(row: Number = _counted, column: Number = _counted) -> Answer:
    """Store each value by the numbers of its row, from (c, r, s), and of its column, from (n, p, q)."""

    def answer(x: Array, window: Pair, *options: Pair) -> Array:
        right = _unfolded()(x, window, *options)
        sizes = (x.shape[1], *window), _columns(x, window, *options)
        rows, columns = (
            [number(index, size) for index in np.ndindex(*size)]
            for number, size in zip((row, column), sizes, strict=True)
        )
        if max(rows) >= len(rows) or max(columns) >= len(columns):
            raise ArithmeticError("an index leaves the matrix")
        result = np.zeros_like(right)
        for i, j in np.argwhere(right):  # the padding, which is 0, is skipped
            result[rows[i], columns[j]] = right[i, j]
        return result

    return answer


def _columns(x: Array, window: Pair, stride: Pair, padding: Pair, dilation: Pair) -> tuple[int, int, int]:
    spec = ConvSpec.from_shapes(x.shape, (1, x.shape[1], *window), stride, padding, dilation)
    return spec.n, spec.p, spec.q


def _each_tap_reshaped(x: Array, window: Pair, *options: Pair) -> Array:
    """The pixels of each tap, (N, C, P, Q), are given the shape (C, N, P, Q)."""
    n, p, q = _columns(x, window, *options)
    taps = _unfolded(order="rsncpq", rows=2)(x, window, *options).reshape(*window, x.shape[1], n, p, q)
    return taps.transpose(2, 0, 1, 3, 4, 5).reshape(x.shape[1] * prod(window), -1)


def _first_image(x: Array, *options: Pair) -> Array:
    matrix = _unfolded()(x, *options)
    matrix[:, matrix.shape[1] // len(x) :] = 0
    return matrix


def _without_border(x: Array) -> Array:
    inner = np.zeros_like(x)
    inner[:, :, 1:, 1:] = x[:, :, 1:, 1:]
    return inner


def _one_for_each_image(x: Array, *options: Pair) -> Array:
    matrices = [_unfolded()(image[np.newaxis], *options) for image in x]
    return np.stack(matrices)


def _oracle(x: Array, window: Pair, stride: Pair, padding: Pair, dilation: Pair) -> Floats:
    """Read every value from its pixel, one by one, by the sizes of ConvSpec."""
    spec = ConvSpec.from_shapes(x.shape, (1, x.shape[1], *window), stride, padding, dilation)
    columns = np.zeros((spec.c, spec.r, spec.s, spec.n, spec.p, spec.q))
    for c, r, s, n, p, q in np.ndindex(columns.shape):
        h = p * spec.stride[0] + r * spec.dilation[0] - spec.padding[0]
        w = q * spec.stride[1] + s * spec.dilation[1] - spec.padding[2]
        if 0 <= h < spec.h and 0 <= w < spec.w:
            columns[c, r, s, n, p, q] = x[n, c, h, w]
    return columns.reshape(spec.im2col_shape)


def _tolerance(x: Array, *options: Pair) -> Floats:
    """Copies are exact: what is left is the rounding of a type that is not x's own."""
    return np.full(_oracle(x, *options).shape, float(np.finfo(x.dtype).eps))


_MUTANTS = (
    mutant(
        "stride and dilation swapped",
        _unfolded(lambda axis: axis.bent(stride=axis.dilation, dilation=axis.stride)),
        _unfolded(lambda axis: axis.bent(stride=axis.dilation, dilation=axis.stride), framed=True),
        _unfolded(lambda axis: replace(axis, stride=axis.dilation, dilation=axis.stride).covered()),
    ),
    mutant(
        "dilation ignored",
        _unfolded(lambda axis: axis.bent(dilation=1)),
        _unfolded(lambda axis: replace(axis, dilation=1).covered()),
    ),
    mutant(
        "dilation left out of the output size",
        _unfolded(lambda axis: axis.covered((axis.size + 2 * axis.pad - axis.window) // axis.stride + 1)),
    ),
    mutant(
        "dilation missing in one direction",
        _unfolded(lambda axis: axis.bent(dilation=1 if axis.vertical else None)),
        _unfolded(lambda axis: axis.bent(dilation=None if axis.vertical else 1)),
    ),
    mutant("gap behind the last tap", _unfolded(lambda axis: axis.spanned(axis.dilation * axis.window))),
    mutant("last tap left out of the span", _unfolded(lambda axis: axis.spanned(axis.dilation * (axis.window - 1)))),
    mutant(
        "stride applied to the tap",
        _unfolded(lambda axis: axis.bent(dilation=axis.dilation * axis.stride)),
    ),
    mutant(
        "stride missing in one direction",
        _unfolded(lambda axis: axis.bent(stride=1 if axis.vertical else None)),
        _unfolded(lambda axis: axis.bent(stride=None if axis.vertical else 1)),
    ),
    mutant(
        "first number of a pair used for the columns",
        _unfolded(lambda axis: _first_numbers(axis, stride=True, pad=True, dilation=True)),
        _unfolded(lambda axis: _first_numbers(axis, stride=True, pad=False, dilation=False)),
        _unfolded(lambda axis: _first_numbers(axis, stride=False, pad=True, dilation=False)),
        _unfolded(lambda axis: _first_numbers(axis, stride=False, pad=False, dilation=True)),
    ),
    mutant(
        "stride ignored",
        _unfolded(lambda axis: axis.bent(stride=1)),
        _unfolded(lambda axis: replace(axis, stride=1).covered()),
    ),
    mutant(
        "vertical and horizontal stride swapped",
        _unfolded(lambda axis: axis.bent(stride=axis.other[0])),
        _unfolded(lambda axis: replace(axis, stride=axis.other[0]).covered()),
    ),
    mutant(
        "vertical and horizontal padding swapped",
        _unfolded(lambda axis: axis.covered(start=-axis.other[1])),
        _unfolded(lambda axis: replace(axis, pad=axis.other[1]).covered()),
    ),
    mutant(
        "vertical and horizontal dilation swapped",
        _unfolded(lambda axis: axis.bent(dilation=axis.other[2])),
        _unfolded(lambda axis: replace(axis, dilation=axis.other[2]).covered()),
    ),
    mutant("padding left out of the index", _unfolded(lambda axis: axis.covered(start=0))),
    mutant(
        "padding missing in one direction",
        _unfolded(lambda axis: axis.covered(start=0 if axis.vertical else None)),
        _unfolded(lambda axis: axis.covered(start=None if axis.vertical else 0)),
    ),
    mutant(
        "padding multiplied by the stride",
        _unfolded(lambda axis: axis.covered(start=-axis.pad * axis.stride)),
    ),
    mutant(
        "padding multiplied by the dilation",
        _unfolded(lambda axis: axis.covered(start=-axis.pad * axis.dilation)),
    ),
    mutant(
        "padding counted on one side",
        _unfolded(lambda axis: axis.spanned(axis.dilation * (axis.window - 1) + 1 + axis.pad)),
    ),
    mutant("last output missing", _unfolded(lambda axis: axis.covered(axis.outputs - 1))),
    mutant("padding added, not subtracted", _unfolded(lambda axis: axis.covered(start=axis.pad))),
    mutant("padding left out altogether", _unfolded(lambda axis: replace(axis, pad=0).covered())),
    mutant("negative indices wrap around", _unfolded(edge="wrap")),
    mutant("edge pixels repeated", _unfolded(edge="repeat")),
    mutant("border pixels taken for padding", _unfolded(inputs=_without_border)),
    mutant(
        "axes reshaped without being put in order",
        _unfolded(order="ncrspq", reshaped=True),
        _unfolded(order="ncpqrs", reshaped=True),
        _unfolded(order="npqcrs", reshaped=True),
        _each_tap_reshaped,
    ),
    mutant(
        "wrong size in the number of a row",
        _placed(row=lambda at, size: (at[0] * size[2] + at[1]) * size[1] + at[2]),
        _placed(row=lambda at, size: (at[0] * size[1] + at[1]) * size[1] + at[2]),
    ),
    mutant(
        "wrong size in the number of a column",
        _placed(column=lambda at, size: (at[0] * size[2] + at[1]) * size[1] + at[2]),
        _placed(column=lambda at, size: (at[0] * size[1] + at[1]) * size[1] + at[2]),
    ),
    mutant("channel left out of the row", _placed(row=lambda at, size: at[1] * size[2] + at[2])),
    mutant("image left out of the column", _placed(column=lambda at, size: at[1] * size[2] + at[2])),
    mutant("returned too early", _first_image),
    mutant("windows as rows", _unfolded(order="npqcrs")),
    mutant("rows and columns of the window swapped", _unfolded(order="csrnpq")),
    mutant("channels innermost in the column", _unfolded(order="rscnpq")),
    mutant("columns go down the image first", _unfolded(order="crsnqp")),
    mutant("images innermost in the row", _unfolded(order="crspqn")),
    mutant("a matrix for each image", _one_for_each_image),
    mutant("batch index ignored", _unfolded(inputs=lambda x: x[np.zeros(len(x), int)])),
    mutant("windows flipped", _unfolded(flip=True)),
    mutant("output size rounded up", _unfolded(lambda axis: axis.covered(axis.rounded_up))),
)


EXERCISE = Exercise(
    id="07-im2col",
    notebook="07_im2col",
    title="Write im2col",
    points=6,
    kind="function",
    function="im2col",
    stub="raise NotImplementedError  # your windows, each a column, go here",
    cases=_cases,
    oracle=_oracle,
    tolerance=_tolerance,
    mutants=_MUTANTS,
    hints=(
        "Start with the output's size P × Q, then fill the matrix one row at a time: a row belongs to one (c, r, s).",
        "Stride belongs to p and q, dilation to r and s. Which of the two says where a window starts?",
    ),
)
