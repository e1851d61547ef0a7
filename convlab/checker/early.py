"""Shows what is known of a verdict while the likely misconception is still being looked for."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from convlab.checker.guard import in_one_line
from convlab.checker.verdict import Verdict

__all__ = ["Show", "early"]

Show = Callable[[Verdict], object]

_LOOKING = "looking for the mistake that gives the same result …"
_NOTHING = {"text/plain": "", "text/html": ""}


@contextmanager
def early() -> Iterator[Show]:
    """Give a function that shows a verdict until the end of the block: its place is then for the whole one.

    A notebook shows the box, a terminal one line on standard error; where there is neither, nothing is shown.
    """
    with _WAYS[_place()]() as show:
        yield lambda verdict: show(replace(verdict, misconception=_LOOKING))


def _place() -> str:
    shell: Any = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if getattr(shell, "kernel", None) is not None:
        return "notebook"
    return "terminal" if sys.stderr is not None and sys.stderr.isatty() else "nowhere"


@contextmanager
def _notebook() -> Iterator[Show]:
    from IPython import display

    draw: Any = display.display
    handles: list[Any] = []
    try:
        yield lambda verdict: handles.append(draw(verdict, display_id=True))
    finally:
        for handle in handles:
            handle.update(_NOTHING, raw=True)


@contextmanager
def _terminal() -> Iterator[Show]:
    width = shutil.get_terminal_size().columns - 2
    told: list[Verdict] = []

    def say(text: str) -> None:
        print(text, end="\r", file=sys.stderr, flush=True)

    def show(verdict: Verdict) -> None:
        told.append(verdict)
        say(in_one_line(verdict.message, width))

    try:
        yield show
    finally:
        if told:
            say(" " * (width + 1))  # as many as the text, with its three dots in one, had at most


@contextmanager
def _nowhere() -> Iterator[Show]:
    yield lambda verdict: None


_WAYS = {"notebook": _notebook, "terminal": _terminal, "nowhere": _nowhere}
