"""The exercises of the course: one record each, found by id."""

from __future__ import annotations

import difflib

from convlab.checker.exercises import (
    e00_one_line,
    e01_loops,
    e01_one_output,
    e02_no_copy,
    e02_output_size,
    e03_index,
    e03_mapping,
    e04_attainable,
    e04_bounds,
    e05_barriers,
    e05_conflicts,
    e05_halo,
    e06_filters,
    e06_pixels,
    e07_im2col,
    e07_memory,
    e08_blocked,
    e08_register,
    e09_element,
    e09_hoist,
    e10_accumulator,
    e10_fragment_map,
    e10_pad_channels,
)
from convlab.checker.guard import class_of, in_one_line
from convlab.checker.record import Exercise
from convlab.errors import ConvlabError

__all__ = ["EXERCISES", "UnknownExerciseError", "exercise"]

_MODULES = (
    e00_one_line,
    e01_one_output,
    e01_loops,
    e02_output_size,
    e02_no_copy,
    e03_index,
    e03_mapping,
    e04_bounds,
    e04_attainable,
    e05_halo,
    e05_barriers,
    e05_conflicts,
    e06_filters,
    e06_pixels,
    e07_im2col,
    e07_memory,
    e08_blocked,
    e08_register,
    e09_element,
    e09_hoist,
    e10_fragment_map,
    e10_pad_channels,
    e10_accumulator,
)
EXERCISES: dict[str, Exercise] = {module.EXERCISE.id: module.EXERCISE for module in _MODULES}


class UnknownExerciseError(ConvlabError, LookupError):
    """An id that no exercise has."""


def exercise(exercise_id: str) -> Exercise:
    """Find an exercise by its id.

    >>> exercise("01-loops").title, exercise("01-loops").points
    ('Seven loops', 6)

    Raises ``UnknownExerciseError``, with the ids that come nearest, when there is none.
    """
    if type(exercise_id) is not str:
        kind = class_of(exercise_id)
        raise UnknownExerciseError(
            f"an exercise's id is a string, but a {kind} was given.\n"
            f'  Fix: write the id first, then the answer: check("{next(iter(EXERCISES))}", answer).'
        )
    if exercise_id in EXERCISES:
        return EXERCISES[exercise_id]
    near = difflib.get_close_matches(exercise_id.lower(), EXERCISES, n=3, cutoff=0.7)
    names = " or ".join(f'"{name}"' for name in near or EXERCISES)
    fact = (
        f'there is no exercise "{in_one_line(exercise_id)}"' if len(exercise_id) < 80 else "there is no such exercise"
    )
    raise UnknownExerciseError(
        f"{fact}.\n  Fix: {'did you mean' if near else 'the ids are'} {names}{'?' if near else '.'}"
    )
