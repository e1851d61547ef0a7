"""Notices what no honest answer does, in the process of a Python answer: what it tries ends it, and is reported.

This is a report, not a wall. Python cannot be kept from Python in its own process; the wall is around the process, and
what is forbidden is not to be had inside of it.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["watch"]

Tell = Callable[[str], None]

# Audit events by their beginning: what an answer does that raises one, as the rest of a sentence.
_DOES = {
    "socket.": "uses the network",
    "urllib.": "uses the network",
    "subprocess.": "starts another program",
    "os.system": "starts another program",
    "os.exec": "starts another program",
    "os.posix_spawn": "starts another program",
    "os.spawn": "starts another program",
    "os.fork": "starts another process",
    "pty.spawn": "starts another process",
    "os.kill": "sends a signal to a process",
    "ctypes.": "calls into machine code",
    "mmap.": "maps memory of its own",
    "os.link": "makes a link",
    "os.symlink": "makes a link",
    "pickle.find_class": "reads a pickle",
    "gc.get_": "looks into the grader's memory",
    "sys._current_frames": "looks into the grader's memory",
    "sys.settrace": "traces the grader",
    "sys.setprofile": "traces the grader",
    "sys.addaudithook": "watches the grader",
}
# Audit events whose first argument is a path.
_PATHS = ("open", "os.listdir", "os.scandir", "os.chdir", "os.chmod", "os.remove", "os.rmdir", "os.mkdir", "os.rename")

# Libraries that convolve, and what of this package does.
_LIBRARIES = frozenset(
    [
        "scipy",
        "torch",
        "torchvision",
        "tensorflow",
        "keras",
        "jax",
        "flax",
        "mxnet",
        "paddle",
        "cv2",
        "skimage",
        "PIL",
        "cupy",
        "cupyx",
        "onnx",
        "onnxruntime",
    ]
)
_OURS = frozenset(["ops", "reference", "kernels", "executors", "emulator", "checker", "grader"])
_HIDDEN = ("tracemalloc", "_tracemalloc")  # what a budget of memory is measured with


def watch(allowed: Sequence[str], tell: Tell) -> None:
    """Call ``tell`` with what an answer does, when it does what is not allowed.

    Parameters: ``allowed``, names of packages and modules that the exercise allows.
    """
    for name in _HIDDEN:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, _Imports(frozenset(allowed), tell))
    decide = _decider(*_places())

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        # Exactly a str: a subclass might bring code of its own.
        if type(event) is str and (does := decide(event, arguments)):
            tell(does)

    sys.addaudithook(hook)


class _Imports:
    """Is asked first where a module is, and never knows."""

    def __init__(self, allowed: frozenset[str], tell: Tell) -> None:
        self._allowed, self._tell = allowed, tell

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Tell of a module that is not allowed."""
        parts = name.split(".")
        own = parts[0] == "convlab" and len(parts) > 1 and parts[1] in _OURS
        names = {".".join(parts[: i + 1]) for i in range(len(parts))}
        if (own or parts[0] in _LIBRARIES or name in _HIDDEN) and not names & self._allowed:
            self._tell(f"imports {name}, which this exercise does not allow")


def _places() -> tuple[frozenset[str], tuple[str, ...]]:
    """Folders that are looked through for modules, and those in which an answer and its modules belong."""
    folders = [place for place in sys.path if place]
    package = os.path.dirname(os.path.dirname(__file__))
    inside = [
        os.getcwd(),
        sysconfig.get_path("stdlib"),
        package,
        *(each for each in folders if each.endswith("packages")),
    ]
    return frozenset(folders), tuple(os.path.join(os.path.realpath(each), "") for each in inside)


def _decider(folders: frozenset[str], inside: tuple[str, ...]) -> Callable[[str, tuple[Any, ...]], str]:
    """A function that tells what an event is, as the rest of a sentence; empty for what is allowed."""
    prefixes = tuple(_DOES)

    def decide(event: str, arguments: tuple[Any, ...]) -> str:
        if event in _PATHS:
            path = arguments[0]
            return "" if type(path) is str and path in folders else _reaches(path, inside)
        if event.startswith(prefixes):
            return next(does for prefix, does in _DOES.items() if event.startswith(prefix))
        return ""

    return decide


def _reaches(path: Any, inside: tuple[str, ...]) -> str:
    """Whether a path leads out of where an answer belongs; what is no text is a file that is open already."""
    if type(path) is bytes:
        path = os.fsdecode(path)
    if type(path) is not str or path == os.devnull:
        return ""
    return "" if os.path.join(os.path.realpath(path), "").startswith(inside) else f"reaches for {path[:200]}"
