"""Implicit GEMM: the matrix product whose right factor is never stored."""

from __future__ import annotations

from collections.abc import Callable

from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.limits import first, fits_int, grid_limit, indices
from convlab.kernels.method import Claim, Launch, Method, Plan
from convlab.spec import ConvSpec

__all__ = ["RUNGS"]

THREADS = 128  # of a block, and its pixels
TILES = (16, 32, 64)  # filters of a block: as few as hold a group's, since what is left over is computed as zeros


def _filters_of_a_block(spec: ConvSpec) -> int:
    return next((bm for bm in TILES if bm >= spec.gemm_shape.gemm_m), TILES[-1])


def _supports(spec: ConvSpec) -> str | None:
    """The grid has a tile of filters along y and a group along z; rows, columns and pixels have 32-bit numbers."""
    m, n, k = spec.gemm_shape
    sizes = (("rows of X_col", k), ("columns of X_col", n), ("input pixels of a plane", spec.h * spec.w))
    tiles = grid_limit("⌈K/G / 64⌉", -(-m // TILES[-1]), "tiles of filters")
    return first(tiles, grid_limit("G", spec.groups, "groups"), indices(spec), fits_int(sizes))


def _plan(source: str, entry: str) -> Callable[[ConvSpec], Plan]:
    def plan(spec: ConvSpec) -> Plan:
        m, n, _ = spec.gemm_shape
        bm = _filters_of_a_block(spec)
        grid = (-(-n // THREADS), -(-m // bm), spec.groups)
        arguments = ("x", "w", "bias", "y", conv_struct(spec))
        return Plan((Launch(source, entry, grid, (THREADS, 1, 1), arguments, options=(f"-DBM={bm}",)),))

    return plan


RUNGS: tuple[Method, ...] = (
    Method(
        name="implicit_gemm",
        op="conv2d",
        idea="im2col's product with a matrix that is never stored",
        dtype="float32",
        layout="nchw",
        lesson="09",
        supports=_supports,
        plan=_plan("implicit_gemm.cu", "conv_implicit_gemm"),
        claims=(Claim("input sectors", "naive", 16), Claim("instructions per MAC", "naive", 9)),
    ),
    Method(
        name="implicit_gemm_nhwc",
        op="conv2d",
        idea="implicit GEMM with channels last: 16 bytes a load",
        dtype="float32",
        layout="nhwc",
        lesson="11",
        supports=_supports,
        plan=_plan("implicit_gemm_nhwc.cu", "conv_implicit_gemm_nhwc"),
        claims=(Claim("load requests", "implicit_gemm", 3.5),),
    ),
)
