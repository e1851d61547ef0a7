"""Where everything of a picture stands: the size of a cell, the place of each panel, the size of the whole."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from convlab.views.grid import Panel

__all__ = ["LEFT", "MARGIN", "Layout", "Place", "arrange", "wrapped"]

MARGIN = 14
LEFT = 40  # where all texts and the first panel start; the index of the rows hangs to the left of it
_WIDTH, _HEIGHT = 960, 520  # what a picture may take; the browser shrinks it on a narrower page
_LEAST_WIDTH = 720  # a formula fits, and a small picture keeps its size while a slider moves
_PITCHES = (34, 30, 26, 22, 19, 17, 15, 13, 10, 8)  # few, so that panels do not wobble under a slider
_HEAD, _FOOT, _TAIL = 50, 18, 14  # above, below and right of the cells: titles, index, axis letters
_INDEX = LEFT - MARGIN  # left of the cells, at least
_GAP, _OPERATOR_GAP = 14, 44
_MESSAGE_SIZE = (230, 136)
_NAME_WIDTH, _SMALL_WIDTH, _INDEX_WIDTH = 7.6, 6.3, 5.8  # the mean width of a letter in a wide typeface


class Place(NamedTuple):
    """A panel, the size of its cells, the rectangle that they cover, and the middle of the operator before it."""

    panel: Panel
    pitch: int
    x: int
    y: int
    width: int
    height: int
    operator: tuple[float, float]


class Layout(NamedTuple):
    """The places of all panels, the width of the picture, and where the panels end."""

    places: list[Place]
    width: int
    bottom: int


def arrange(panels: Sequence[Panel], top: int) -> Layout:
    """Put the panels side by side, line below line, starting ``top`` pixels down.

    All cells of a line have one size, as large as the line fits the width, and all lines the height.
    """
    lines = [list(line) for _, line in groupby(panels, key=lambda panel: panel.line)]
    for pitch in _PITCHES:
        layout = _placed(lines, pitch, top)
        if layout.bottom <= _HEIGHT:
            break
    return layout._replace(width=max(layout.width, _LEAST_WIDTH))


def wrapped(text: str, width: float) -> list[str]:
    """Break a small-print text into lines of at most ``width`` pixels."""
    return textwrap.wrap(text, max(8, int(width / _SMALL_WIDTH)))


def _placed(lines: list[list[Panel]], most: int, top: int) -> Layout:
    """Place all lines, with cells of at most ``most`` pixels."""
    places: list[Place] = []
    widest = 0
    for line in lines:
        for pitch in (size for size in _PITCHES if size <= most):
            placed, end = _line(line, pitch, top)
            if end + MARGIN <= _WIDTH:
                break
        places += placed
        widest = max(widest, end)
        top += _HEAD + max(place.height for place in placed) + _FOOT
    return Layout(places, widest + MARGIN, top)


def _line(panels: list[Panel], pitch: int, top: int) -> tuple[list[Place], int]:
    """Place one line of panels, and tell where it ends."""
    places = []
    middle = top + _HEAD + min(*(_size(panel, pitch)[1] for panel in panels), 4 * pitch) / 2
    end = MARGIN - _GAP
    for panel in panels:
        gap = _OPERATOR_GAP if panel.operator else _GAP
        x = end + _index_width(panel) + gap
        width, height = _size(panel, pitch)
        places.append(Place(panel, pitch, x, top + _HEAD, width, height, (end + gap / 2, middle)))
        end = x + max(width + _TAIL, _title_width(panel))
    return places, end


def _size(panel: Panel, pitch: int) -> tuple[int, int]:
    if panel.message:
        return _MESSAGE_SIZE
    return panel.cols * panel.cell_width * pitch, panel.rows * pitch


def _index_width(panel: Panel) -> int:
    return max(_INDEX, round(max(map(len, panel.row_index), default=0) * _INDEX_WIDTH) + 10)


def _title_width(panel: Panel) -> int:
    return int(max(len(panel.title) * _NAME_WIDTH, len(panel.subtitle) * _SMALL_WIDTH))
