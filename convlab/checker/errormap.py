"""Draws where the errors of a result are: in which planes, and which elements of the first wrong plane."""

from __future__ import annotations

import numpy as np

from convlab.checker.compare import Elements
from convlab.views.grid import Panel, number_text, pairs
from convlab.views.view import View

__all__ = ["error_map"]

_KINDS = ("output", "filter")  # of right and of wrong cells


def error_map(elements: Elements) -> View:
    """Draw the number of errors of each plane of a result, and the elements of the first wrong plane.

    >>> found, expected = np.ones((2, 3, 4, 5)), np.ones((2, 3, 4, 5))
    >>> found[1, 2, 3] = 7
    >>> print(error_map(Elements(found, expected, wrong=found != expected)).alt)
    Wrong elements: 5 of 120, in 1 of 6 planes; in the plane y[n=1, k=2]: 5 of 20.

    That plane is linked with its wrong elements. Parameters: ``elements`` of shape (N, K, P, Q), of which at least one
    is wrong.
    """
    wrong = elements.wrong
    counts = wrong.sum(axis=(2, 3))  # (N, K)
    n, k = elements.first[:2]
    plane = _plane(elements, n, k)
    alt = (
        f"Wrong elements: {counts.sum()} of {wrong.size}, in {np.count_nonzero(counts)} of {counts.size} planes; "
        f"in the plane {plane.title}: {counts[n, k]} of {wrong[n, k].size}."
    )
    first = counts.size  # the number of the plane's first cell: the planes come before
    links = pairs(first + np.flatnonzero(wrong[n, k]), n * counts.shape[1] + k)
    return View(title="Where the errors are", alt=alt, panels=(_planes(elements), plane), links=links)


def _planes(elements: Elements) -> Panel:
    counts, size = elements.wrong.sum(axis=(2, 3)), elements.wrong[0, 0].size
    images, channels = counts.shape
    return Panel(
        name="planes",
        title="wrong in each plane",
        rows=images,
        cols=channels,
        labels=[f"y[n={n}, k={k}]: {count} of {size} wrong" for (n, k), count in np.ndenumerate(counts)],
        values=[str(count) for count in counts.flat],
        kinds=[_KINDS[bool(count)] for count in counts.flat],
        row_axis="n",
        col_axis="k",
        row_index=[str(n) for n in range(images)],
        col_index=[str(k) for k in range(channels)],
    )


def _plane(elements: Elements, n: int, k: int) -> Panel:
    wrong = elements.wrong[n, k]
    rows, cols = wrong.shape
    return Panel(
        name="plane",
        title=f"y[n={n}, k={k}]",
        subtitle="× marks a wrong element",
        rows=rows,
        cols=cols,
        labels=[_label(elements, n, k, p, q) for p, q in np.ndindex(rows, cols)],
        values=["×" if bad else "" for bad in wrong.flat],
        kinds=[_KINDS[bool(bad)] for bad in wrong.flat],
        row_axis="p",
        col_axis="q",
        row_index=[str(p) for p in range(rows)],
        col_index=[str(q) for q in range(cols)],
    )


def _label(elements: Elements, *index: int) -> str:
    name = "y[n={}, k={}, p={}, q={}]".format(*index)
    found, expected = (number_text(float(array[index])) for array in (elements.found, elements.expected))
    return f"{name} = {found}, {f'but {expected} was expected' if elements.wrong[index] else 'right'}"
