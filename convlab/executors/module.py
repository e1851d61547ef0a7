"""Modules and kernels: compiled CUDA C, ready to be launched on either executor."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.emulator.layout import names
from convlab.emulator.names import readable
from convlab.emulator.parse import parse
from convlab.emulator.program import Function, Program
from convlab.errors import ArgumentError, CompileError
from convlab.executors.headers import flatten
from convlab.executors.resources import ResourcesByArchitecture
from convlab.executors.signature import Parameter, Source, match

__all__ = ["Kernel", "Kernels", "Module", "load_ptx"]


@lru_cache(maxsize=64)
def _parsed(ptx: str, name: str) -> tuple[Program, bool]:
    """A program, and whether modules can share it: no instruction uses a variable that each would have for itself."""
    program = parse(ptx, name)
    used = names([*program.entries.values(), *program.functions.values()])
    return program, not any(variable.name in used for variable in program.in_global_memory())


@dataclass(frozen=True, eq=False, repr=False)
class Module:
    """A compiled source: its PTX and its kernels.

    ``__device__`` and ``__constant__`` variables belong to a module: each compilation starts with fresh ones.
    ``source`` is empty for PTX that came without CUDA C.
    """

    name: str
    source: str
    ptx: str
    arch: str
    options: tuple[str, ...] = ()
    written: set[str] = field(default_factory=set)  # variables whose values a GPU has not got yet

    @cached_property
    def program(self) -> Program:
        """The PTX, parsed."""
        program, shareable = _parsed(self.ptx, self.name)
        return program if shareable else parse(self.ptx, self.name)

    @cached_property
    def kernels(self) -> Kernels:
        """The kernels, by name."""
        source = Source(flatten(self.source, self.name), self.options) if self.source else None
        plain = [plain_name(entry) for entry in self.program.entries]
        kernels = []
        for name, entry in zip(plain, self.program.entries.values(), strict=True):
            # Overloads and instances of a template share a plain name: there, the PTX name tells them apart.
            unique = name if plain.count(name) == 1 else entry.name
            kernels.append(Kernel(unique, entry.name, match(source, name, entry.params), self))
        return Kernels(self.name, {kernel.name: kernel for kernel in kernels})

    def write(self, variable: str, values: Any) -> None:
        """Fill a ``__constant__`` or ``__device__`` variable from its start, before the next launch.

        >>> from convlab.executors.compile import compile
        >>> module = compile("__constant__ float w[4]; __global__ void f(float* y) { *y = w[1]; }")
        >>> module.write("w", np.ones(4, "float32"))

        Args:
            variable: its name in the source.
            values: an array of the variable's element type, not larger than the variable.

        Raises ``ArgumentError`` where there is no such variable, where its elements are too small for the values'
        type, and where there is too little room in it.
        """
        variables = {readable(found.name): found for found in self.program.in_global_memory()}
        if variable not in variables:
            known = f"Its variables are: {', '.join(variables)}." if variables else "It has none."
            raise ArgumentError(f"{self.name} has no variable {variable!r}. {known}")
        dtype = (values if hasattr(values, "dtype") else np.asarray(values)).dtype
        align = variables[variable].align
        if dtype.alignment > align:
            raise ArgumentError(
                f"{variable} of {self.name} has elements of {align} bytes, and the values are {dtype}.\n"
                "  Fix: convert them to the variable's type, as with .astype('float32')."
            )
        data, room = as_bytes(values), variables[variable].data
        if data.size > room.size:
            raise ArgumentError(
                f"{variable} of {self.name} holds {room.size:,} bytes, and the values have {data.size:,}.\n"
                "  Fix: make the variable larger (__constant__ ones have 65,536 bytes in all), or write a part."
            )
        room[: data.size] = data
        self.written.add(variable)

    def __repr__(self) -> str:
        lines = [
            f"module {self.name} ({self.arch})",
            *(f"  {kernel.signature}" for kernel in self.kernels.values()),
        ]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class Kernel:
    """One ``__global__`` function; ``entry`` is its name in the PTX."""

    name: str
    entry: str
    parameters: tuple[Parameter, ...]
    module: Module = field(repr=False)

    @property
    def program_entry(self) -> Function:
        """The kernel's instructions."""
        return self.module.program.entries[self.entry]

    @property
    def signature(self) -> str:
        """The kernel's declaration on one line, ``scale(float* x, int n)``."""
        return f"{self.name}({', '.join(parameter.text for parameter in self.parameters)})"

    @property
    def resources(self) -> ResourcesByArchitecture:
        """Registers, shared memory and spills on each GPU architecture, ``kernel.resources["sm_90"].registers``."""
        module = self.module
        return ResourcesByArchitecture(module.source, module.name, module.options, self.entry)

    def __repr__(self) -> str:
        return f"kernel {self.signature} of {self.module.name}"


class Kernels(Mapping[str, Kernel]):
    """A module's kernels by name; a wrong name is answered with the right ones."""

    def __init__(self, module: str, kernels: dict[str, Kernel]) -> None:
        self._module = module
        self._kernels = kernels

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._kernels:
            raise UnknownKernelError(self._module, name, list(self._kernels))
        return self._kernels[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def __repr__(self) -> str:
        return "\n".join(kernel.signature for kernel in self.values()) or f"{self._module} has no kernels"


class UnknownKernelError(KeyError):
    """A name that no kernel of the module has."""

    def __init__(self, module: str, name: str, known: list[str]) -> None:
        near = get_close_matches(str(name), known, n=1)
        guess = f" Did you mean {near[0]!r}?" if near else ""
        none = "It has none: a kernel is marked __global__, and a template needs an explicit instance."
        has = f"Its kernels are: {', '.join(known)}." if known else none
        self.message = f"{module} has no kernel {name!r}.{guess} {has}"
        super().__init__(self.message)

    def __str__(self) -> str:  # a KeyError would show the quoted representation
        return self.message


def plain_name(entry: str) -> str:
    """The name that a PTX entry has in the source: without extern "C", C++ adds lengths and types to it.

    >>> [plain_name(name) for name in ("conv", "_Z4convPKfi", "_ZN4tile4loadEPf", "_Z3addIfEvPT_")]
    ['conv', 'conv', 'tile::load', 'add']
    """
    nested = re.match(r"_ZN?", entry)
    if nested is None:
        return entry
    rest, parts = entry[nested.end() :], list[str]()
    while (length := re.match(r"\d+", rest)) and (nested[0] == "_ZN" or not parts):
        end = length.end() + int(length[0])
        parts.append(rest[length.end() : end])
        rest = rest[end:]
    return "::".join(parts) or entry


def as_bytes(values: Any) -> npt.NDArray[np.uint8]:
    """The bytes of an array, from a GPU too."""
    host = values.get() if hasattr(values, "get") else values
    return np.ascontiguousarray(host).reshape(-1).view(np.uint8)


def load_ptx(text: str, name: str = "module.ptx") -> Module:
    """Make a module of PTX text, hand-written or from elsewhere, for the emulator.

    >>> text = ".version 8.0\\n.target sm_80\\n.visible .entry idle(.param .u32 n) { ret; }"
    >>> load_ptx(text).kernels["idle"]
    kernel idle(.u32) of module.ptx

    Raises ``CompileError`` where the text is no PTX.
    """
    if not isinstance(text, str):
        raise CompileError(
            f"load_ptx takes the text of a PTX file, not {type(text).__name__}.\n  Fix: pass its .read()."
        )
    module = Module(name, "", text, "")
    return Module(name, "", text, module.program.target)
