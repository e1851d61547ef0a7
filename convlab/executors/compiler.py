"""The one process that calls NVRTC, and the options with which everything is compiled."""

from __future__ import annotations

from typing import Any

from convlab.errors import CompileError
from convlab.executors.diagnostics import compile_error
from convlab.executors.nvrtc import Compiler, CompilerDiedError

__all__ = ["nvrtc", "nvrtc_version", "why_not"]

_OPTIONS = ("-lineinfo", "--std=c++17", "--no-source-include")

_compiler = Compiler()


def nvrtc_version() -> str | None:
    """The version of NVRTC, such as "13.5"; None where CUDA C cannot be compiled."""
    return _compiler.version()


def why_not() -> str:
    """Why CUDA C cannot be compiled on this machine, as a sentence; empty where it can."""
    return _compiler.why_not()


def nvrtc(source: str, name: str, arch: str, options: tuple[str, ...], headers: dict[str, str]) -> dict[str, Any]:
    """Compile with NVRTC: ``{"ptx": …, "cubin": …, "log": …}``, the cubin in base64, and empty without an assembler.

    Args:
        source, name: CUDA C, and what messages call it.
        arch: "compute_80" and the like for PTX alone; "sm_80" lets the assembler run, too.
        options: further options of NVRTC.
        headers: name and text of all that the source includes.

    Raises ``CompileError`` where the source has mistakes, or NVRTC does not survive it.
    """
    try:
        result = _compiler.compile(source, name, headers, [f"--gpu-architecture={arch}", *_OPTIONS, *options])
    except CompilerDiedError:
        raise CompileError(
            f"{name}: the compiler crashed or ran out of memory on this source.\n"
            "  Fix: look for endless recursion of templates or macros, and for very large arrays.",
            name=name,
        ) from None
    if not result["ptx"]:
        raise compile_error(result["log"], source, name)
    return result
