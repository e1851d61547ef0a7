"""No prose states a number that no cell computes and no test checks: how that is tested.

Every number in a lesson's markdown, other than whole numbers from 0 to 12 and what stands in code, formulas, links and
tables of contents, needs an entry in the lesson's table, `lesson_NN.py`:

    NUMBERS = {
        "predict-grid-text": {"32": LAYER.h, "3,136": lambda: 56 * 56},        # cell id: {as written: its value}
        "standard-explain": {"16,384": Shown("standard-layer", r"16,?384")},    # what another cell shows when it runs
        "photo-intro": {"65,536": 256 * 256, "1969": Fact("the year of the article")},  # what nothing could compute
    }

A value may be a number or a function without arguments; a written number is right when it is the value, rounded to the
digits that are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import NamedTuple

import nbformat

__all__ = ["Fact", "Shown", "Table", "is_rounded", "numbers"]


class Shown(NamedTuple):
    """A number that a cell shows: the cell's id, and a pattern that its text matches."""

    cell: str
    pattern: str


class Fact(NamedTuple):
    """A number that no run could compute, as a year or a name; ``why`` says what it is."""

    why: str


Table = Mapping[str, Mapping[str, "float | Callable[[], float] | Shown | Fact"]]

# What is no prose: fenced and inline code, formulas, HTML tags, targets of links, numbers of headings and lists.
_SKIPPED = re.compile(
    r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$\n]*\$|<[^>]*>|\]\([^)]*\)|^#+ \d+ · |^#+ \d+\. |^\d+\. "
    r"|[Ll]essons? \d\d(?:(?:–| to | and )\d\d)?|[Ee]xercise \d\d|about \d\d minutes",
    re.DOTALL | re.MULTILINE,
)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?![\w]*\d)")
_SMALL = 12


def numbers(cell: nbformat.NotebookNode) -> list[str]:
    """The numbers of a markdown cell that need an entry, as they are written.

    >>> numbers(nbformat.v4.new_markdown_cell("From 27 to 2,304 in `x[99]`: 3 × 3, 0.35 of lesson 04."))
    ['27', '2,304', '0.35']
    """
    found = _NUMBER.findall(_SKIPPED.sub(" ", cell.source))
    return [text for text in dict.fromkeys(found) if not (text.isdigit() and int(text) <= _SMALL)]


def is_rounded(written: str, value: float) -> bool:
    """Tell whether a written number is the value, rounded to the digits that are written.

    >>> is_rounded("55.1", 55.125), is_rounded("12,544", 112 * 112), is_rounded("55", 56.0)
    (True, True, False)
    """
    plain = written.replace(",", "")
    digits = len(plain.partition(".")[2])
    return abs(Decimal(plain) - Decimal(str(value))) <= Decimal(1).scaleb(-digits) / 2
