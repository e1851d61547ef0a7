"""NVRTC in a process of its own, which can be killed: the library's one long C call cannot be interrupted.

This file is both ends of the pipe. Run as a script it is the process that calls NVRTC, and imports nothing of
convlab, so that it starts in a tenth of a second. A thread would not do: the call lets other threads run, but NVRTC
compiles one program at a time, so whoever interrupts a long compilation would still wait for its end at the next one.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
from base64 import b64encode
from importlib.util import find_spec
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

__all__ = ["Compiler", "CompilerDiedError"]

# How often a waiting caller looks up, so that Ctrl-C reaches it on Windows too.
_LOOK_UP_S = 0.1


class CompilerDiedError(Exception):
    """The process ended before it answered: NVRTC crashed, or ran out of memory."""


class Compiler:
    """The caller's end: starts the process when it is first needed, and again after it was killed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._greeting: dict[str, str] = {}
        atexit.register(self._kill)

    def version(self) -> str | None:
        """NVRTC's version, "13.5"; None where it cannot be used."""
        return self._hello().get("version")

    def why_not(self) -> str:
        """Why NVRTC cannot be used here, as a sentence; empty where it can."""
        return self._hello().get("missing", "")

    def compile(self, source: str, name: str, headers: dict[str, str], options: list[str]) -> dict[str, Any]:
        """Compile to PTX: ``{"ptx": …, "cubin": …, "log": …}``, the PTX empty when there were errors.

        The cubin, in base64, is empty for a virtual architecture, which has no machine code.

        Raises CompilerDiedError; and whatever interrupts the wait, after killing the process.
        """
        with self._lock:
            self._start()
            return self._ask({"source": source, "name": name, "headers": headers, "options": options})

    def _hello(self) -> dict[str, str]:
        if os.environ.get("CONVLAB_HIDE_NVRTC"):
            return {"missing": "NVRTC is hidden by the environment variable CONVLAB_HIDE_NVRTC."}
        if sys.platform == "darwin":
            return {"missing": "NVIDIA makes no CUDA compiler for macOS."}
        try:
            present = find_spec("cuda.bindings") is not None
        except ImportError:
            present = False
        if not present:
            return {"missing": "The Python package cuda-bindings, through which NVRTC is called, is not installed."}
        with self._lock:
            if not self._greeting:
                self._start()
            return self._greeting

    def _start(self) -> None:
        if self._process is not None and self._owner == os.getpid() and self._process.poll() is None:
            return
        # -P: the folder of this file holds modules named like those of other packages. The working folder is
        # neutral, since NVRTC records it and reads files in it.
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=tempfile.gettempdir(),
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._owner = os.getpid()
        self._greeting = self._ask(None)

    def _ask(self, job: dict[str, Any] | None) -> dict[str, Any]:
        """Send a job, if any, and wait for one answer; an interruption kills the process."""
        answers: list[dict[str, Any]] = []
        thread = Thread(target=_exchange, args=(self._process, job, answers), daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(_LOOK_UP_S)
        except BaseException:
            self._kill()
            raise
        if not answers:
            self._kill()
            raise CompilerDiedError
        return answers[0]

    def _kill(self) -> None:
        if self._process is not None and self._owner == os.getpid():
            self._process.kill()
            self._process.wait()
        self._process = None


def _exchange(process: subprocess.Popen[bytes], job: dict[str, Any] | None, answers: list[Any]) -> None:
    """Write a job and read the answer; leaves ``answers`` empty when the process is gone."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        if job is not None:
            process.stdin.write(json.dumps(job).encode() + b"\n")
            process.stdin.flush()
        line = process.stdout.readline()
    except (OSError, ValueError):
        return
    if line:
        answers.append(json.loads(line))


def _serve() -> None:
    """The other end: greet, then answer one job after the other until the caller is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Jupyter kernel's whole process group gets it
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing that a library prints may get between the answers
    jobs: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_read, args=(jobs,), daemon=True).start()
    answer = _greet()
    while True:
        out.write(json.dumps(answer).encode() + b"\n")
        out.flush()
        answer = _compile(**json.loads(jobs.get()))


def _read(jobs: SimpleQueue[bytes]) -> None:
    """Pass jobs on; when the caller is gone, end at once, in the middle of a compilation too."""
    for line in sys.stdin.buffer:
        jobs.put(line)
    os._exit(0)


def _greet() -> dict[str, str]:
    try:
        from cuda.bindings import nvrtc  # noqa: PLC0415 - only this process loads it

        _, major, minor = nvrtc.nvrtcVersion()
    except Exception as error:  # every reason is told to the user
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        return {"missing": f"NVRTC cannot be loaded: {reason}"}
    return {"version": f"{major}.{minor}"}


def _compile(source: str, name: str, headers: dict[str, str], options: list[str]) -> dict[str, Any]:
    from cuda.bindings import nvrtc  # noqa: PLC0415 - only this process loads it

    def encoded(texts: Any) -> list[bytes]:
        return [text.encode(errors="replace") for text in texts]

    def binary(size: Any, get: Any) -> bytes:
        # NVRTC writes into this object, which must be nobody else's: Python keeps one b" " for everybody, so that an
        # empty log, one zero byte long, would turn every later b" " into b"\0". One b"\0" stays what it is.
        buffer: bytes = b"\0" * size(program)[1]
        if buffer:
            get(program, buffer)
        return buffer

    def text(size: Any, get: Any) -> str:
        return binary(size, get).rstrip(b"\0").decode(errors="replace")

    head = encoded([source, name])
    _, program = nvrtc.nvrtcCreateProgram(*head, len(headers), encoded(headers.values()), encoded(headers))
    (result,) = nvrtc.nvrtcCompileProgram(program, len(options), encoded(options))
    log = text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
    done = result == nvrtc.nvrtcResult.NVRTC_SUCCESS
    ptx = text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX) if done else ""
    cubin = binary(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN) if done else b""
    nvrtc.nvrtcDestroyProgram(program)
    return {"ptx": ptx, "cubin": b64encode(cubin).decode(), "log": log if done else log or result.name}


if __name__ == "__main__":
    _serve()
