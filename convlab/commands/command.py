"""What a sub-command of ``convlab`` is, and what several of them share."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Command", "count", "fail"]


@dataclass(frozen=True)
class Command:
    """One sub-command; ``run`` gets the parsed options and the arguments that the parser does not know."""

    name: str
    summary: str
    example: str
    options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, list[str]], int]
    forwards: bool = False  # whether unknown options go on to another program


def fail(message: str) -> int:
    """Say what went wrong, and give the exit code for it."""
    print(f"convlab: {message}", file=sys.stderr)
    return 2


def count(text: str) -> int:
    """Read an option that is a whole number.

    >>> count("12")
    12
    """
    if not re.fullmatch(r"\d{1,18}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)
