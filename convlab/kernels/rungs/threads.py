"""One thread, one output: the first rung."""

from __future__ import annotations

from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.limits import first, grid_limit, indices
from convlab.kernels.method import Launch, Method, Plan
from convlab.spec import ConvSpec

__all__ = ["RUNGS"]

THREADS = 256


def _supports(spec: ConvSpec) -> str | None:
    """The grid has a filter along y and an image along z."""
    return first(grid_limit("K", spec.k, "filters"), grid_limit("N", spec.n, "images"), indices(spec))


def _naive(spec: ConvSpec) -> Plan:
    grid = (-(-spec.p * spec.q // THREADS), spec.k, spec.n)
    arguments = ("x", "w", "bias", "y", conv_struct(spec))
    return Plan((Launch("naive.cu", "conv_naive", grid, (THREADS, 1, 1), arguments),))


RUNGS = (
    Method(
        name="naive",
        op="conv2d",
        idea="one thread, one output; three loops",
        dtype="float32",
        layout="nchw",
        lesson="01",
        supports=_supports,
        plan=_naive,
    ),
)
