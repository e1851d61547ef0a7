"""Winograd's minimal filtering."""

from __future__ import annotations

from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.limits import first, fits_int, grid_limit, indices, plain_3x3
from convlab.kernels.method import Claim, Launch, Method, Plan
from convlab.kernels.tiling import ceil_div
from convlab.spec import ConvSpec

__all__ = ["RUNGS"]

BK, BT = 32, 32  # filters and tiles of a block, as in winograd.cu
THREADS = 256


def _tiles(spec: ConvSpec) -> int:
    """Tiles of 2×2 outputs, of all images."""
    return spec.n * ceil_div(spec.p, 2) * ceil_div(spec.q, 2)


def _parts(spec: ConvSpec) -> int:
    """Blocks along the filters: each computes filters of one group."""
    return spec.groups * ceil_div(spec.k // spec.groups, BK)


def _supports(spec: ConvSpec) -> str | None:
    return first(
        plain_3x3(spec),
        grid_limit("C/G", spec.c // spec.groups, "channels"),
        grid_limit("G·⌈K/G/32⌉", _parts(spec), "groups and parts of their filters"),
        indices(spec),
        fits_int((("tiles", _tiles(spec)),)),
    )


def _winograd(spec: ConvSpec) -> Plan:
    channels, v = spec.c // spec.groups, conv_struct(spec)
    source, block = "winograd.cu", (THREADS, 1, 1)
    filters = Launch(source, "winograd_filters", (ceil_div(spec.k, THREADS), channels, 1), block, ("w", "u", v))
    grid = (ceil_div(_tiles(spec), BT), _parts(spec), 1)
    convolve = Launch(source, "conv_winograd", grid, block, ("x", "u", "bias", "y", v))
    return Plan((filters, convolve), {"u": ((channels, 16, spec.k), "float32")})


RUNGS = (
    Method(
        name="winograd",
        op="conv2d",
        idea="F(2×2, 3×3) fused: 16 products instead of 36, between transforms",
        dtype="float32",
        layout="nchw",
        lesson="15",
        supports=_supports,
        limits="3×3, stride 1, dilation 1",
        plan=_winograd,
        claims=(Claim("multiply-adds", "naive", 2.0, "wide"), Claim("multiply-adds", "naive", 1.8)),
    ),
)
