"""The exceptions of convlab: each message says the fact, then the context, then the fix."""

from __future__ import annotations

import linecache
from traceback import walk_tb
from typing import Any

__all__ = [
    "ArgumentError",
    "CompileError",
    "ConvlabError",
    "KernelFault",
    "KernelWarning",
    "LaunchError",
    "UnsupportedInstruction",
]


class ConvlabError(Exception):
    """The base of all errors that convlab raises on purpose."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the learner's line and the message; where inside of convlab it arose helps nobody."""
        cells = [(f, n) for f, n in walk_tb(self.__traceback__) if "ipykernel" in f.f_code.co_filename]
        shown = [f"{type(self).__name__}: {self}"]
        if cells:
            frame, number = cells[-1]
            line = linecache.getline(frame.f_code.co_filename, number).strip()
            shown.insert(0, f"In line {number} of the cell: {line}")
        return shown


class CompileError(ConvlabError):
    """CUDA C that NVRTC rejects, or that cannot be compiled on this machine."""

    def __init__(self, message: str, *, name: str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.name = name
        self.line = line


class ArgumentError(ConvlabError, TypeError):
    """An argument that does not fit the kernel's signature."""


class LaunchError(ConvlabError, ValueError):
    """A grid, a block or a device that cannot be launched."""


class UnsupportedInstruction(ConvlabError):
    """A PTX instruction that the emulator does not execute."""


class KernelWarning(UserWarning):
    """A kernel that runs to its end, and does something that may go wrong on another GPU or another day."""


class KernelFault(ConvlabError):
    """A kernel that did something a GPU would crash on, or silently get wrong; ``.run`` holds everything observed."""

    def __init__(self, message: str, run: Any) -> None:
        super().__init__(message)
        self.run = run

    @property
    def fact(self) -> str:
        """The first fault alone, for places that have one line; a GPU records none, only that it stopped."""
        return str(self.run.faults[0] if self.run.faults else self)
