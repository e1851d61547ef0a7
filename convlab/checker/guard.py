"""Calls a learner's function so that whatever it does ends in an outcome that one sentence can tell.

The function runs in a thread of its own while the caller waits. That works alike in a Jupyter kernel and in a
script, on every system, from any thread, and keeps the stop button alive. At the time limit an exception is
thrown into the thread; Python code ends at its next instruction, a call that sleeps inside C when it returns.
This protects a learner from an accident, not a mark from a cheat: grading in bulk isolates processes.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import linecache
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, Literal

from convlab.errors import KernelFault

__all__ = ["Outcome", "Printed", "call", "call_here", "class_of", "in_one_line"]

_POLL = 0.05  # seconds between two looks at the thread
_GRACE = 0.5  # seconds that a stopped answer has to leave
_CHECKER = os.path.join(os.path.dirname(__file__), "")


@dataclass(frozen=True)
class Outcome:
    """How a call ended: with a value, or with the rest of a sentence that says why there is none.

    ``error`` is the name of the exception's class; "unwritten" is an answer that raises NotImplementedError.
    """

    ended: Literal["returned", "raised", "unwritten", "timeout"]
    value: Any = None
    sentence: str = ""
    error: str = ""


class Printed(io.TextIOBase):
    """Keeps the first characters that are printed and counts the others.

    >>> log = Printed(limit=5)
    >>> log.write("a long story"), log.text, log.omitted
    (12, 'a lon', 7)
    """

    def __init__(self, limit: int = 2000) -> None:
        super().__init__()
        self.text = ""
        self.omitted = 0
        self._limit = limit

    def writable(self) -> bool:
        """Tell ``print`` that it may write here."""
        return True

    def write(self, text: str) -> int:
        """Keep what fits, count the rest."""
        kept = text[: self._limit - len(self.text)]
        self.text += kept
        self.omitted += len(text) - len(kept)
        return len(text)


def call(function: Callable[..., Any], arguments: Sequence[Any], seconds: float, log: Printed) -> Outcome:
    """Call a function, for a limited time, with its printing caught.

    >>> call(divmod, (7, 2), seconds=5, log=Printed()).value
    (3, 1)
    >>> call(divmod, (7, 0), seconds=5, log=Printed()).sentence
    'raised ZeroDivisionError: integer division or modulo by zero'

    Parameters: ``function`` and its positional ``arguments``; the limit in ``seconds``; ``log`` receives
    standard output and standard error. An interrupt (Ctrl-C, the stop button) stops the function and is
    raised here.
    """
    answer = _Answer(function, arguments)
    with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
        try:
            answer.start()
            answer.wait(seconds)
            frame = sys._current_frames().get(answer.ident or 0)
            late = frame is not None and not answer.ended.is_set()
            place = _place(reversed(list(traceback.walk_stack(frame)))) if late else ""
        finally:
            answer.stop()
    return _late(seconds, place, answer.ended.is_set()) if late else answer.outcome


def call_here(function: Callable[..., Any], arguments: Sequence[Any]) -> Outcome:
    """Call a function in this thread, for as long as it takes: for whoever limits the whole process.

    >>> call_here(divmod, (7, 2)).value
    (3, 1)
    """
    try:
        return Outcome("returned", function(*arguments))
    except BaseException as error:
        return _raised(error)


class _StoppedError(BaseException):
    """Thrown into an answer at the time limit; no ``except Exception`` of the learner's catches it."""


class _Answer(threading.Thread):
    """The thread that an answer runs in; a daemon, so that one which cannot be stopped ends with the program."""

    outcome: Outcome

    def __init__(self, function: Callable[..., Any], arguments: Sequence[Any]) -> None:
        super().__init__(name="answer", daemon=True)
        # Not join() and is_alive(): when an interrupt hits join(), Python 3.11 takes the thread for ended.
        self.ended = threading.Event()
        self._function = function
        self._arguments = arguments
        self._wanted = True

    def run(self) -> None:
        with contextlib.suppress(_StoppedError):  # one that comes too late has nothing left to stop
            try:
                if self._wanted:
                    self.outcome = call_here(self._function, self._arguments)
            except BaseException as error:  # one that was thrown in when the function had ended
                self.outcome = _raised(error)
            finally:
                self.ended.set()

    def wait(self, seconds: float) -> None:
        """Wait for the end in short steps, so that an interrupt of the caller is heard on every system."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not self.ended.wait(min(left, _POLL)):
            pass

    def stop(self) -> None:
        """Throw into the thread until it ends, since an answer may catch even what it should not."""
        self._wanted = False  # an interrupt may come while the thread is only just starting
        deadline = time.monotonic() + _GRACE
        while time.monotonic() < deadline and not self.ended.is_set():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident or 0), ctypes.py_object(_StoppedError))
            self.ended.wait(_POLL)


def in_one_line(thing: object, limit: int = 200) -> str:
    """Give the text of anything at all, on one line and clipped.

    >>> in_one_line("one\\n  two"), in_one_line("abcdef", limit=3)
    ('one two', 'abc…')
    """
    try:
        text = " ".join(str(thing).split())
    except BaseException:  # a learner's class may fail in its own __str__, and in any way
        text = ""
    return text if len(text) <= limit else text[:limit] + "…"


def class_of(thing: object) -> str:
    """Give the name of a thing's class, whatever the class itself says when asked.

    >>> class_of(3), class_of(len)
    ('int', 'builtin_function_or_method')
    """
    return in_one_line(type.__dict__["__name__"].__get__(type(thing)), limit=60)


def _late(seconds: float, place: str, stopped: bool) -> Outcome:
    stuck = "" if stopped else "; it cannot be interrupted there: restart the kernel"
    return Outcome("timeout", sentence=f"was stopped after {round(seconds, 1):g} seconds{place}{stuck}")


def _raised(error: BaseException) -> Outcome:
    """Put an exception into words and let go of it, since its traceback holds the learner's frames."""
    text, name = in_one_line(error.fact if type(error) is KernelFault else error).rstrip("."), class_of(error)
    place = _place(traceback.walk_tb(error.__traceback__))
    ended: Literal["unwritten", "raised"] = "unwritten" if isinstance(error, NotImplementedError) else "raised"
    return Outcome(ended, sentence=f"raised {name}{text and ': '}{text}{place}", error=name)


def _place(stack: Iterable[tuple[FrameType, int]]) -> str:
    """Say in which line of the learner's file a stack, outermost frame first, came to a stop.

    That file is the first below this one that is none of the checker's: a kind of exercise may wrap the function.
    """
    places = [(frame.f_code.co_filename, line) for frame, line in stack]
    files = [file for file, _ in places]
    if __file__ not in files[:-1]:
        return ""
    below = [place for place in places[files.index(__file__) + 1 :] if not place[0].startswith(_CHECKER)]
    if not below:
        return ""
    file, line = [place for place in below if place[0] == below[0][0]][-1]
    source = linecache.getline(file, line).strip()
    return f" in line {line}{source and f', `{source}`'}"
