"""The results of a batch on disk: one JSON file for each submission, whole or not there at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["Results", "write_whole"]

_BEGUN = ".begun"  # the ending of a file that is being written


def write_whole(path: Path, text: str) -> None:
    """Write a file so that whoever looks, even after a power cut, finds the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    begun = path.with_name(f".{path.name}{_BEGUN}")
    with begun.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(begun, path)


class Results:
    """The folder of the results, and which of them still stand.

    A result stands while its ``fingerprint`` is the one that is wanted: the same bytes, seed, check and isolation.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(f".*{_BEGUN}"):  # of a run that was killed
            left.unlink(missing_ok=True)

    def standing(self, key: str, fingerprint: str) -> dict[str, Any] | None:
        """The result of a submission, if there is one that stands."""
        try:
            found = json.loads(self._path(key).read_bytes())
        except (OSError, ValueError):
            return None
        stands = isinstance(found, dict) and found.get("fingerprint") == fingerprint
        return found if stands else None

    def keep(self, key: str, result: Mapping[str, Any]) -> None:
        """Write a result down."""
        write_whole(self._path(key), json.dumps(result, indent=1, sort_keys=True, ensure_ascii=False) + "\n")

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"
