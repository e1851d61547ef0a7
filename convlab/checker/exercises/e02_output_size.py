"""Exercise 02, question 1: how many outputs an axis has, for every stride, padding and dilation."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from convlab.checker.exercises.misconceptions import mutant
from convlab.checker.record import Case, Exercise, Floats
from convlab.spec import Pair
from convlab.spec.axis import Axis, same_padding

__all__ = ["EXERCISE"]

Padding = int | Pair | str
Answer = Callable[[int, int, int, Padding, int], float]


class _Sizes(NamedTuple):
    """A case without its size: window, stride, padding, dilation, and the pixels that no window reaches."""

    window: int
    stride: int
    padding: Padding
    dilation: int
    rest: int = 0


_SIZES = (
    _Sizes(window=3, stride=1, padding=0, dilation=1),
    _Sizes(window=3, stride=1, padding=2, dilation=1),
    _Sizes(window=4, stride=3, padding=1, dilation=1, rest=1),
    _Sizes(window=3, stride=1, padding=2, dilation=2),
    _Sizes(window=3, stride=3, padding="valid", dilation=2, rest=2),
    _Sizes(window=5, stride=1, padding="valid", dilation=3),
    _Sizes(window=4, stride=1, padding="same", dilation=1),
    _Sizes(window=5, stride=3, padding="same", dilation=3),
    _Sizes(window=3, stride=1, padding=(0, 5), dilation=1),
    _Sizes(window=4, stride=3, padding=(3, 1), dilation=2, rest=2),
)
_TOO_SMALL = (("valid", 0, 2, 4), ("valid", 3, 1, 5), (1, 4, 5, 5))  # padding, pixels that lack, stride, window


def _cases(rng: np.random.Generator) -> list[Case]:
    """One difficulty after the other; before the last two of them, windows that just fit, or do not fit at all."""
    fitting = [_case(int(steps), sizes) for steps, sizes in zip(rng.permutation(40)[:10] + 3, _SIZES, strict=True)]
    return [*fitting[:-2], *(_too_small(*sizes) for sizes in _TOO_SMALL), *fitting[-2:]]


def _case(steps: int, sizes: _Sizes) -> Case:
    window, stride, padding, dilation, rest = sizes
    before, after = _ends(9, window, stride, padding, dilation) if padding != "same" else (0, 0)
    size = stride * steps + rest + dilation * (window - 1) + 1 - before - after
    if padding == "same":
        size = 3 * (steps // 3) + 7  # one more than a multiple of 3: rounding down, or to the nearest, is an error
    return _called(size, window, stride, padding, dilation)


def _too_small(padding: Padding, lacking: int, stride: int, window: int) -> Case:
    before, after = _ends(9, window, stride, padding, 2)
    return _called(2 * (window - 1) + 1 - before - after - lacking, window, stride, padding, 2)


def _called(size: int, window: int, stride: int, padding: Padding, dilation: int) -> Case:
    names = {"size": size, "window": window, "stride": stride, "padding": padding, "dilation": dilation}
    return Case(names, whole=True)


def _ends(size: int, window: int, stride: int, padding: Padding, dilation: int) -> Pair:
    """The padding before and after."""
    if isinstance(padding, str):
        return same_padding(size, window, stride, dilation) if padding == "same" else (0, 0)
    return padding if isinstance(padding, tuple) else (padding, padding)


def _oracle(size: int, window: int, stride: int, padding: Padding, dilation: int) -> Floats:
    ends = _ends(size, window, stride, padding, dilation)
    return np.asarray(float(Axis("H", size, *ends, window, stride, dilation).outputs))


def _tolerance(*_: object) -> Floats:
    return np.asarray(1e-9)  # sizes are whole


def _bent(
    *,
    span: Callable[[int, int], float] = lambda window, dilation: dilation * (window - 1) + 1,
    total: Callable[[Padding], int] = lambda padding: sum(padding) if isinstance(padding, tuple) else 2 * int(padding),
    windows: Callable[[int, int], float] = lambda left, stride: max(0, left // stride + 1),
    same: Callable[[int, int, int, int], float] = lambda size, window, stride, dilation: -(-size // stride),
    valid: Callable[[int, int, int, int], float] | None = None,
) -> Answer:
    """Make an answer with one thing bent; as it stands, it is right.

    ``span`` of a window, ``total`` of a padding in numbers, ``windows`` in what is left beside the first; ``same`` and
    ``valid`` take the whole way to the answer.
    """

    def answer(size: int, window: int, stride: int, padding: Padding, dilation: int) -> float:
        if padding == "same":
            return same(size, window, stride, dilation)
        if padding == "valid" and valid:
            return valid(size, window, stride, dilation)
        padded = size + (0 if padding == "valid" else total(padding))
        return windows(int(padded - span(window, dilation)), stride)

    return answer


def _padded(total: Callable[[int, int], int]) -> Callable[[int, int, int, int], int]:
    """So much padding in all, by the window and its dilation, where "same" was asked for."""

    def same(size: int, window: int, stride: int, dilation: int) -> int:
        return (size + total(window, dilation) - dilation * (window - 1) - 1) // stride + 1

    return same


def _divided_first(size: int, window: int, stride: int, padding: Padding, dilation: int) -> float:
    if padding == "same":
        return -(-size // stride)
    padded = size + sum(_ends(size, window, stride, padding, dilation))
    return max(0, padded // stride - dilation * (window - 1))


_MUTANTS = (
    mutant("dilation left out of the output size", _bent(span=lambda window, dilation: window)),
    mutant("gap behind the last tap", _bent(span=lambda window, dilation: dilation * window)),
    mutant("dilation taken for the gap", _bent(span=lambda window, dilation: window + (window - 1) * dilation)),
    mutant(
        "padding counted on one side",
        _bent(total=lambda padding: sum(padding) if isinstance(padding, tuple) else int(padding)),
    ),
    mutant(
        "one end of an uneven padding used for both",
        _bent(total=lambda padding: 2 * (padding[0] if isinstance(padding, tuple) else int(padding))),
        _bent(total=lambda padding: 2 * (padding[1] if isinstance(padding, tuple) else int(padding))),
    ),
    mutant("last tap left out of the span", _bent(span=lambda window, dilation: dilation * (window - 1))),
    mutant("one gap for all taps", _bent(span=lambda window, dilation: window + dilation - 1)),
    mutant(
        "output size rounded up",
        _bent(windows=lambda left, stride: max(0, -(-left // stride) + 1)),
        _bent(windows=lambda left, stride: -(-left // stride) + 1 if left >= 0 else 0),
        _bent(windows=lambda left, stride: -(-left // stride) + 1),
    ),
    mutant(
        "output size not rounded",
        _bent(windows=lambda left, stride: max(0.0, left / stride + 1)),
        _bent(windows=lambda left, stride: left / stride + 1 if left >= 0 else 0),
        _bent(
            windows=lambda left, stride: max(0.0, left / stride + 1),
            same=lambda size, window, stride, dilation: size / stride,
        ),
    ),
    mutant("first window not counted", _bent(windows=lambda left, stride: max(0, left // stride))),
    mutant("stride ignored in the output size", _bent(windows=lambda left, stride: max(0, left + 1))),
    mutant("divided by the stride too early", _divided_first),
    mutant(
        "less than no output",
        _bent(windows=lambda left, stride: left // stride + 1),
        _bent(windows=lambda left, stride: int(left / stride) + 1),
        _bent(windows=lambda left, stride: abs(left // stride + 1)),
        _bent(windows=lambda left, stride: max(1, left // stride + 1)),
    ),
    mutant(
        "a window that just fits not counted",
        _bent(windows=lambda left, stride: left // stride + 1 if left > 0 else 0),
    ),
    mutant(
        "same taken for the size of the input",
        _bent(same=lambda size, window, stride, dilation: size),
        _bent(
            same=lambda size, window, stride, dilation: size,
            windows=lambda left, stride: left // stride + 1,
        ),
    ),
    mutant(
        "same rounded down",
        _bent(same=lambda size, window, stride, dilation: size // stride),
        _bent(same=lambda size, window, stride, dilation: round(size / stride)),
        _bent(same=lambda size, window, stride, dilation: (size - 1) // stride),
    ),
    mutant(
        "same as half a window at both ends",
        _bent(same=_padded(lambda window, dilation: dilation * (window - 1) // 2 * 2)),
        _bent(same=_padded(lambda window, dilation: (dilation * (window - 1) + 1) // 2 * 2)),
    ),
    mutant(
        "same without its dilation",
        _bent(same=_padded(lambda window, dilation: window - 1)),
        _bent(same=_padded(lambda window, dilation: (window - 1) // 2 * 2)),
        _bent(same=_padded(lambda window, dilation: window // 2 * 2)),
    ),
    mutant(
        "window left out of valid",
        _bent(valid=lambda size, window, stride, dilation: size // stride),
        _bent(valid=lambda size, window, stride, dilation: -(-size // stride)),
    ),
    mutant(
        "dilation left out of valid",
        _bent(valid=lambda size, window, stride, dilation: -(-(size - window + 1) // stride)),
        _bent(valid=lambda size, window, stride, dilation: max(0, (size - window) // stride + 1)),
    ),
)

EXERCISE = Exercise(
    id="02-output-size",
    notebook="02_sizes_and_padding",
    title="The output size for every case",
    points=4,
    kind="function",
    function="outputs",
    stub="raise NotImplementedError  # your arithmetic goes here",
    cases=_cases,
    oracle=_oracle,
    tolerance=_tolerance,
    mutants=_MUTANTS,
    hints=(
        "Three steps: the padding at both ends together, what one window spans, how many windows fit.",
        'Treat "same" first, and on its own: its answer needs neither the window nor the dilation.',
    ),
)
