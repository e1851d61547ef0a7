"""Exercise 07, question 2: how large a column matrix becomes, and what of it fits."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from convlab.checker.exercises.misconceptions import mutant
from convlab.checker.exercises.values import values_exercise
from convlab.spec import ConvSpec

__all__ = ["EXERCISE", "LAYER"]

# As the task gives it.
LAYER = ConvSpec(n=32, c=96, h=54, w=70, k=128, r=5, s=3, stride=2, padding=(2, 1), groups=2)
IMAGES_LIMIT, STRIP_LIMIT = 64 * 2**20, 2**20  # bytes

_ROWS, _COLUMNS = LAYER.im2col_shape[0], LAYER.p * LAYER.q  # of a group and an image
_BYTES = 4 * LAYER.groups * _ROWS * _COLUMNS  # of an image
_STRIP = _BYTES // LAYER.p  # of a row of windows
_UNPADDED, _DENSE = replace(LAYER, padding=(0, 0, 0, 0)), replace(LAYER, stride=(1, 1))

_WANTED = {
    "rows": _ROWS,
    "columns": _COLUMNS,
    "mebibytes": (0.995 * _BYTES / 2**20, 1.005 * _BYTES / 2**20),
    "times_the_input": LAYER.groups * _ROWS * _COLUMNS / prod(LAYER.input_shape[1:]),
    "images": IMAGES_LIMIT // _BYTES,
    "strip": STRIP_LIMIT // _STRIP,
}


_MUTANTS = (
    mutant("stride ignored in the output size", {"columns": _DENSE.p * _DENSE.q}),
    mutant("output size rounded up", {"columns": (_COLUMNS // LAYER.q + 1) * (LAYER.q + 1)}),
    mutant("windows counted without padding", {"columns": _UNPADDED.p * _UNPADDED.q}),
    mutant("groups left out of the rows", {"rows": LAYER.groups * _ROWS}),
    mutant(
        "filters counted as rows",
        {"rows": LAYER.k * LAYER.r * LAYER.s},
        {"rows": LAYER.k // LAYER.groups * LAYER.r * LAYER.s},
    ),
    mutant("channels left out of the rows", {"rows": LAYER.r * LAYER.s}),
    mutant(
        "columns of the whole batch",
        {"columns": LAYER.im2col_shape[1]},
        {"mebibytes": LAYER.n * _BYTES / 2**20},
    ),
    mutant("columns of both groups", {"columns": LAYER.groups * _COLUMNS}),
    mutant(
        "matrix of one group only",
        {"mebibytes": _BYTES / LAYER.groups / 2**20},
        {"times_the_input": _ROWS * _COLUMNS / prod(LAYER.input_shape[1:])},
        {"images": LAYER.groups * IMAGES_LIMIT // _BYTES},
        {"strip": LAYER.groups * STRIP_LIMIT // _STRIP},
    ),
    mutant(
        "groups counted twice",
        {"mebibytes": LAYER.groups * _BYTES / 2**20},
        {"times_the_input": LAYER.groups**2 * _ROWS * _COLUMNS / prod(LAYER.input_shape[1:])},
        {"images": IMAGES_LIMIT // _BYTES // LAYER.groups},
        {"strip": STRIP_LIMIT // _STRIP // LAYER.groups},
    ),
    mutant("another unit than mebibytes", {"mebibytes": _BYTES}, {"mebibytes": _BYTES / 2**10}),
    mutant(
        "megabytes taken for mebibytes",
        {"mebibytes": _BYTES / 1e6},
        {"images": IMAGES_LIMIT // 2**20 * 10**6 // _BYTES},
        {"strip": 10**6 // _STRIP},
    ),
    mutant(
        "numbers counted, not bytes",
        {"mebibytes": _BYTES / 4 / 2**20},
        {"images": 4 * IMAGES_LIMIT // _BYTES},
        {"strip": 4 * STRIP_LIMIT // _STRIP},
    ),
    mutant("window taken for the factor", {"times_the_input": LAYER.r * LAYER.s}),
    mutant(
        "part of an image counted",
        *({"images": round(IMAGES_LIMIT / _BYTES, digits)} for digits in (1, 2, 3, 12)),
        *({"strip": round(STRIP_LIMIT / _STRIP, digits)} for digits in (1, 2, 3, 12)),
    ),
    mutant(
        "limit exceeded by rounding up",
        {"images": -(-IMAGES_LIMIT // _BYTES)},
        {"strip": -(-STRIP_LIMIT // _STRIP)},
    ),
)

EXERCISE = values_exercise(
    _WANTED,
    id="07-memory",
    notebook="07_im2col",
    title="Memory, before it explodes",
    points=4,
    function="memory",
    mutants=_MUTANTS,
    hints=(
        "First P and Q, by the formula of lesson 02. A filter of one group sees C / G channels.",
        "All groups together have C·R·S rows. Divide the limit by the bytes of one image, or of one row of windows.",
    ),
)
