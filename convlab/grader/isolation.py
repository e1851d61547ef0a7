"""What keeps an answer from the machine that grades it: found by trying, and named in every report."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Isolation", "Limits", "best"]


@dataclass(frozen=True)
class Limits:
    """What an answer may use.

    - ``slowness``: how much more time than its record says, on a machine that does other things as well;
    - ``memory``: bytes of address space of a Python answer; ``scratch``: bytes that it may write to files;
    - ``reply``: bytes of one result.
    """

    slowness: float = 2.0
    memory: int = 1 << 30
    scratch: int = 16 << 20
    reply: int = 32 << 20


@dataclass(frozen=True)
class Isolation:
    """A level of isolation: its ``name``, and the ``sentence`` that stands in reports."""

    name: str
    sentence: str


PLAIN = Isolation("plain", "No isolation: answers run as plain processes, with the rights of whoever grades.")


def best(allow_plain: bool = False) -> Isolation:
    """The strongest isolation that works on this machine."""
    return PLAIN
