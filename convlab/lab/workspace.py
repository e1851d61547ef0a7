"""The learner's working copy of the notebooks: updates add to it, and never overwrite the learner's work."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from convlab import course
from convlab.errors import ConvlabError
from convlab.lab.folders import Probe, is_writable

__all__ = ["FOLDER", "HIDDEN", "choose", "fingerprint", "refresh"]

FOLDER = "my-convlab"
HIDDEN = ".convlab"  # holds what the learner never needs to see
_COPIED = ("notebooks", "exercises")
_CELL_KEYS = ("cell_type", "source", "attachments", "outputs")


def choose(asked: str | None, cwd: Path, home: Path, probe: Probe = is_writable) -> tuple[Path, str]:
    """The folder of the working copy, and a sentence for the learner where it is not the usual one.

    >>> choose(None, Path("/course"), Path("/home/ada"), probe=lambda folder: True)[1]
    ''

    Without ``asked`` it is ``my-convlab`` in ``cwd``, else in ``home``, else in the temporary folder.
    Raises ``ConvlabError`` for an asked folder that cannot be written.
    """
    if asked is not None:
        folder = Path(os.path.abspath(os.path.expanduser(asked)))
        if not probe(folder):
            raise ConvlabError(f"The folder {folder} cannot be written. Name another one with --folder.")
        return folder, ""
    if probe(cwd / FOLDER):
        return cwd / FOLDER, ""
    if probe(home / FOLDER):
        return home / FOLDER, f"{cwd} cannot be written, so your notebooks are in {home / FOLDER}."
    folder = _in_temporary_folder()
    return folder, (
        f"Neither {cwd} nor your home folder can be written, so your notebooks are in {folder}, "
        "which the system may empty: name a lasting place with --folder."
    )


def _in_temporary_folder() -> Path:
    """The same folder at every start, unless somebody else on this machine made it first."""
    folder = Path(tempfile.gettempdir()) / f"{FOLDER}-{os.getuid() if hasattr(os, 'getuid') else 0}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "getuid") and (folder.is_symlink() or folder.stat().st_uid != os.getuid()):
        return Path(tempfile.mkdtemp(prefix=f"{FOLDER}-"))
    return folder


def fingerprint(content: bytes, name: str) -> str:
    """A hash of what a person can have put into a file.

    >>> fingerprint(b"x = 1", "a.py") == fingerprint(b"x = 2", "a.py")
    False

    Of a notebook only the cells' types, sources, attachments and outputs count: JupyterLab rewrites the rest
    when it saves, and a notebook that was merely opened is not a changed one.
    """
    if name.endswith(".ipynb"):
        try:
            cells = json.loads(content)["cells"]
            kept = [{key: _text(cell.get(key)) for key in _CELL_KEYS} for cell in cells]
            content = json.dumps(kept, sort_keys=True).encode()
        except (ValueError, KeyError, TypeError, AttributeError):
            pass  # not a notebook that can be read: its bytes count
    return hashlib.sha256(content).hexdigest()


def _text(value: object) -> object:
    """One form of what notebooks write in two: a string or its lines, nothing or an empty list."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(value) or None
    return value or None


def refresh(folder: Path, shipped_at: Path | None = None) -> list[str]:
    """Bring the working copy in ``folder`` up to date, and return one sentence for each changed file kept.

    A file that is missing is copied; one that is as it was shipped is replaced by what is shipped now; one
    that the learner changed stays, and a newer shipped version goes beside it. The record of what was shipped
    is written last, so that an interrupted start is made good by the next one.
    """
    record = _read_record(folder / HIDDEN / "shipped.json")
    sentences = []
    for part in _COPIED:
        for name, source in course.shipped(part, shipped_at).items():
            content = source.read_bytes()
            now = fingerprint(content, name)
            place = _place(folder, name, now, record)
            if place is not None:
                _write(folder / place, content)
                record[place] = now
            if place not in (None, name):
                sentences.append(f"{name} has a new version. Yours is kept; the new one is {place}.")
            record[name] = now
    _write(folder / HIDDEN / "shipped.json", json.dumps(record, indent=1).encode())
    return sentences


def _place(folder: Path, name: str, now: str, record: dict[str, str]) -> str | None:
    """Where in ``folder`` a shipped file goes: to its own name or beside it, and nowhere if it is known."""
    mine = _on_disk(folder / name)
    if mine is not None and now in (mine, record.get(name)):
        return None
    # Free, holding it already, or still as it was shipped: everything else is the learner's.
    return next(path for path in _names(name) if _on_disk(folder / path) in (None, now, record.get(path)))


def _names(name: str) -> Iterator[str]:
    """``01.ipynb``, ``01.new.ipynb``, ``01.new2.ipynb``, and so on."""
    stem, dot, ending = name.rpartition(".")
    yield name
    for number in itertools.count(1):
        yield f"{stem}.new{number if number > 1 else ''}{dot}{ending}"


def _on_disk(path: Path) -> str | None:
    return fingerprint(path.read_bytes(), path.name) if path.exists() else None


def _read_record(record: Path) -> dict[str, str]:
    """The fingerprint of each file as it was last shipped; nothing where there is no readable record."""
    try:
        known = json.loads(record.read_bytes())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _write(target: Path, content: bytes) -> None:
    """Write a whole file or nothing: a start that is interrupted never leaves half a notebook."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
