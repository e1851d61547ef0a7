"""Implicit GEMM: the matrix product whose right factor is never stored."""

from __future__ import annotations

from collections.abc import Callable

from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.limits import first, fits_int, grid_limit, indices
from convlab.kernels.method import Claim, Launch, Method, Plan
from convlab.kernels.tiling import TILES, ceil_div, tile_of
from convlab.spec import ConvSpec

__all__ = ["RUNGS"]

THREADS = 128  # of a block, and its pixels
MOST = 8  # filters of a thread in the grouped rung


def _numbers(spec: ConvSpec) -> str | None:
    """The grid has a group along y or z; rows and columns of X_col have 32-bit numbers."""
    _, n, k = spec.gemm_shape
    sizes = ("rows of X_col", k), ("columns of X_col", n)
    return first(grid_limit("G", spec.groups, "groups"), indices(spec), fits_int(sizes))


def _supports(spec: ConvSpec) -> str | None:
    """The grid has a tile of filters along y."""
    tiles = ceil_div(spec.gemm_shape.gemm_m, TILES[-1])
    return first(grid_limit("⌈K/G / 64⌉", tiles, "tiles of filters"), _numbers(spec))


def _plan(source: str, entry: str) -> Callable[[ConvSpec], Plan]:
    def plan(spec: ConvSpec) -> Plan:
        m, n, _ = spec.gemm_shape
        bm = tile_of(m)
        grid = (ceil_div(n, THREADS), ceil_div(m, bm), spec.groups)
        arguments = ("x", "w", "bias", "y", conv_struct(spec))
        return Plan((Launch(source, entry, grid, (THREADS, 1, 1), arguments, options=(f"-DBM={bm}",)),))

    return plan


def _filters_of_a_thread(spec: ConvSpec) -> int:
    """At most 8, in as few parts as that allows, and the parts as small as can be."""
    filters = spec.gemm_shape.gemm_m
    return ceil_div(filters, ceil_div(filters, MOST))


def _grouped_supports(spec: ConvSpec) -> str | None:
    """The grid has a group along y and a part of its filters along z."""
    parts = ceil_div(spec.gemm_shape.gemm_m, MOST)
    return first(grid_limit("⌈K/G / 8⌉", parts, "parts of a group"), _numbers(spec))


def _grouped(spec: ConvSpec) -> Plan:
    m, n, _ = spec.gemm_shape
    tm = _filters_of_a_thread(spec)
    grid = (ceil_div(n, THREADS), spec.groups, ceil_div(m, tm))
    arguments = ("x", "w", "bias", "y", conv_struct(spec))
    return Plan((Launch("grouped.cu", "conv_grouped", grid, (THREADS, 1, 1), arguments, options=(f"-DTM={tm}",)),))


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
        claims=(
            Claim("store sectors", "im2col_gemm", 10),
            Claim("global bytes", "im2col_gemm", 2.5),
            Claim("input sectors", "naive", 16),
            Claim("instructions per MAC", "naive", 2.5),
        ),
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
    Method(
        name="grouped",
        op="conv2d",
        idea="a thread computes all filters of a group for one pixel",
        dtype="float32",
        layout="nchw",
        lesson="12",
        supports=_grouped_supports,
        plan=_grouped,
        claims=(
            Claim("input elements", "naive", 4, "grouped"),
            Claim("input sectors", "naive", 4, "grouped"),
            Claim("instructions per MAC", "naive", 1.2, "grouped"),
            Claim("multiply-adds", "implicit_gemm", 4, "grouped"),
        ),
    ),
)
