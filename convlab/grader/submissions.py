"""Finds what was handed in: a notebook, a folder of them, or an LMS's zip, which is read and never unpacked.

Nothing in here follows a link, writes a file, or holds a file in memory: a submission knows where its bytes are.
"""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

from convlab.errors import ConvlabError
from convlab.grader.layouts import Owner, Parts, layout_of, owner_of, unwrapped
from convlab.grader.stamps import parse_time

__all__ = ["File", "Found", "Submission", "SubmissionsError", "collect"]

_MOST_FILES = 50_000
_NOTEBOOK = (".ipynb", ".ipynb.txt", ".ipynb.json")  # as browsers save them, too
_STAMP = "timestamp.txt"  # nbgrader notes in it when something was handed in


class SubmissionsError(ConvlabError, ValueError):
    """A folder or zip of submissions that cannot be read."""


@dataclass(frozen=True)
class File:
    """A file on disk, or in a zip on disk; ``problem`` says why it is not opened, as the rest of a sentence."""

    path: Path
    member: zipfile.ZipInfo | None = None
    problem: str = ""

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Open the file for reading."""
        if self.member is not None:
            with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as stream:
                yield stream
        else:
            # For a file that has become a link or a pipe since it was found; Windows knows neither flag.
            flags = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
            with os.fdopen(os.open(self.path, flags), "rb") as stream:
                yield stream


@dataclass(frozen=True)
class Submission:
    """One file that was handed in, its owner, and when, where that is known.

    ``name`` is its path below the folder of all submissions; ``submitted`` is aware of its time zone.
    """

    owner: Owner
    name: str
    file: File
    submitted: datetime | None = None


@dataclass(frozen=True)
class Found:
    """All submissions, in the order of their names, and in words how they were named."""

    submissions: tuple[Submission, ...]
    layout: str
    sentence: str


def collect(path: Path, notebooks: Collection[str]) -> Found:
    """Find the submissions in a folder or a zip, or take one notebook as such.

    Parameters: ``path``; ``notebooks``, the names that an assignment's notebook may have, without endings. A student
    who handed in other things and no notebook is found as well. Raises ``SubmissionsError`` where there is nothing to
    grade.
    """
    files = _files(path)
    if not any(parts[-1] != _STAMP for parts in files):
        raise SubmissionsError(
            f"there is nothing to grade in {path}.\n  Fix: give a notebook, a folder of them, or a zip."
        )
    short = dict(zip(files, unwrapped(list(files), notebooks), strict=True))
    layout = layout_of([parts for parts in short.values() if _is_notebook(parts)] or [*short.values()], notebooks)
    owners = {parts: owner_of(short[parts], layout, notebooks) for parts in files}
    chosen = _worth_grading(short, owners, flat=layout.name == "flat")
    stamps = {parts[:-1]: _submitted(file) for parts, file in files.items() if parts[-1] == _STAMP}
    found = (Submission(owners[parts], "/".join(parts), files[parts], stamps.get(parts[:-1])) for parts in chosen)
    return Found(tuple(sorted(found, key=lambda each: each.name)), layout.name, layout.sentence)


def _worth_grading(short: Mapping[Parts, Parts], owners: Mapping[Parts, Owner], flat: bool) -> list[Parts]:
    """The notebooks, and one file of each owner who handed in none; loose files of no owner are no submissions."""
    chosen = [parts for parts in short if _is_notebook(parts)]
    served = {owners[parts][:4] for parts in chosen}
    for parts in sorted(short):
        loose = flat or (len(short[parts]) == 1 and not owners[parts].identifier)
        if owners[parts][:4] not in served and parts[-1] != _STAMP and not loose:
            served.add(owners[parts][:4])
            chosen.append(parts)
    return chosen


def _is_notebook(parts: Parts) -> bool:
    return parts[-1].lower().endswith(_NOTEBOOK)


def _files(path: Path) -> dict[Parts, File]:
    """All files, by the parts of their paths; links among them, marked as what they are."""
    if path.is_dir():
        pairs = _on_disk(path)
    elif zipfile.is_zipfile(path):
        pairs = _in_zip(path)
    elif path.is_file():
        pairs = iter([((path.name,), File(path))])
    else:
        raise SubmissionsError(f"there is no {path}.\n  Fix: give a notebook, a folder of them, or a zip.")
    files: dict[Parts, File] = {}
    for parts, file in pairs:
        if not any(part.startswith((".", "__MACOSX", "._")) for part in parts):
            files[parts] = file
        if len(files) > _MOST_FILES:
            raise SubmissionsError(
                f"{path} holds more than {_MOST_FILES} files.\n  Fix: give a folder with less in it."
            )
    return files


def _on_disk(folder: Path) -> Iterator[tuple[Parts, File]]:
    for base, names, files in os.walk(folder):
        names.sort()
        links = [name for name in names if os.path.islink(os.path.join(base, name))]  # os.walk does not enter them
        for name in sorted(files) + links:
            path = Path(base, name)
            yield path.relative_to(folder).parts, File(path, problem=_unfit(path))


def _unfit(path: Path) -> str:
    """Why a path is not opened; what it leads to is not looked at."""
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return "is a link, and links are not followed"
    return "" if stat.S_ISREG(mode) else "is no ordinary file"


def _in_zip(path: Path) -> Iterator[tuple[Parts, File]]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise SubmissionsError(f"{path} cannot be read: {error}.\n  Fix: download it again.") from None
    for member in members:
        # Names that lead out of the zip do no harm, as nothing is unpacked; they are only shown.
        parts = tuple(part for part in _name(member).replace("\\", "/").split("/") if part not in ("", ".", ".."))
        if parts and not member.is_dir():
            yield parts, File(path, member, _unfit_member(member))


def _name(member: zipfile.ZipInfo) -> str:
    """A member's name; zips made on Windows often hold UTF-8 or Chinese letters without saying so."""
    if member.flag_bits & 0x800 or member.filename.isascii():
        return member.filename
    raw = member.filename.encode("cp437", "replace")
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return member.filename


def _unfit_member(member: zipfile.ZipInfo) -> str:
    if stat.S_ISLNK(member.external_attr >> 16):
        return "is a link, and links are not followed"
    return "is encrypted" if member.flag_bits & 0x1 else ""


def _submitted(file: File) -> datetime | None:
    if file.problem:
        return None
    with file.opened() as stream:
        return parse_time(stream.read(100).decode("utf-8", "replace"))
