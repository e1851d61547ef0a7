"""What NVIDIA's assembler made of a kernel: its machine instructions, as nvdisasm lists them."""

from __future__ import annotations

import re
import subprocess
import tempfile
from base64 import b64decode
from functools import lru_cache
from pathlib import Path

from convlab.errors import CompileError
from convlab.executors.compiler import why_not
from convlab.executors.module import Kernel
from convlab.executors.resources import assembled

__all__ = ["disassembler", "machine_code"]

_SECTION = re.compile(r"^\.text\.(\S+):$", re.MULTILINE)
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([^;]+?)\s*;")


def machine_code(kernel: Kernel, arch: str) -> tuple[str, ...]:
    """List a kernel's machine instructions, in the order of their addresses.

    >>> from convlab.executors.compile import compile
    >>> source = 'extern "C" __global__ void twice(float4* x) { float4 v = *x; v.w *= 2; *x = v; }'
    >>> found = machine_code(compile(source).kernels["twice"], "sm_80")
    >>> [text.split()[0] for text in found if "G.E" in text]
    ['LDG.E.128', 'STG.E.128']

    Parameters: ``arch`` is a real architecture, such as "sm_80". Raises ``CompileError`` where compiler or disassembler
    are not to be had, and where the architecture lacks an instruction.
    """
    module = kernel.module
    if why_not():
        raise CompileError(f"Machine code is made by NVIDIA's assembler, which is not to be had: {why_not()}")
    if disassembler() is None:
        raise CompileError(
            "Machine code is listed by NVIDIA's nvdisasm, which is not to be had.\n"
            "  Fix: pip install nvidia-cuda-nvdisasm, or install the CUDA toolkit."
        )
    return _listed(module.source, module.name, module.options, arch)[kernel.entry]


@lru_cache(maxsize=1)
def disassembler() -> Path | None:
    """Where nvdisasm is, of a wheel, of conda or of the toolkit; None where it is missing."""
    try:
        from cuda.pathfinder import find_nvidia_binary_utility  # noqa: PLC0415 - absent on macOS
    except ImportError:  # old ones look for libraries only
        return None
    found = find_nvidia_binary_utility("nvdisasm")
    return Path(found) if found else None


@lru_cache(maxsize=64)
def _listed(source: str, name: str, options: tuple[str, ...], arch: str) -> dict[str, tuple[str, ...]]:
    """The instructions of all kernels of a source, by their names in the PTX."""
    cubin = b64decode(assembled(source, name, options, arch)["cubin"])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(cubin)
        command = [str(disassembler()), "--print-code", str(file)]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    parts = _SECTION.split(text)[1:]
    return {entry: tuple(_INSTRUCTION.findall(part)) for entry, part in zip(parts[::2], parts[1::2], strict=True)}
