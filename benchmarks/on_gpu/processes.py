"""Processes that are ended with all that they started."""

from __future__ import annotations

import contextlib
import subprocess
from typing import Any

__all__ = ["end", "output_of"]


def end(process: subprocess.Popen[Any]) -> None:
    """End a process with all that it started: a program under Nsight Compute would go on without it."""
    if process.poll() is not None:
        return
    import psutil  # noqa: PLC0415 - a machine may lack it, which is said before this is called

    with contextlib.suppress(psutil.NoSuchProcess):
        for child in psutil.Process(process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
    process.kill()
    process.wait()


def output_of(command: list[str], seconds: float) -> tuple[str, str]:
    """What a command prints, and what it says of errors.

    Raises ``TimeoutError`` where it takes longer, and ends it then, with all that it started.
    """
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            return process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{command[0]} did not end within {seconds:g} s.") from None
        finally:
            end(process)
