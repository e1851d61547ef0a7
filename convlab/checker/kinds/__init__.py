"""The kinds of exercises: how an answer of each is tried on a case, and how a mutant is recognised in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from convlab.checker.compare import Finding
from convlab.checker.guard import Printed
from convlab.checker.kinds import function, kernel, values
from convlab.checker.kinds.outcome import Attempt, Trial
from convlab.checker.record import Case, Exercise

__all__ = ["KINDS", "Kind"]


class Kind(NamedTuple):
    """What a kind of exercise does.

    - ``unusable`` says why an answer cannot be tried at all, as the rest of a sentence; empty where it can;
    - ``attempt`` tries it on a case, for so many seconds;
    - ``matches`` tells whether trials look like those of one way of a mutant;
    - ``again`` gives what a case comes to once more, and ``varying`` what to say where that is something else.
    """

    unusable: Callable[[Exercise, Any], str]
    attempt: Callable[[Exercise, Any, Case, float, Printed], Attempt]
    matches: Callable[[Exercise, Any, Sequence[Trial]], bool]
    again: Callable[[Exercise, Any, Case, int], Finding] | None = None
    varying: tuple[str, str] = ("", "")


KINDS: Mapping[Literal["function", "kernel", "values"], Kind] = {
    "function": Kind(function.unusable, function.attempt, function.matches, function.again, function.VARYING),
    "kernel": Kind(kernel.unusable, kernel.attempt, kernel.matches, kernel.again, kernel.VARYING),
    "values": Kind(values.unusable, values.attempt, values.matches),
}
