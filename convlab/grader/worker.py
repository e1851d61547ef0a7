"""A worker: the process in which an answer runs, with nothing around it that is worth having.

It is told what to do on its standard input, and answers on what was its standard output. That process may lie: the
grader takes outputs from it, and forms the verdict itself. This module and what it imports are all of convlab that
a Python answer can see.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import IO, Any, NoReturn

import numpy.typing as npt

import convlab
from convlab.grader import wire

__all__ = ["Answers", "main"]

Arrays = Sequence[npt.NDArray[Any]]
Answers = Callable[[Mapping[str, Any], Arrays], tuple[dict[str, Any], list[npt.NDArray[Any]]]]

_MOST = 1 << 30  # bytes of an array that the grader sends
# What a kind of worker does with a request, as the name of its module in this package.
_KINDS = {"python": "python_answer", "cuda": "cuda_answer"}


def main() -> None:
    """Greet, then answer one request after the other until the grader is gone."""
    requests, replies = _streams()
    _without_exercises()
    answers: Answers = import_module(f"convlab.grader.{_KINDS[sys.argv[1]]}").answers_for(partial(_tell, replies))
    wire.write(replies, {"ready": True})
    while True:
        try:
            request, arrays = wire.read(requests, most=_MOST)
        except EOFError:
            os._exit(0)
        try:
            reply, results = answers(request, arrays)
        except Exception:  # a failure of ours, which the grader has to hear of
            reply, results = {"ended": "broken", "sentence": traceback.format_exc()[-2000:]}, []
        # The token, which changes with each request, shows that a reply is the one to this request.
        wire.write(replies, {**reply, "token": request["token"]}, results)


def _tell(replies: IO[bytes], does: str) -> NoReturn:
    """Report what an answer does that is not allowed, and end."""
    wire.write(replies, {"forbidden": does})
    os._exit(1)


def _without_exercises() -> None:
    """Make the checker's package one that brings along nothing but what is asked for: no exercises."""

    package = ModuleType("convlab.checker")
    package.__path__ = [str(Path(convlab.__file__ or "").parent / "checker")]
    sys.modules[package.__name__] = package


def _streams() -> tuple[IO[bytes], IO[bytes]]:
    """The two ends, out of reach of what an answer reads or prints: that goes nowhere."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    return requests, replies


if __name__ == "__main__":
    main()
