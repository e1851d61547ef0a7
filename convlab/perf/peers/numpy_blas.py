"""NumPy on the CPU: im2col and one matrix product by its BLAS, or the product alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from convlab.perf.cpu_timing import processor
from convlab.perf.peers.adapter import Array, Peer, Prepared
from convlab.perf.trial import op_of, random_inputs
from convlab.reference.im2col import im2col

__all__ = ["NUMPY"]


def _available() -> str:
    return ""


def _prepare(spec: Any, dtype: str) -> Prepared:
    op = op_of(spec)
    inputs = random_inputs(op, spec, lambda name: dtype)
    call: Callable[..., Array] = np.matmul if op == "gemm" else partial(im2col, spec=spec)
    made: list[Array] = []

    def work(number: int) -> None:
        made[:] = [call(*inputs.values())]

    return Prepared(work, lambda: made[0], inputs, processor())


NUMPY = Peer("numpy", "im2col and NumPy's matmul", "cpu", ("conv2d", "gemm"), ("float32",), _available, _prepare)
