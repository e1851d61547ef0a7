"""CUDA headers as text: what a source includes is collected and given to the compiler in memory."""

from __future__ import annotations

import re
import shutil
from functools import lru_cache
from pathlib import Path, PurePosixPath
from posixpath import join, normpath

__all__ = ["collect", "course_headers", "flatten", "folders"]

KERNELS = Path(__file__).parents[1] / "kernels"
INCLUDE = re.compile(r'^([ \t]*#[ \t]*include[ \t]*)(["<])([^">\n]+)[">]', re.MULTILINE)
PROBE = re.compile(r"__has_include[ \t]*\([ \t]*[\"<]([^\">\n]+)[\">]")
# Headers of the host's C and C++ that books include, and whose functions NVRTC has built in.
BUILT_IN = {
    *("math.h", "cmath", "assert.h", "cassert", "stdio.h", "cstdio", "stdlib.h", "cstdlib", "string.h", "cstring"),
    *("cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h", "cuda.h"),
}
_MMA = re.compile(r"mma\.h|crt/mma\.h(pp)?")


@lru_cache(maxsize=1)
def toolkit() -> tuple[Path, ...]:
    """The header folders of the CUDA wheels or of conda, then of the toolkit whose nvcc is in the path; or none.

    The wheels are many, and the one with half of ``mma.h`` may be missing where the toolkit is installed.
    """
    nvcc = shutil.which("nvcc")
    installed = [Path(nvcc).resolve().parents[1] / "include"] if nvcc else []
    try:
        from cuda.pathfinder import find_nvidia_header_directory  # noqa: PLC0415 - absent on macOS
    except ImportError:
        return tuple(installed)
    found = (find_nvidia_header_directory(part) for part in ("cudart", "cccl"))
    return (*(Path(folder) for folder in found if folder), *installed)


def folders() -> tuple[Path, ...]:
    """Where headers are looked for, in this order: the course's own, then the CUDA toolkit's."""
    return (KERNELS, *toolkit())


@lru_cache(maxsize=4096)
def read(path: Path, _changed: int) -> str:
    """The text of a header, read again when its time of change differs."""
    return path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")


def find(spelled: str, quoted_in: str | None, where: tuple[Path, ...]) -> tuple[str, Path] | None:
    """The name, relative to its folder, and the path of a header, as C looks it up; None when it is nowhere.

    A header in quotes is looked for beside the file that includes it first.
    """
    beside = [normpath(join(str(PurePosixPath(quoted_in).parent), spelled))] if quoted_in else []
    for name in (*beside, normpath(spelled)):
        if name.startswith(("/", "..")) or ":" in name:
            continue
        for folder in where:
            if (folder / name).is_file():
                return name, folder / name
    return None


def collect(source: str, where: tuple[Path, ...] | None = None) -> dict[str, str]:
    """Every header that a source includes, directly or through others: name to text.

    The compiler matches a header in memory by the very name in the ``#include``, without looking beside the
    file that includes it. So the includes inside of headers are respelled to the full name, line for line.
    Conditions around an ``#include`` are not evaluated: the result holds more than is used, never less. Headers of the
    host whose functions are built in are empty.

    >>> sorted(collect('#include "common.cuh"'))
    ['common.cuh']

    Args:
        source: CUDA C.
        where: folders to look in; `folders()` by default.
    """
    where = folders() if where is None else where
    headers: dict[str, str] = {}
    own = mentioned(source)
    headers |= {name: "" for name in own if name in BUILT_IN}
    waiting = [found for found in (find(name, None, where) for name in own if name not in BUILT_IN) if found]
    while waiting:
        name, path = waiting.pop()
        if name not in headers:
            headers[name], below = respelled(path, name, path.stat().st_mtime_ns, where)
            waiting += below
    return headers


def mentioned(text: str) -> list[str]:
    """The headers that a text includes or asks for with ``__has_include``."""
    return [match[3] for match in INCLUDE.finditer(text)] + PROBE.findall(text)


@lru_cache(maxsize=4096)
def respelled(path: Path, name: str, changed: int, where: tuple[Path, ...]) -> tuple[str, tuple[tuple[str, Path], ...]]:
    """A header's text with full names in its includes, and the headers it mentions."""
    below: list[tuple[str, Path]] = []

    def full_name(match: re.Match[str]) -> str:
        found = find(match[3], name if match[2] == '"' else None, where)
        if found is None:
            return match[0]
        below.append(found)
        return f'{match[1]}"{found[0]}"'

    text = INCLUDE.sub(full_name, read(path, changed))
    below += [found for found in (find(probe, None, where) for probe in PROBE.findall(text)) if found]
    return text, tuple(below)


def course_headers(source: str) -> dict[str, str]:
    """The course's own headers that a source includes: unlike the toolkit's, they are on every machine."""
    return collect(source, (KERNELS,))


def flatten(source: str, name: str, for_cupy: bool = False) -> str:
    """Paste the course's own headers into a source, each once; ``#line`` marks keep every line's number.

    >>> print(flatten('#include "common.cuh"\\nint x;', "mine.cu")[-26:])
    #line 2 "mine.cu"
    int x;

    Args:
        source: CUDA C.
        name: what the source is called in the marks.
        for_cupy: paste ``mma.h`` as well, half of which lies in a wheel that CuPy does not know.
    """
    headers, done = collect(source), set[str]()
    pasted = {*course_headers(source), *(filter(_MMA.fullmatch, headers) if for_cupy else ())}

    def paste(text: str, file: str) -> str:
        def replace(match: re.Match[str]) -> str:
            header = match[3]
            if header in BUILT_IN:
                return ""
            if header not in pasted:
                return match[0]
            body = "" if header in done else headers[header].replace("#pragma once", "")
            done.add(header)
            line = text.count("\n", 0, match.start()) + 2
            return f'#line 1 "{header}"\n{paste(body, header)}\n#line {line} "{file}"'

        return re.sub(INCLUDE.pattern + r"[^\n]*", replace, text, flags=re.MULTILINE)

    return paste(source, name)
