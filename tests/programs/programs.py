"""What tests of whole programs share: load CUDA C by name, launch it on the emulator, expect no false alarm."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.executors.module import Kernel, Module
from convlab.executors.run import Run

ARCHES = ("compute_75", "compute_80", "compute_90")
FOLDER = Path(__file__).parent


def program(name: str, arch: str = "compute_80", options: Sequence[str] = ()) -> Module:
    """The module of NAME.cu beside this file; its variables are fresh each time."""
    return compile((FOLDER / f"{name}.cu").read_text(), name=f"{name}.cu", arch=arch, options=options)


def run(kernel: Kernel, grid: Any, block: Any, args: Sequence[Any], clean: bool = True, **options: Any) -> Run:
    """Launch on the emulator; a clean kernel must be reported for nothing, not even with a warning."""
    result = launch(kernel, grid, block, args, device="emulator", **options)
    assert not (clean and result.faults), [str(fault) for fault in result.faults]
    return result


def blocks(count: int, size: int) -> int:
    """How many blocks of a size hold that many threads."""
    return -(-count // size)


def within(actual: Any, exact: Any, roundings: int, magnitude: Any) -> None:
    """Compare f32 or f64 sums with their exact values: each rounding may add one epsilon of the terms' magnitudes."""
    epsilon = np.finfo(np.asarray(actual).dtype).eps
    error, allowed = np.abs(np.asarray(actual, "f8") - exact), roundings * epsilon * np.asarray(magnitude, "f8")
    assert (error <= allowed).all(), f"off by {np.max(error - allowed):.3g} more than {np.max(allowed):.3g}"
