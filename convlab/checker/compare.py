"""Holds what an answer returned against the oracle: kind, type, shape, then every element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.checker.guard import class_of
from convlab.checker.record import Case, Floats

__all__ = ["Elements", "Finding", "compare", "rounding_bound"]

_NUMBERS = (int, float, *np.sctypeDict.values())  # exact types: a subclass may lie about its value
_LARGEST = 1_000_000  # elements


@dataclass(frozen=True, eq=False)
class Elements:
    """A result of the right shape, what it should have been, and where the two differ too much."""

    found: Floats
    expected: Floats
    wrong: npt.NDArray[np.bool_]

    @property
    def first(self) -> tuple[int, ...]:
        """The index of the first wrong element in memory order."""
        return tuple(int(i) for i in np.argwhere(self.wrong)[0])


@dataclass(frozen=True, eq=False)
class Finding:
    """What one case showed: ``problem`` is empty when all is right, otherwise the rest of a sentence.

    ``array`` is the result in float64 wherever there is one. Either its shape fits, and ``elements`` compares
    it, or ``shapes`` holds the shape found and the one expected. ``faults`` are the kinds that the sanitizer found, and
    ``over`` the measures whose budget was exceeded: with the array, they are the signature of an answer. ``said`` are
    the values of an answer that is values, by name. ``blocks`` are x, y and z of the block of a kernel's grid that
    wrote each element, of shape (3, *the array's), with −1 where none did.
    """

    problem: str = ""
    array: Floats | None = None
    shapes: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    elements: Elements | None = None
    faults: frozenset[str] = frozenset()
    over: frozenset[str] = frozenset()
    said: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    blocks: npt.NDArray[np.intp] | None = None


def rounding_bound(terms: int, magnitude: Floats, dtype: npt.DTypeLike) -> Floats:
    """Give the error that a sum may have when each step is rounded, whatever the order of the steps.

    >>> rounding_bound(terms=27, magnitude=np.array([8.0]), dtype="float32")
    array([2.76565552e-05])

    Parameters: ``terms``, how many products (and biases) are summed; ``magnitude``, the sum of their absolute
    values; ``dtype``, the type of the arithmetic. Twice the classical bound, so that no right answer fails.
    Source: Higham, Accuracy and Stability of Numerical Algorithms (2002), section 3.1.
    """
    return (terms + 2) * float(np.finfo(dtype).eps) * magnitude


def compare(case: Case, value: Any, expected: Floats, tolerance: Floats) -> Finding:
    """Compare a returned value with the right one.

    >>> case = Case({}, axes=("p", "q"))
    >>> right = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> compare(case, right + [[0, 0], [1, 1]], right, 1e-6 * right).problem
    'gives y[p=1, q=0] = 4, but 3 was expected (wrong elements: 2 of 4)'
    >>> compare(case, right.astype(int), right, 1e-6 * right).problem
    'returned int64 values, which cannot hold fractions; make the result float32 or float64'

    Parameters: ``case``, for the names; ``value``, whatever the answer returned; ``expected`` and
    ``tolerance``, float64 arrays of one shape (of shape () for a number).
    """
    kind = _kind_problem(value, expected.ndim, case.whole)
    if kind:
        return Finding(kind)
    given = np.asarray(value)
    if given.shape != expected.shape:
        return _misshapen(given, expected.shape)
    found = given.astype(np.float64)
    with np.errstate(all="ignore"):
        wrong = ~(np.abs(found - expected) <= tolerance)  # so that NaN is wrong
    elements = Elements(found, expected, wrong)
    return Finding(_values_problem(case, elements) if wrong.any() else "", found, None, elements)


def _kind_problem(value: Any, ndim: int, whole: bool) -> str:
    """Look at types only, since a hostile object can answer every question as it likes."""
    wanted = "return a NumPy array" if ndim else "return one number"
    if type(value) not in _NUMBERS and not issubclass(type(value), np.ndarray):
        return f"returned {_article(class_of(value))}; {wanted}"
    dtype = np.asarray(value).dtype
    if (dtype.kind == "f" and dtype.itemsize >= 4) or (dtype.kind in "iu" and whole):
        return ""
    why = ", which cannot hold fractions" if dtype.kind in "iub" and not whole else ""
    kind = "an int" if whole else "float32 or float64" if ndim else "a float"
    return f"returned {dtype} values{why}; make the result {kind}"


def _misshapen(given: npt.NDArray[Any], shape: tuple[int, ...]) -> Finding:
    """Keep the array for the diagnosis, unless it is so large that nothing could come of it."""
    array = given.astype(np.float64) if given.size <= _LARGEST else None
    problem = f"returned {_shape(given.shape)}, but {_shape(shape)} was expected"
    return Finding(problem, array, (given.shape, shape))


def _values_problem(case: Case, elements: Elements) -> str:
    index, wrong = elements.first, elements.wrong
    found, expected = _number(elements.found[index]), _number(elements.expected[index])
    count = f" (wrong elements: {np.count_nonzero(wrong)} of {wrong.size})" if wrong.ndim else ""
    return f"gives {case.element(index)} = {found}, but {expected} was expected{count}"


def _number(value: float) -> str:
    return "NaN" if np.isnan(value) else f"{value:.6g}"


def _shape(shape: tuple[int, ...]) -> str:
    return f"an array of shape {shape}" if shape else "a single number"


def _article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
