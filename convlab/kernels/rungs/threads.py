"""One thread, one output: the first rung."""

from __future__ import annotations

from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.known import known_sizes
from convlab.kernels.limits import planes
from convlab.kernels.method import Launch, Method, Plan
from convlab.kernels.tiling import ceil_div
from convlab.spec import ConvSpec

__all__ = ["RUNGS"]

THREADS = 256


def _naive(spec: ConvSpec) -> Plan:
    grid = (ceil_div(spec.p * spec.q, THREADS), spec.k, spec.n)
    arguments = ("x", "w", "bias", "y", conv_struct(spec))
    step = Launch("naive.cu", "conv_naive", grid, (THREADS, 1, 1), arguments, options=known_sizes(spec))
    return Plan((step,))


RUNGS = (
    Method(
        name="naive",
        op="conv2d",
        idea="one thread, one output; three loops",
        dtype="float32",
        layout="nchw",
        lesson="01",
        supports=planes,
        plan=_naive,
    ),
)
