"""PyTorch on the CPU: its convolution, and its matrix product."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from convlab.perf.cpu_timing import processor
from convlab.perf.peers.adapter import Array, Peer, Prepared, missing
from convlab.perf.trial import op_of, random_inputs

__all__ = ["TORCH_CPU", "convolution"]


def _available() -> str:
    return missing("torch")


def _prepare(spec: Any, dtype: str) -> Prepared:
    torch: Any = import_module("torch")
    inputs = random_inputs(op_of(spec), spec, lambda name: dtype)
    x, weights = (torch.from_numpy(np.array(array)) for array in list(inputs.values())[:2])
    made: list[Any] = []

    def work(number: int) -> None:
        with torch.inference_mode():
            made[:] = [torch.matmul(x, weights) if op_of(spec) == "gemm" else convolution(torch, spec, x, weights)]

    def output() -> Array:
        array: Array = made[0].numpy()
        return array

    return Prepared(work, output, inputs, processor())


def convolution(torch: Any, spec: Any, x: Any, weights: Any) -> Any:
    """The convolution of two tensors of PyTorch."""
    top, _, left, _ = spec.padding
    return torch.nn.functional.conv2d(
        x, weights, None, stride=spec.stride, padding=(top, left), dilation=spec.dilation, groups=spec.groups
    )


TORCH_CPU = Peer(
    "torch_cpu", "PyTorch on the CPU", "cpu", ("conv2d", "gemm"), ("float32",), _available, _prepare, uneven=False
)
