"""Finds answers that are more alike than chance makes them: pairs for a human to look at, never a verdict.

Names, numbers' spelling, comments and white space do not count; nor does what everybody was given, or what most of a
class wrote. Source: winnowing of k-grams without the selection (Schleimer, Wilkerson and Aiken, SIGMOD 2003): answers
are short.
"""

from __future__ import annotations

import csv
import io
import keyword
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from convlab.checker.exercises import EXERCISES
from convlab.grader.released import stub
from convlab.grader.text import guarded

__all__ = ["Pair", "similar", "table"]

_GRAM = 6  # tokens that must follow each other
_LEAST = 20  # grams of its own that an answer needs, before it can be told from others
_ALIKE = 0.8  # the share of them that two answers have in common
_COMMON = 0.25  # of a class: what so many wrote, the task itself asks for
_FEW = 4  # in a small class, so many
_TOKEN = re.compile(
    r"/\*.*?(?:\*/|\Z)|//[^\n]*|#[^\n]*|(?P<string>\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\.|[^'\\\n])*+'?)"
    r"|(?P<word>[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<mark>[^\w\s])",
    re.DOTALL,
)
_KEPT = frozenset(keyword.kwlist) | frozenset(
    [
        "range",
        "len",
        "enumerate",
        "zip",
        "np",
        "sum",
        "max",
        "min",
        "float",
        "int",
        "const",
        "for",
        "while",
        "if",
        "else",
        "return",
        "void",
        "__global__",
        "__shared__",
        "__syncthreads",
        "threadIdx",
        "blockIdx",
        "blockDim",
        "gridDim",
        "x",
        "y",
        "z",
        "unsigned",
        "size_t",
    ]
)

Gram = tuple[str, ...]


class Pair(NamedTuple):
    """Two answers to an exercise, by their students, and the share of their own grams that they have in common."""

    exercise: str
    one: str
    other: str
    share: float


def similar(answers: Mapping[str, Sequence[tuple[str, str]]]) -> list[Pair]:
    """Compare all answers to each exercise, given as pairs of student and text; the most alike come first."""
    pairs = [pair for exercise in sorted(answers) for pair in _pairs(exercise, answers[exercise])]
    return sorted(pairs, key=lambda pair: (-pair.share, pair))


def table(pairs: Iterable[Pair]) -> str:
    """Give the pairs as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["exercise", "one", "other", "alike"])
    writer.writerows((pair.exercise, guarded(pair.one), guarded(pair.other), round(pair.share, 3)) for pair in pairs)
    return out.getvalue()


def _pairs(exercise: str, answers: Sequence[tuple[str, str]]) -> Iterable[Pair]:
    given = _grams(stub(exercise), EXERCISES[exercise].kind == "kernel")
    grams = [_grams(text, EXERCISES[exercise].kind == "kernel") - given for _, text in answers]
    spread = Counter(gram for each in grams for gram in each)
    most = max(_FEW, _COMMON * len(answers))
    own = [frozenset(gram for gram in each if spread[gram] <= most) for each in grams]
    shared = Counter(pair for holders in _holders(own).values() for pair in combinations(holders, 2))
    for (i, j), count in shared.items():
        smaller = min(len(own[i]), len(own[j]))
        if smaller >= _LEAST and count / smaller >= _ALIKE:
            yield Pair(exercise, answers[i][0], answers[j][0], count / smaller)


def _holders(own: Sequence[frozenset[Gram]]) -> dict[Gram, list[int]]:
    """The answers that hold each gram: only those that share one are ever compared."""
    holders: dict[Gram, list[int]] = {}
    for place, grams in enumerate(own):
        for gram in grams:
            holders.setdefault(gram, []).append(place)
    return holders


def _grams(text: str, cuda: bool) -> frozenset[Gram]:
    tokens = _tokens(text, cuda)
    return frozenset(tuple(tokens[at : at + _GRAM]) for at in range(len(tokens) - _GRAM + 1))


def _tokens(text: str, cuda: bool) -> list[str]:
    """The tokens, with a stand-in for each name that may be chosen; // divides in Python, # begins a line of CUDA C."""
    source = text.replace("#", " ") if cuda else text.replace("//", "/ /")
    found = (match for match in _TOKEN.finditer(source) if match.lastgroup)
    return [_normal(match.lastgroup or "", match[0]) for match in found]


def _normal(kind: str, token: str) -> str:
    if kind == "word":
        return token if token in _KEPT else "name"
    return kind if kind == "string" else token
