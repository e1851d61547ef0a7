"""Where the course's own files are: the notebooks, exercises and solutions that were shipped."""

from __future__ import annotations

from pathlib import Path

from convlab.errors import ConvlabError

__all__ = ["lesson", "lessons", "root", "shipped"]

_PACKAGE = Path(__file__).resolve().parent
_PLACES = (_PACKAGE / "course_data", _PACKAGE.parent)  # inside an installed wheel, or a checkout's root


def root() -> Path:
    """The folder that holds ``notebooks/``, ``exercises/`` and ``solutions/``.

    >>> (root() / "notebooks").is_dir()
    True

    Raises ``ConvlabError`` where the package was installed without them.
    """
    for place in _PLACES:
        if (place / "notebooks").is_dir():
            return place
    looked = " and ".join(str(place) for place in _PLACES)
    raise ConvlabError(f"The course's notebooks are missing: looked in {looked}. Install convlab again.")


def shipped(folder: str, at: Path | None = None) -> dict[str, Path]:
    """The files of one shipped folder, each under its path below the course's root.

    >>> all(name.startswith("notebooks/") for name in shipped("notebooks"))
    True

    ``folder`` is ``"notebooks"``, ``"exercises"`` or ``"solutions"``; ``at`` replaces the course's root.
    Hidden files and folders (checkpoints, caches) are left out.
    """
    base = at or root()
    found = {path.relative_to(base): path for path in (base / folder).rglob("*") if path.is_file()}
    return {
        relative.as_posix(): path
        for relative, path in sorted(found.items())
        if not any(part.startswith((".", "__pycache__")) for part in relative.parts)
    }


def lessons(at: Path | None = None) -> dict[str, str]:
    """Each lesson's number and its notebook's path below the course's root.

    >>> all(path.startswith(f"notebooks/{number}_") for number, path in lessons().items())
    True
    """
    names = (name for name in shipped("notebooks", at) if name.endswith(".ipynb"))
    numbered = {Path(name).name.partition("_")[0]: name for name in names}
    return {number: name for number, name in numbered.items() if number.isdigit()}


def lesson(number: str, at: Path | None = None) -> str:
    """The path of one lesson's notebook below the course's root; ``"1"`` and ``"01"`` are the same lesson.

    Raises ``ConvlabError`` for a lesson that does not exist, with those that do.
    """
    known = lessons(at)
    path = known.get(number.zfill(2))
    if path is None:
        raise ConvlabError(f"There is no lesson {number}. The lessons are {', '.join(known)}.")
    return path
