"""The hidden seed that the data of all checks is made from, kept in a file that others cannot read."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from convlab.errors import ConvlabError

__all__ = ["Seed", "SeedFileError", "seed_from"]


class SeedFileError(ConvlabError, ValueError):
    """A seed file that holds no seed."""


@dataclass(frozen=True)
class Seed:
    """The seed, and an id of it that may be shown: it tells two seeds apart and does not lead back to either."""

    value: int
    id: str


def seed_from(path: Path) -> Seed:
    """Read the seed of a file that only its owner may read; where there is none, make one.

    Raises ``SeedFileError`` for a file that holds anything but a whole number.
    """
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
        text = file.read(1000).decode("ascii", "replace").strip()
        if not text:  # new, or made by a run that was killed before it could write
            text = str(secrets.randbits(128))
            file.write(text.encode() + b"\n")
    with suppress(OSError):  # somebody else's file, which can be read all the same
        path.chmod(0o600)
    if not re.fullmatch(r"\d{1,100}", text):
        raise SeedFileError(
            f"{path} holds no seed.\n  Fix: write one whole number into it, or give a name that does not exist yet."
        )
    return Seed(int(text), hashlib.sha256(f"seed {int(text)}".encode()).hexdigest()[:8])
