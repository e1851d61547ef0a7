"""CUDA C to a module: the course's own kernels from the PTX that comes with it, everything else through NVRTC."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PureWindowsPath

from convlab.errors import CompileError
from convlab.executors import shipped
from convlab.executors.compiler import nvrtc, nvrtc_version, why_not
from convlab.executors.headers import collect
from convlab.executors.module import Module

__all__ = ["compile", "nvrtc_version", "why_not"]


def compile(source: str, name: str = "kernel.cu", arch: str = "compute_80", options: Sequence[str] = ()) -> Module:
    """Compile CUDA C.

    >>> module = compile('extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2.0f; }')
    >>> module.kernels["twice"]
    kernel twice(float* x) of kernel.cu

    Args:
        source: CUDA C. Headers of the CUDA toolkit and of the course (``common.cuh``) can be included.
        name: what the source is called in error messages and line tables.
        arch: the virtual GPU architecture, "compute_75" and later.
        options: further options of NVRTC, such as ``"-DTILE=16"``.

    Raises:
        CompileError: the source has mistakes, or there is no compiler on this machine.
    """
    if not isinstance(source, str):
        raise CompileError(f"compile takes the text of a CUDA C source, not {type(source).__name__}.")
    if isinstance(options, str):
        raise CompileError(f"options={options!r} is a text.\n  Fix: pass a list of them, options=[{options!r}].")
    if source.endswith(".cu") and "\n" not in source:
        fix = f"Fix: pass pathlib.Path({source!r}).read_text()"
        raise CompileError(
            f"compile takes the text of a source, and {source!r} looks like the name of a file.\n  {fix}."
        )
    if not re.fullmatch(r"compute_\d+[af]?", arch):
        raise CompileError(f"arch={arch!r} is no virtual architecture; write it as 'compute_80'.")
    name = re.sub(r'["\x00-\x1f]', "", PureWindowsPath(name).name) or "kernel.cu"
    source = source.replace("\r\n", "\n")
    # Before NVRTC, which compiles some kernels otherwise from one process to the next: what the course says of its own
    # kernels, it says of this text.
    ptx = shipped.find(source, name, arch, tuple(options))
    if ptx is None:
        _need_compiler(name)
        ptx = _ptx(source, name, arch, tuple(options), tuple(collect(source).items()))
    return Module(name, source, ptx, arch, tuple(options))


@lru_cache(maxsize=256)
def _ptx(source: str, name: str, arch: str, options: tuple[str, ...], headers: tuple[tuple[str, str], ...]) -> str:
    """Compile to PTX, unless the same was compiled before: running a cell again costs nothing."""
    ptx = nvrtc(source, name, arch, options, dict(headers))["ptx"]
    return _normalised(ptx, [name, *(header for header, _ in headers)])


def _need_compiler(name: str) -> None:
    if why_not():
        raise CompileError(
            f"{name} cannot be compiled on this machine: {why_not()}\n"
            "The course's own kernels run everywhere, from PTX that comes with it; this source is none of them.\n"
            "  Fix: edit CUDA C on Linux or Windows (WSL, a container, a JupyterHub).",
            name=name,
        )


def _normalised(ptx: str, names: Sequence[str]) -> str:
    """PTX with plain names in its ``.file`` table, where NVRTC puts the working folder before them."""

    def plain(match: re.Match[str]) -> str:
        octal = re.sub(r"\\(\d{3})", lambda digits: chr(int(digits[1], 8)), match[2])
        path = octal.encode("latin-1").decode(errors="replace").replace("\\\\", "/").replace("\\", "/")
        found = [name for name in names if path == name or path.endswith(f"/{name}")]
        return f'{match[1]}"{max(found, key=len, default=path.rpartition("/")[2])}"'

    return re.sub(r'^(\s*\.file\s+\d+\s+)"([^"]*)"', plain, ptx, flags=re.MULTILINE)
