"""Winograd's minimal filtering."""

from __future__ import annotations

from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.limits import first, fits_int, grid_limit, indices, plain_3x3
from convlab.kernels.method import Claim, Launch, Method, Plan
from convlab.kernels.tiling import ceil_div
from convlab.spec import ConvSpec

__all__ = ["RUNGS"]

THREADS = 256
BT, BC = 32, 4  # tiles of a block, and channels of a stage, as in winograd.cu


def _tiles(spec: ConvSpec) -> int:
    """Tiles of 2×2 outputs, of all images."""
    return spec.n * ceil_div(spec.p, 2) * ceil_div(spec.q, 2)


def _bk(spec: ConvSpec) -> int:
    """Filters of a block: a group of few needs no more than 16."""
    return 16 if spec.k // spec.groups <= 16 else 32


def _parts(spec: ConvSpec) -> int:
    """Blocks along the filters of a group."""
    return ceil_div(spec.k // spec.groups, _bk(spec))


def _channels(spec: ConvSpec) -> int:
    """Of a transformed filter: as many as fill the last stage."""
    return ceil_div(spec.c // spec.groups, BC) * BC


def _supports(spec: ConvSpec) -> str | None:
    return first(
        plain_3x3(spec),
        grid_limit("C/G", _channels(spec), "channels"),
        grid_limit("⌈K/G / 32⌉", _parts(spec), "parts of a group"),
        grid_limit("G", spec.groups, "groups"),
        indices(spec),
        fits_int((("tiles", _tiles(spec)), ("slots of filters", spec.groups * _parts(spec) * _bk(spec)))),
    )


def _winograd(spec: ConvSpec) -> Plan:
    v, bk, parts, channels = conv_struct(spec), _bk(spec), _parts(spec), _channels(spec)

    def launch(entry: str, grid: tuple[int, int, int], *tensors: str) -> Launch:
        return Launch("winograd.cu", entry, grid, (THREADS, 1, 1), (*tensors, v), options=(f"-DBK={bk}",))

    slots = spec.groups * parts * bk
    filters = launch("winograd_filters", (ceil_div(slots, THREADS), channels, 1), "w", "u")
    convolve = launch("conv_winograd", (ceil_div(_tiles(spec), BT), parts, spec.groups), "x", "u", "bias", "y")
    return Plan((filters, convolve), {"u": ((spec.groups, parts, channels, 16, bk), "float32")})


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
        claims=(
            Claim("multiply-adds", "naive", 2.0, "wide"),
            Claim("multiply-adds", "naive", 1.8),
            Claim("instructions", "implicit_gemm", 1.5, "wide"),
        ),
    ),
)
