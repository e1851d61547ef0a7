"""Measures how much memory a function of Python has at its peak."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

__all__ = ["measured"]


def measured(function: Callable[..., Any]) -> Callable[..., tuple[Any, int]]:
    """A function that also tells how many bytes it had at its peak, beyond those that were there.

    >>> measured(bytearray)(1000)[1] >= 1000
    True
    """

    def call(*arguments: Any) -> tuple[Any, int]:
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            value = function(*arguments)
            return value, tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()

    return call
