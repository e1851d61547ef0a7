"""PTX that comes with the package, and what its kernels need, for machines on which NVIDIA has no compiler.

``kernels/ptx/index.json`` maps a key to the name under which the source was compiled, and the PTX's checksum; the
PTX lies beside it in ``KEY.ptx``. ``resources.json`` holds what NVIDIA's assembler said of each key's kernels on each
architecture. ``tools/ship_ptx.py`` makes all of it.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from convlab.executors.headers import course_headers

__all__ = ["ARCH", "FOLDER", "assembler", "checksum", "find", "key", "resources"]

ARCH = "compute_80"  # for which all of it was compiled
FOLDER = Path(__file__).parents[1] / "kernels" / "ptx"


def key(source: str, arch: str, options: tuple[str, ...]) -> str:
    """What a compilation depends on, as 20 hexadecimal digits: source, the course's headers in it, and options.

    >>> key("int x;", "compute_80", ()) == key("int x;\\r\\n", "compute_80", ())
    True
    """
    lines = source.replace("\r\n", "\n").rstrip()
    parts = [lines, arch, options, sorted(course_headers(source).items())]
    return sha256(json.dumps(parts).encode()).hexdigest()[:20]


def checksum(ptx: str) -> str:
    """Of a shipped text, so that one that was changed by hand is found.

    >>> checksum("ret;") == checksum("ret; ")
    False
    """
    return sha256(ptx.encode()).hexdigest()[:20]


def find(source: str, name: str, arch: str, options: tuple[str, ...]) -> str | None:
    """The shipped PTX of a source, with ``name`` in its line table; None when there is none, or a changed one."""
    path = FOLDER / "index.json"
    index: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    digits = key(source, arch, options)
    if digits not in index:
        return None
    ptx = (FOLDER / f"{digits}.ptx").read_text(encoding="utf-8")
    if checksum(ptx) != index[digits]["checksum"]:
        return None
    # The same text may be compiled under another name here, such as that of a notebook cell.
    file = re.compile(rf'^(\s*\.file\s+\d+\s+)"{re.escape(index[digits]["name"])}"', re.MULTILINE)
    return file.sub(lambda found: f'{found[1]}"{name}"', ptx)


def assembler() -> str:
    """Which version of NVIDIA's assembler counted the shipped resources."""
    return str(_counted(FOLDER)["assembler"])


def resources(source: str, arch: str, options: tuple[str, ...]) -> dict[str, list[int]] | None:
    """For each kernel of a shipped source the fields of its ``Resources`` on an architecture; None when not shipped."""
    found: dict[str, list[int]] | None = _counted(FOLDER)["kernels"].get(key(source, ARCH, options), {}).get(arch)
    return found


@lru_cache(maxsize=1)
def _counted(folder: Path) -> dict[str, Any]:
    path = folder / "resources.json"
    none: dict[str, Any] = {"assembler": "", "kernels": {}}
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else none
