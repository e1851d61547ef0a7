"""Says what the errors of a wrong answer have in common, for mistakes that no mutant stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from convlab.checker.compare import Elements
from convlab.checker.faults import fault_clue
from convlab.checker.kinds.outcome import Trial
from convlab.checker.record import Floats

__all__ = ["clue"]

Clue = tuple[str, str]  # a sentence about the errors, and a hint
Blocks = npt.NDArray[np.intp]

_NOTHING: Clue = ("", "")
_CLOSE = 1e-4  # relative to the largest value: equal, but for rounding
_ROUGH = 1e-2  # right in method, poor in precision


def clue(trials: Sequence[Trial]) -> Clue:
    """Give a sentence about the errors, and a hint; two empty strings when nothing stands out.

    Parameters: ``trials`` of an answer of which at least one is not right; the first such decides.
    """
    trial = next(trial for trial in trials if trial.finding.problem)
    if trial.error == "IndexError":
        return _OUTSIDE
    finding = trial.finding
    if finding.shapes:
        return _shape_clue(trial.case.axes, *finding.shapes)
    # What the sanitizer says of a kernel says more than what its elements have in common.
    if faults := frozenset().union(*(trial.finding.faults for trial in trials)):
        return fault_clue(faults)
    if finding.elements is None or not finding.elements.wrong.any():
        return _NOTHING
    found, expected = _pooled(trials)
    with np.errstate(all="ignore"):  # results may be infinite
        fitting = (words for fits, words in _VALUES if fits(found, expected))
        return next(fitting, None) or _place_clue(trial.case.axes, finding.elements, finding.blocks)


_OUTSIDE: Clue = (
    "An index goes past the end of an array.",
    "Print the index and the array's shape just before that line. Is it the image, of which some taps lie outside, "
    "or the result, whose axes are in another order?",
)


def _shape_clue(axes: tuple[str, ...], found: tuple[int, ...], expected: tuple[int, ...]) -> Clue:
    letters = ", ".join(axes).upper()
    if len(found) != len(expected):
        return (
            f"The result has {len(found)} axes, not {len(expected)}.",
            f"The result's axes are ({letters}).",
        )
    if sorted(found) == sorted(expected):
        return "The axes are in another order.", f"The result's axes are ({letters}), in this order."
    sizes = zip(axes, found, expected, strict=True)
    differing = [f"{axis.upper()} is {size}, not {right}" for axis, size, right in sizes if size != right]
    return f"{' and '.join(differing)}.", "Work out that size on paper for the call above."


def _pooled(trials: Sequence[Trial]) -> tuple[Floats, Floats]:
    """Put the elements of all wrong cases into one row; a case that is right would hide the pattern."""
    wrong = [trial.finding.elements for trial in trials if trial.finding.problem and trial.finding.elements]
    found = np.concatenate([elements.found.ravel() for elements in wrong])
    return found, np.concatenate([elements.expected.ravel() for elements in wrong])


def _same(a: Floats, b: Floats, precision: float = _CLOSE) -> bool:
    """Compare without ever calling a NaN the same."""
    return bool(np.max(np.abs(a - b)) <= precision * np.max(np.abs(b)))


def _is_multiple(found: Floats, expected: Floats) -> bool:
    factor = np.dot(found, expected) / np.dot(expected, expected)
    return found.size > 1 and factor != 0 and _same(found, factor * expected)


def _is_shifted(found: Floats, expected: Floats) -> bool:
    return found.size > 1 and _same(found, expected + np.mean(found - expected))


# Do these errors, of all wrong cases together, have this in common? The first that fits is told.
_VALUES: tuple[tuple[Callable[[Floats, Floats], bool], Clue], ...] = (
    (
        lambda found, expected: bool(np.isnan(found).any()),
        (
            "Some elements are NaN.",
            "Is every element written? What nobody writes holds whatever was in memory before; 0/0 is NaN as well.",
        ),
    ),
    (
        lambda found, expected: not found.any(),
        ("Every element is 0.", "Is the sum stored in the result, and the result returned at the very end?"),
    ),
    (
        lambda found, expected: _same(found, -expected),
        ("Every element has the wrong sign.", "Find the minus that should not be there."),
    ),
    (
        _is_multiple,
        (
            "All elements are too large or too small by one factor.",
            "Divide a found value by the expected one.",
        ),
    ),
    (
        _is_shifted,
        ("All elements are off by the same amount.", "Subtract the expected value from a found one."),
    ),
    (
        lambda found, expected: _same(found, expected, _ROUGH),
        (
            "All elements are nearly right: the method is sound and the arithmetic too coarse.",
            "Is a value rounded, or stored in a small type, on its way?",
        ),
    ),
)


def _place_clue(axes: tuple[str, ...], elements: Elements, blocks: Blocks | None) -> Clue:
    """Look where the errors of one result are: in its planes, in the blocks of the grid, at its border."""
    planes = elements.wrong.ndim == 4  # (N, K, P, Q)
    found = _plane_clue(axes, elements) if planes else _NOTHING
    if found == _NOTHING and blocks is not None:
        found = _block_clue(elements.wrong, blocks)
    if found == _NOTHING and planes and not elements.wrong[:, :, 1:-1, 1:-1].any():
        found = "Only elements at the border are wrong.", "Which taps of these windows lie in the padding?"
    return found


def _block_clue(wrong: npt.NDArray[np.bool_], blocks: Blocks) -> Clue:
    """Look whether the grid's first blocks in a direction are right, and all others wrong."""
    for axis, places in zip("xyz", blocks, strict=True):
        bad, all_ = np.unique(places[wrong & (places >= 0)]), np.unique(places[places >= 0])
        if bad.size and bad[0] > all_[0] and bad.size == np.count_nonzero(all_ >= bad[0]):
            return (
                f"All is right up to blockIdx.{axis} = {bad[0] - 1}, and wrong from blockIdx.{axis} = {bad[0]} on.",
                f"Which indices and bounds should depend on blockIdx.{axis}? Work them out for a thread of that block.",
            )
    return _NOTHING


def _plane_clue(axes: tuple[str, ...], elements: Elements) -> Clue:
    """Look what the planes of one result (N, K, P, Q) have in common."""
    found, expected, wrong = elements.found, elements.expected, elements.wrong
    error = found - expected
    if _same(error, np.broadcast_to(error.mean(axis=(0, 2, 3), keepdims=True), error.shape)):
        return (
            "Within one output channel all elements are off by the same amount.",
            "What does each filter have one of?",
        )
    for reversed_axes, words in _FLIPS:
        if _same(np.flip(found, reversed_axes), expected):
            return words
    for axis, letter in enumerate(axes[:2]):
        bad = wrong.any(axis=tuple({0, 1, 2, 3} - {axis}))
        if not bad.all():
            places = ", ".join(str(i) for i in np.flatnonzero(~bad))
            return f"With {letter} = {places} all is right.", f"What is different for the other {letter}?"
    return _NOTHING


_FLIPS: tuple[tuple[tuple[int, ...], Clue], ...] = (
    ((2,), ("The rows of the result are in reverse order.", "Where is the first row, p = 0?")),
    ((3,), ("The columns of the result are in reverse order.", "Where is the first column, q = 0?")),
    ((2, 3), ("The result is turned by 180 degrees.", "Where is the first element, p = q = 0?")),
)
