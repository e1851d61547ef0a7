"""What a kernel needs of an SM: registers, shared memory and spills, as NVIDIA's assembler reports them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from convlab.errors import CompileError
from convlab.executors import shipped
from convlab.executors.compiler import nvrtc, why_not
from convlab.executors.headers import collect

__all__ = ["ARCHITECTURES", "Resources", "ResourcesByArchitecture", "assembled"]

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")

_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_NUMBERS = {
    "registers": re.compile(r"Used (\d+) registers"),
    "shared": re.compile(r"(\d+) bytes smem"),
    "stack": re.compile(r"(\d+) bytes stack frame"),
    "spill_stores": re.compile(r"(\d+) bytes spill stores"),
    "spill_loads": re.compile(r"(\d+) bytes spill loads"),
}


@dataclass(frozen=True, slots=True)
class Resources:
    """Registers of a thread; bytes of a block's static shared memory, of a thread's stack, and of its spills."""

    registers: int
    shared: int
    stack: int
    spill_stores: int
    spill_loads: int


class ResourcesByArchitecture(Mapping[str, Resources]):
    """A kernel's resources on each GPU architecture, assembled when they are first asked for."""

    def __init__(self, source: str, name: str, options: tuple[str, ...], entry: str) -> None:
        self._source, self._name, self._options, self._entry = source, name, options, entry

    def __getitem__(self, arch: str) -> Resources:
        if not re.fullmatch(r"sm_\d+[af]?", str(arch)):
            raise KeyError(f"{arch!r} is no architecture; write it as 'sm_80'.")
        return resources(self._source, self._name, self._options, arch)[self._entry]

    def __iter__(self) -> Iterator[str]:
        return iter(ARCHITECTURES)

    def __len__(self) -> int:
        return len(ARCHITECTURES)

    def __repr__(self) -> str:
        return "\n".join(f"{arch:7}{found}" for arch, found in self.items())


@lru_cache(maxsize=1024)
def resources(source: str, name: str, options: tuple[str, ...], arch: str) -> dict[str, Resources]:
    """The resources of all kernels of a source, by their names in the PTX.

    Those of the course's own kernels come with it: the assembler gives some of them other registers each time that it
    is asked. Raises ``CompileError`` where there is no compiler, and where the architecture lacks an instruction.
    """
    known = shipped.resources(source, arch, options)
    if known is None:
        return counted(source, name, options, arch)
    return {entry: Resources(*fields) for entry, fields in known.items()}


def counted(source: str, name: str, options: tuple[str, ...], arch: str) -> dict[str, Resources]:
    """The same, as the assembler of this machine counts them now."""
    if why_not():
        raise CompileError(f"Registers are counted by NVIDIA's assembler, which is not to be had: {why_not()}")
    if not source:
        raise CompileError(f"{name} is PTX without CUDA C, and its resources are counted from CUDA C.")
    parts = _ENTRY.split(assembled(source, name, options, arch)["log"])[1:]
    return {entry: _read(text) for entry, text in zip(parts[::2], parts[1::2], strict=True)}


@lru_cache(maxsize=64)
def assembled(source: str, name: str, options: tuple[str, ...], arch: str) -> dict[str, str]:
    """What NVRTC gives for a real architecture: a cubin, and in its log what the kernels need."""
    return nvrtc(source, name, arch, ("--ptxas-options=-v", *options), collect(source))


def _read(log: str) -> Resources:
    found = {field: pattern.search(log) for field, pattern in _NUMBERS.items()}
    return Resources(**{field: int(match[1]) if match else 0 for field, match in found.items()})
