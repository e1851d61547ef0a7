"""Numbers as callers pass them, checked; a wrong one is answered with the fact, the whole call, and the fix."""

from __future__ import annotations

import math
import operator
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex

import numpy as np

__all__ = [
    "LIMIT",
    "Pair",
    "PairLike",
    "UnfitError",
    "call_text",
    "check_counts",
    "check_groups",
    "check_kind",
    "integer",
    "integers",
    "named_shape",
    "options_text",
    "paddings",
    "pair_text",
    "shown",
]

Pair = tuple[int, int]
PairLike = SupportsIndex | Sequence[SupportsIndex]

LIMIT = 2**63 - 1  # the largest index that 64 bits hold, here and in a kernel


def pair_text(pair: Pair) -> str:
    """Give a pair of equal numbers as one, others as 2×1."""
    return str(pair[0]) if pair[0] == pair[1] else f"{pair[0]}×{pair[1]}"


def options_text(spec: Any) -> str:
    """Give how a filter moves, as a list: stride and padding, and the rest where it is not the usual."""
    top, bottom, left, right = spec.padding
    output_padding = getattr(spec, "output_padding", (0, 0))
    parts = [
        f"stride {pair_text(spec.stride)}",
        f"padding {pair_text((top, left)) if (top, left) == (bottom, right) else spec.padding}",
        *([f"output padding {pair_text(output_padding)}"] if output_padding != (0, 0) else []),
        *([f"dilation {pair_text(spec.dilation)}"] if spec.dilation != (1, 1) else []),
        *([f"groups {spec.groups}"] if spec.groups != 1 else []),
    ]
    return ", ".join(parts)


class UnfitError(Exception):
    """A fact and its fix; whoever knows the whole spec adds it and raises ``ValueError``."""

    def __init__(self, fact: str, fix: str) -> None:
        super().__init__(fact)
        self.fact = fact
        self.fix = fix

    def within(self, context: str) -> ValueError:
        """Give the error that the caller shall see."""
        return ValueError(f"{self.fact}.\n  In: {context}\n  Fix: {self.fix}.")


class _Printer(reprlib.Repr):
    """Prints whatever a caller passed, at a bearable length; Python itself refuses very long integers."""

    def repr_int(self, x: int, level: int) -> str:
        return repr(x) if x.bit_length() <= 256 else f"<integer of {x.bit_length()} bits>"

    def repr_ConvSpec(self, x: object, level: int) -> str:  # noqa: N802 - reprlib goes by the type's name
        return repr(x)


shown = _Printer().repr


def call_text(name: str, given: Mapping[str, object]) -> str:
    """Give a call as it was written, to stand as context in an error."""
    return f"{name}({', '.join(f'{key}={shown(value)}' for key, value in given.items())})"


def integer(name: str, value: Any, least: int) -> int:
    """Check one whole number."""
    fix = f"Give {name} a whole number, at least {least}"
    if isinstance(value, bool | np.bool_):
        raise UnfitError(f"{name}={value} is a bool, not a number", fix)
    try:
        number = operator.index(value)
    except TypeError:
        raise UnfitError(f"{name}={shown(value)} is not an integer", fix) from None
    if number < least:
        raise UnfitError(f"{name}={shown(number)} is less than {least}", fix)
    if number > LIMIT:
        raise UnfitError(f"{name}={shown(number)} is beyond 2^63 − 1", f"Give {name} a smaller number")
    return number


def integers(name: str, value: Any, least: int, lengths: tuple[int, ...]) -> tuple[int, ...]:
    """Check one number, or a sequence of one of the lengths; one number stands for a pair."""
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        return (integer(name, value, least),) * 2
    if len(value) not in lengths:
        wanted = " or ".join(map(str, lengths))
        fix = f"Give {name} as one number, or as {wanted}"
        raise UnfitError(f"{name}={shown(value)} has {len(value)} numbers", fix)
    return tuple(integer(f"{name}[{i}]", number, least) for i, number in enumerate(value))


def paddings(value: Any) -> tuple[int, ...]:
    """Check padding given as numbers: one, a pair, or (top, bottom, left, right), which is what it becomes."""
    numbers = integers("padding", value, least=0, lengths=(2, 4))
    return numbers if len(numbers) == 4 else (numbers[0], numbers[0], numbers[1], numbers[1])


def check_kind(name: str, value: object, kind: type) -> None:
    """Check that an argument is made of another spec, or a bool."""
    if not isinstance(value, kind):
        raise UnfitError(f"{name}={shown(value)} is not a {kind.__name__}", f"Give {name} a {kind.__name__}")


def check_groups(c: int, k: int, groups: int) -> None:
    """Check that groups divide the channels of the input and the filters."""
    for name, count in (("c", c), ("k", k)):
        if count % groups:
            fix = f"Choose groups that divide c={c} and k={k}, at most {math.gcd(c, k)}"
            raise UnfitError(f"{name}={count} is not divisible by groups={groups}", fix)


def check_counts(counts: Mapping[str, int]) -> None:
    """Check that 64 bits hold each count; its name is a sentence with a place for it."""
    for fact, count in counts.items():
        if count > LIMIT:
            raise UnfitError(f"{fact.format(count)}, beyond 2^63 − 1", "Use smaller sizes")


def named_shape(name: str, shape: Sequence[SupportsIndex], letters: tuple[str, ...]) -> tuple[int, ...]:
    """Check the sizes of an array's axes."""
    axes = f"({', '.join(letters)})"
    if not isinstance(shape, Sequence) or len(shape) != len(letters):
        count = {2: "two", 4: "four"}[len(letters)]
        raise UnfitError(f"{name} has shape {shown(shape)}, but it needs {axes}", f"Give {name} {count} axes")
    names = [f"{name}.shape[{i}] ({letter})" for i, letter in enumerate(letters)]
    return tuple(integer(axis, size, least=1) for axis, size in zip(names, shape, strict=True))
