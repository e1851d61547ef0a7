"""The names of variables as the source has them: C++ adds lengths and scopes."""

from __future__ import annotations

import re

__all__ = ["readable"]

LONGEST = 80  # characters of a name in a message


def readable(name: str) -> str:
    """The plain name of a variable.

    >>> readable("_ZZ6kernelPfE4tile"), readable("table"), readable("_ZN4conv6kernelE"), readable("_ZL5count")
    ('tile', 'table', 'kernel', 'count')
    """
    name = name.split("#", maxsplit=1)[0]
    if not name.startswith("_Z"):
        return _short(name)
    found, at = "", 0
    while (match := re.search(r"\d+", name[at:])) is not None:
        end = at + match.end() + int(match[0])
        if end > len(name):
            break
        found, at = name[at + match.end() : end], end
    return _short(found or name)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}…"
