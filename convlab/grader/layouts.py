"""Whose a file is, from its path: as Canvas, Moodle, nbgrader and people name what was handed in."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

__all__ = ["Layout", "Owner", "Parts", "layout_of", "owner_of", "unwrapped"]

Parts = tuple[str, ...]  # of a path below the folder of all submissions

_MOODLE = re.compile(r"(?P<student>.+)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)", re.DOTALL)
_CANVAS = re.compile(r"(?P<student>[^_]+)_(?P<late>LATE_)?(?P<id>\d+)_\d{3,}_(?P<file>.+)", re.DOTALL)
_AGAIN = re.compile(r"-(\d{1,3})(?=\.\w+$)|\((\d{1,3})\)(?=\.\w+$)")  # how Canvas and browsers count what comes again


class Owner(NamedTuple):
    """Whose a file is.

    ``lms`` is "canvas" or "moodle", and ``identifier`` the number that it knows the student by, both empty elsewhere;
    ``assignment``, the folder that names it, if any; ``attempt`` counts files of one name; ``late``, whether the LMS
    marked it so.
    """

    student: str
    lms: str = ""
    identifier: str = ""
    assignment: str = ""
    attempt: int = 0
    late: bool = False


class Layout(NamedTuple):
    """One way to name what was handed in; ``owner`` gives ``None`` for a path that is named in another."""

    name: str
    sentence: str
    owner: Callable[[Parts, Collection[str]], Owner | None]


def _moodle(parts: Parts, notebooks: Collection[str]) -> Owner | None:
    found = next((match for part in parts if (match := _MOODLE.fullmatch(part))), None)
    return Owner(found["student"], "moodle", found["id"], attempt=_attempt(parts[-1])) if found else None


def _canvas(parts: Parts, notebooks: Collection[str]) -> Owner | None:
    found = _CANVAS.fullmatch(parts[-1])
    if not found:
        return None
    return Owner(found["student"], "canvas", found["id"], attempt=_attempt(parts[-1]), late=bool(found["late"]))


def _folders(parts: Parts, notebooks: Collection[str]) -> Owner | None:
    if len(parts) < 2:
        return None
    student, assignment = (parts[-2], "") if len(parts) == 2 else (parts[-3], parts[-2])
    return Owner(student, assignment=assignment, attempt=_attempt(parts[-1]))


def _flat(parts: Parts, notebooks: Collection[str]) -> Owner | None:
    stem = parts[-1].partition(".ipynb")[0] or parts[-1]
    for notebook in notebooks:
        if notebook in stem:
            stem = stem.replace(notebook, "").strip(" _-.") or stem
            break
    return Owner(stem)


# In this order: an LMS's names are telling, folders less so, and a bare file always has an owner.
_LAYOUTS = (
    Layout("moodle", "named as Moodle names them", _moodle),
    Layout("canvas", "named as Canvas names them", _canvas),
    Layout("folders", "in folders of students", _folders),
    Layout("flat", "one file for each student", _flat),
)


def _attempt(name: str) -> int:
    found = _AGAIN.search(name)
    return int(found[1] or found[2]) if found else 0


def layout_of(paths: Sequence[Parts], notebooks: Collection[str]) -> Layout:
    """Find the layout of most paths; what does not fit into it is a file or a folder of its own.

    >>> layout_of([("lovelaceada_17_1843_01_loops.ipynb",)], ["01_loops"]).name
    'canvas'
    """

    def fits(layout: Layout) -> bool:
        return 2 * sum(layout.owner(path, notebooks) is not None for path in paths) > len(paths)

    return next(filter(fits, _LAYOUTS), _LAYOUTS[-1])


def owner_of(parts: Parts, layout: Layout, notebooks: Collection[str]) -> Owner:
    """The owner of a path: by the layout that most others have, else by its folders, else by its name."""
    owners = (each.owner(parts, notebooks) for each in (layout, *_LAYOUTS[2:]))
    return next(owner for owner in owners if owner)


def unwrapped(paths: Sequence[Parts], notebooks: Collection[str]) -> list[Parts]:
    """Take away a folder that only holds all others, as a zip often has it.

    >>> unwrapped([("week1", "ada", "01_loops.ipynb"), ("week1", "bob", "01_loops.ipynb")], ["01_loops"])
    [('ada', '01_loops.ipynb'), ('bob', '01_loops.ipynb')]
    >>> unwrapped([("ada", "01_loops", "01_loops.ipynb")], ["01_loops"])
    [('ada', '01_loops', '01_loops.ipynb')]
    """
    if len({path[0] for path in paths}) != 1 or any(len(path) < 2 for path in paths) or _MOODLE.fullmatch(paths[0][0]):
        return list(paths)
    below = {path[1].partition(".ipynb")[0] for path in paths}
    if len(below) < 2 or below & {*notebooks}:
        return list(paths)
    return unwrapped([path[1:] for path in paths], notebooks)
