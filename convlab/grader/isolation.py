"""What keeps an answer from the machine that grades it: found by trying, and named in every report."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

from convlab.errors import ConvlabError
from convlab.grader import jail, warm
from convlab.grader.process import EndedError, LateError, Worker
from convlab.grader.slots import FIRST, SLOTS, slot

__all__ = ["LEVELS", "Isolation", "IsolationError", "Limits", "best", "why_not"]


class IsolationError(ConvlabError, RuntimeError):
    """No isolation works on this machine."""


@dataclass(frozen=True)
class Limits:
    """What an answer may use.

    - ``slowness``: how many times as much time as its record gives it, on a machine that does other things as well;
    - ``memory``: bytes of address space of each process; ``scratch``: bytes of the files that it may write;
    - ``reply``: bytes of one result.
    """

    slowness: float = 2.0
    memory: int = 1 << 30
    scratch: int = 16 << 20
    reply: int = 32 << 20


@dataclass(frozen=True)
class Isolation:
    """A level of isolation: its ``name``, and the ``sentence`` that stands in reports.

    ``namespaces`` tells whether a worker has files, network and processes of its own; ``users``, whether it has a user
    id of its own, which root alone can give.
    """

    name: str
    sentence: str
    namespaces: bool = False
    users: bool = False

    @property
    def walled(self) -> bool:
        """Whether there is any isolation at all."""
        return self.namespaces or self.users

    def start(self, kind: str, limits: Limits, seconds: float, allowed: tuple[str, ...] = ()) -> Worker:
        """Start a worker.

        Parameters: ``kind``, "python" or "cuda"; ``seconds`` of computing that it may use in all; ``allowed``, the
        packages and modules that the exercise allows.
        """
        with ExitStack() as held:
            user, *kept = held.enter_context(slot()) if self.users else (None,)
            walls = self._walls(kind, limits, seconds, allowed, user)
            guard = [sys.executable, "-I", "-S", str(jail.PACKAGE / "grader" / "sandbox.py"), json.dumps(walls)]
            command = guard if self.walled else _command(kind)
            return Worker(command, _environment(walls), limits.reply, self.walled, kept, held.pop_all().close)

    def _walls(
        self, kind: str, limits: Limits, seconds: float, allowed: tuple[str, ...], user: int | None
    ) -> dict[str, Any]:
        if not self.walled:
            return {"scratch": tempfile.gettempdir()}
        caches = warm.caches() if kind == "cuda" else None
        seen = jail.view(kind, allowed, caches)
        most = {
            "memory": limits.memory,
            "scratch": limits.scratch,
            # Without a file system of its own, whoever may write a file may fill the disk.
            "file": limits.scratch if self.namespaces else _FILE[kind],
            "processes": _PROCESSES[kind],
            "seconds": int(seconds) + 1,
        }
        walls = {"namespaces": self.namespaces, "user": user, "limits": most, "command": _command(kind)}
        place = {"shown": seen.shown, "emptied": seen.emptied, "scratch": "/scratch"}
        if not self.namespaces:
            assert user is not None
            place = {"root": str(_furnished(seen)), "scratch": f"/scratch/{user - FIRST}"}
        return {
            **walls,
            **place,
            "environment": _environment(place) | ({"NUMBA_CACHE_DIR": str(caches)} if caches else {}),
        }


# A Python answer runs in one process and one thread; NVRTC has a process of its own, and threads wait for it.
_PROCESSES = {"python": 1, "cuda": 24}
_FILE = {"python": 0, "cuda": 1 << 16}  # bytes of a file where the disk is shared

LEVELS = (
    Isolation(
        "namespaces",
        "Answers ran as users of their own in namespaces of their own (files, network, processes), under limits on "
        "memory, time and files.",
        namespaces=True,
        users=True,
    ),
    Isolation(
        "namespaces of one user",
        "Answers ran in namespaces of their own (files, network, processes), under limits on memory, time and files.",
        namespaces=True,
    ),
    Isolation(
        "user id",
        "Answers ran as users of their own in a folder of their own, without a network, under limits on memory, time "
        "and files.",
        users=True,
    ),
    Isolation("plain", "Answers ran without isolation, with the rights of whoever graded them."),
)


@lru_cache(maxsize=2)
def best(allow_plain: bool = False) -> Isolation:
    """The strongest isolation that works on this machine, as a trial run shows.

    Parameters: ``allow_plain``, whether none at all will do. Raises ``IsolationError`` where nothing else works.
    """
    reasons = {}
    for level in LEVELS[:-1]:
        reasons[level.name] = why_not(level)
        if not reasons[level.name]:
            return level
    if allow_plain:
        return LEVELS[-1]
    said = "".join(f"\n  {name}: {reason}" for name, reason in reasons.items())
    raise IsolationError(
        f"answers cannot be isolated on this machine.{said}\n"
        "  Fix: grade on Linux, as root or where users may make namespaces; or, if you trust every answer as you trust "
        "your own code, pass --no-isolation."
    )


def why_not(level: Isolation) -> str:
    """Why a level of isolation does not work here, from a trial run; empty where it works."""
    reason = _unfit(level)
    if reason or not level.walled:
        return reason
    try:
        with level.start("python", Limits(), 60, ("numpy",)) as worker:
            worker.greet()
    except EndedError as error:
        return error.said or f"the trial run ended with code {error.code}."
    except (LateError, OSError) as error:
        return repr(error)
    return ""


def _unfit(level: Isolation) -> str:
    """Why a level need not be tried."""
    if level.walled and sys.platform != "linux":
        return "it needs Linux."
    if level.users and not _is_root():
        return "it needs root."
    if level.walled and not level.users and _is_real_root():
        return "it is for those who are not root, whose processes nothing limits."
    return ""


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _is_real_root() -> bool:
    """Whether this is the root that no limit binds, and not that of a container."""
    return _is_root() and Path("/proc/self/uid_map").read_text().split() == ["0", "0", str(2**32 - 1)]


def _command(kind: str) -> list[str]:
    return [sys.executable, "-s", "-P", "-B", "-m", "convlab.grader.worker", kind]


def _environment(walls: Mapping[str, Any]) -> dict[str, str]:
    """The whole environment of a worker: nothing of the grader's."""
    scratch = walls["scratch"]
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB")}
    own = {"PYTHONPATH": str(jail.PACKAGE.parent), "PYTHONUTF8": "1", "PYTHONHASHSEED": "0"}
    # Windows cannot start a program without the first.
    kept = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    return {**kept, **threads, **own, "HOME": scratch, "TMPDIR": scratch, "PATH": "/usr/bin:/bin"}


_JAIL = "convlab-jail-"


@lru_cache(maxsize=32)
def _furnished(seen: jail.View) -> Path:
    """A folder with what a worker sees, and a scratch folder for each user."""
    for old in Path(tempfile.gettempdir()).glob(f"{_JAIL}*"):  # of graders that were killed
        if not Path("/proc", old.name.split("-")[2]).exists():
            shutil.rmtree(old, ignore_errors=True)
    root = Path(tempfile.mkdtemp(prefix=f"{_JAIL}{os.getpid()}-"))
    Finalize(None, shutil.rmtree, args=(root, True), exitpriority=0)  # atexit is not heard in a pool's processes
    root.chmod(0o755)
    jail.furnish(root, seen)
    (root / "scratch").mkdir(mode=0o755)
    for number in range(SLOTS):
        scratch = root / "scratch" / str(number)
        scratch.mkdir(mode=0o700)
        os.chown(scratch, FIRST + number, FIRST + number)
    (root / "dev").mkdir(mode=0o755)
    os.mknod(root / "dev" / "null", 0o20666, os.makedev(1, 3))
    (root / "dev" / "null").chmod(0o666)
    return root
