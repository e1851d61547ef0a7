"""User ids for workers: each worker that runs has one of its own, on the whole machine."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["FIRST", "SLOTS", "slot"]

FIRST, SLOTS = 64_000, 512  # user ids that no system gives out, and the fewest that a container has


@contextmanager
def slot() -> Iterator[tuple[int, int]]:
    """Hold a user id that no other worker has, and the file that stands for it.

    The user id is free again when all who have the file open have ended, however they end.

    Raises ``OSError`` when all are taken.
    """
    import fcntl  # noqa: PLC0415 - not on Windows, where nobody is root

    for number in range(SLOTS):
        file = os.open(_folder() / str(number), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            continue
        try:
            yield FIRST + number, file
        finally:
            os.close(file)
        return
    raise OSError(f"all {SLOTS} user ids of workers are taken.")


def _folder() -> Path:
    """A folder that only root can write to."""
    folder = Path(tempfile.gettempdir(), "convlab-workers")
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != 0:
        raise OSError(f"{folder} is not root's.\n  Fix: delete it.")
    return folder
