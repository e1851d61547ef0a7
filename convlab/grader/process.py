"""The grader's end of a worker: it asks, waits no longer than it has to, and leaves nothing running."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy.typing as npt

from convlab.grader import wire

__all__ = ["EndedError", "ForbiddenError", "LateError", "Worker"]

_START = 60.0  # seconds in which a worker must be there, on a machine that is busy
_LEAVE = 10.0  # seconds in which the walls must be gone after a worker
_SAID = 2000  # bytes of what went wrong with the walls


class EndedError(Exception):
    """The worker ended, or talks nonsense; ``code`` is its exit code, 128 + n for a signal."""

    def __init__(self, code: int, said: str = "") -> None:
        super().__init__(code, said)
        self.code, self.said = code, said


class LateError(Exception):
    """The worker did not answer in time."""


class ForbiddenError(Exception):
    """The answer did what is not allowed; the text says what, as the rest of a sentence."""


class Worker:
    """One worker, from its start to its end.

    Parameters: ``command`` and ``environment`` of the process; ``most``, the bytes that one array of a reply may have;
    ``guarded``, whether the process is a guard, which ends what it guards when it is asked to; ``kept``, files that
    it inherits, and holds as long as it lives; ``after``, what is done when it has ended.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        most: int,
        guarded: bool,
        kept: Sequence[int],
        after: Callable[[], None],
    ) -> None:
        self._most, self._guarded, self._after = most, guarded, after
        self._process: subprocess.Popen[bytes] = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=environment["TMPDIR"] if os.path.isdir(environment["TMPDIR"]) else None,
            pass_fds=kept,
            start_new_session=sys.platform != "win32",
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests = self._process.stdin
        self._replies = self._process.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            with contextlib.suppress(OSError):
                self._requests.close()  # a worker without requests leaves
        self.end(wait=2.0)

    def greet(self) -> None:
        """Wait until the worker is there; raises ``EndedError`` with what it said where it does not come."""
        self._exchange(None, [], _START)

    def ask(self, request: Mapping[str, Any], arrays: Sequence[npt.NDArray[Any]], seconds: float) -> wire.Frame:
        """Send a request, and give the reply to it.

        Raises ``LateError``, ``EndedError`` and ``ForbiddenError``; after each of them the worker has ended.
        """
        token = secrets.token_hex(16)
        header, results = self._exchange({**request, "token": token}, arrays, seconds)
        if type(does := header.get("forbidden")) is str:
            self.end()
            raise ForbiddenError(does[:300])
        if header.get("token") != token:
            raise EndedError(self.end())
        return header, results

    def _exchange(
        self, request: Mapping[str, Any] | None, arrays: Sequence[npt.NDArray[Any]], seconds: float
    ) -> wire.Frame:
        """Write and read in a thread, since both may take for ever."""
        came: list[wire.Frame] = []
        thread = threading.Thread(target=self._talk, args=(request, arrays, came), daemon=True)
        thread.start()
        thread.join(seconds)
        if thread.is_alive():
            self.end(wait=0)
            raise LateError
        if not came:
            said = self._said() if request is None else ""
            raise EndedError(self.end(), said)
        return came[0]

    def _talk(
        self, request: Mapping[str, Any] | None, arrays: Sequence[npt.NDArray[Any]], came: list[wire.Frame]
    ) -> None:
        with contextlib.suppress(OSError, ValueError, EOFError, wire.WireError):
            if request is not None:
                wire.write(self._requests, request, arrays)
            came.append(wire.read(self._replies, self._most))

    def _said(self) -> str:
        """What a worker that never came said of it."""
        assert self._process.stderr is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
            return self._process.stderr.read(_SAID).decode(errors="replace").strip()
        return ""

    def end(self, wait: float = 1.0) -> int:
        """End the worker and all that it started; gives its exit code.

        Parameters: ``wait``, the seconds in which it may end by itself, so that its own code is seen.
        """
        try:
            code = self._process.wait(wait)
        except subprocess.TimeoutExpired:
            code = self._stop()
        self._kill_group()
        for stream in (self._requests, self._replies, self._process.stderr):
            with contextlib.suppress(OSError):
                stream and stream.close()
        after, self._after = self._after, _nothing
        after()
        return code

    def _stop(self) -> int:
        """Have the guard end what it guards, or end a process that nobody guards."""
        (self._process.terminate if self._guarded else self._process.kill)()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(_LEAVE)
        self._process.kill()
        return self._process.wait()

    def _kill_group(self) -> None:
        if sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)


def _nothing() -> None:
    pass
