"""Reads what a worker says of a Python answer as something that may be a lie, and makes things of the grader's own."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from convlab.checker.guard import Outcome
from convlab.grader import wire
from convlab.grader.text import clipped, one_line, plain

__all__ = ["Called", "NonsenseError", "called", "outcome", "stand_in"]

_KINDS: tuple[Any, ...] = (bool, int, float, *np.sctypeDict.values())
_ENDED: Mapping[str, Literal["returned", "raised", "unwritten"]] = {
    "returned": "returned",
    "raised": "raised",
    "unwritten": "unwritten",
}
_NUMBERS: Mapping[str, Any] = {kind.__name__: kind for kind in _KINDS}
_PARAMETERS = 100
_MOST = 1 << 62  # elements that a shape may stand for


class NonsenseError(Exception):
    """A reply that the worker's own code would not have given."""


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise NonsenseError(repr(error)) from None


@dataclass(frozen=True)
class Called:
    """What a call came to, as its own process says."""

    outcome: Outcome
    changed: int | None
    memory: float
    printed: str
    omitted: int


def outcome(header: Mapping[str, Any], value: Any = None) -> Outcome:
    """How something ended; raises ``NonsenseError``."""
    with _reading():
        sentence, error = one_line(_text(header["sentence"])), one_line(_text(header["error"]), 60)
        return Outcome(_ENDED[header["ended"]], value, sentence, error)


def called(frame: wire.Frame) -> Called:
    """What a call came to; raises ``NonsenseError``."""
    header, arrays = frame
    with _reading():
        changed = [int(place) for place in header["changed"]]
        return Called(
            outcome(header, _result(header["result"], arrays)),
            changed[0] if changed else None,
            float(header["memory"]),
            clipped(plain(_text(header["printed"])), 2000),
            max(0, int(header["omitted"])),
        )


def _result(about: Mapping[str, Any], arrays: list[Any]) -> Any:
    """What was returned: numbers are themselves, and anything else is a thing of that type's name."""
    name = _text(about["type"])
    if name == "NoneType":
        return None
    if "dtype" not in about:
        return _thing(name)
    if arrays and (about["array"] or arrays[0].ndim):
        return arrays[0]
    if arrays:
        return _NUMBERS.get(name, float)(arrays[0][()])
    shape = tuple(int(length) for length in about["shape"])
    if len(shape) > 32 or any(length < 0 for length in shape) or math.prod(shape) > _MOST:
        raise NonsenseError("a shape")
    return np.broadcast_to(np.zeros((), _dtype(_text(about["dtype"]))), shape)  # takes no memory


def _dtype(name: str) -> np.dtype[Any]:
    """A type by its name; of what holds no numbers, the type that holds anything."""
    kind = np.sctypeDict.get(name)
    return np.dtype(kind) if kind is not None else np.dtype(object)


def stand_in(header: Mapping[str, Any]) -> Any:
    """Something that is to the checker what the answer was: callable or not, with its parameters, or its values.

    Raises ``NonsenseError``.
    """
    with _reading():
        about = header["answer"]
        if "values" in about:
            return {_text(name): _value(value) for name, value in about["values"].items()}
        if not about["callable"]:
            return _thing(_text(about["type"]))
        return _function(about["parameters"])


def _value(about: Mapping[str, Any]) -> Any:
    name = _text(about["type"])
    if "number" in about:
        number = float(about["number"])
        return int(number) if name == "int" and math.isfinite(number) else number
    if "word" in about:
        return plain(_text(about["word"]))
    return {"NoneType": None, "ellipsis": ...}.get(name, _thing(name))


def _function(parameters: list[Any] | None) -> Any:
    def function(*_: Any) -> None:
        raise NotImplementedError

    if parameters is None:
        return function
    kinds = list(inspect._ParameterKind)
    made = [
        inspect.Parameter(name, kinds[int(kind)], default=None if optional else inspect.Parameter.empty)
        for name, kind, optional in parameters[:_PARAMETERS]
    ]
    function.__signature__ = inspect.Signature(made)  # type: ignore[attr-defined]  # functions may have one
    return function


def _thing(name: str) -> Any:
    """Something of which nothing is known but the name of its type."""
    return type(one_line(name, 60) or "object", (), {})()


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError("no text")
    return value
