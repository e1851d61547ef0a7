"""A GPU that is none: the emulator in its place, and times made up: what notebooks do with a GPU is run, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from convlab.executors import cuda, emulated
from convlab.executors.options import Options
from convlab.executors.run import Run
from convlab.perf.times import Time

__all__ = ["FIRST_CELL", "install"]

# Runs before all cells of a notebook.
FIRST_CELL = f"import sys\nsys.path.insert(0, {__file__.rpartition('/')[0]!r})\nimport stub_gpu\nstub_gpu.install()"
_MILLISECONDS = 0.125  # of each launch, made up


def install() -> None:
    """Put the stub in the place of CuPy's executor, in this process."""
    cuda.available = lambda: True
    cuda.why_not = lambda: ""
    cuda.capability = lambda: 80
    cuda.launch = _launch
    cuda.on_device = _on_device
    cuda.matmul = _matmul
    time = import_module("convlab.perf.time")  # the package's own name `time` is the function
    time.measure, time.measure_peer = _measure, _measure_peer


def _launch(kernel: Any, grid: Any, block: Any, bound: Any, shared: int) -> Run:
    run = emulated.launch(kernel, grid, block, bound, shared, {}, Options(observe=False))
    return Run(kernel.name, "cuda", grid, block, milliseconds=_MILLISECONDS, stdout=run.stdout)


@contextmanager
def _on_device(tensors: Mapping[str, Any], scratch: Mapping[str, Any], written: str = "y") -> Iterator[dict[str, Any]]:
    yield {**tensors, **{name: np.empty(shape, dtype) for name, (shape, dtype) in scratch.items()}}


def _matmul(a: Any, b: Any, out: Any) -> Run:
    np.matmul(a, b, out=out)
    return replace(Run("cuBLAS", "cuda", (1, 1, 1), (1, 1, 1)), milliseconds=_MILLISECONDS)


def _measure(spec: Any, method: Any, **_: Any) -> Time:
    return Time(_MILLISECONDS, "measured", on="NVIDIA A100-SXM4-40GB", low=0.12, high=0.13)


def _measure_peer(peer: Any, spec: Any, dtype: str) -> tuple[Time, str]:
    return _measure(spec, peer), ""
