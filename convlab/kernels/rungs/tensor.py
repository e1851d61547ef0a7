"""Tensor Cores: wmma, and mma.sync with everything that feeds it; a rung for Hopper's wgmma would follow them here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.limits import first, fits_int, grid_limit, indices
from convlab.kernels.method import Claim, Launch, Method, Plan
from convlab.kernels.tiling import TILES, ceil_div, tile_of
from convlab.spec import ConvSpec

__all__ = ["RUNGS"]

THREADS = 128
BM, BN = 16, 64  # filters and pixels of a block of tensor_core
PIECE, ROW = 16, 64  # bytes that tensor_core_mma copies at a time, and bytes along k in a row of its tiles
BUSY = 128  # blocks that fill a large GPU, of some hundred multiprocessors
LEAST_STEPS = 4  # along k, below which a part of k is not worth the second kernel


def _supports(bm: int) -> Callable[[ConvSpec], str | None]:
    """What a grid with tiles of ``bm`` filters along y and groups along z can do, in 32-bit numbers."""

    def supports(spec: ConvSpec) -> str | None:
        gemm_m, gemm_n, gemm_k = spec.gemm_shape
        return first(
            grid_limit("G", spec.groups, "groups"),
            grid_limit(f"⌈K/G / {bm}⌉", ceil_div(gemm_m, bm), "tiles of filters"),
            fits_int((("columns of X_col", gemm_n), ("rows of X_col", gemm_k))),
            indices(spec),
        )

    return supports


def _tensor_core(spec: ConvSpec) -> Plan:
    gemm_m, gemm_n, _ = spec.gemm_shape
    grid = (ceil_div(gemm_n, BN), ceil_div(gemm_m, BM), spec.groups)
    arguments = ("x", "w", "bias", "y", conv_struct(spec))
    return Plan((Launch("tensor_core.cu", "conv_wmma", grid, (THREADS, 1, 1), arguments),))


def _mma(element: str, size: int) -> Callable[[ConvSpec], Plan]:
    """The plan for elements of a type of CUDA C, of ``size`` bytes: in parts of k where the output has few tiles."""

    def plan(spec: ConvSpec) -> Plan:
        gemm_m, gemm_n, gemm_k = spec.gemm_shape
        bm = tile_of(gemm_m)
        tiles, filters = ceil_div(gemm_n, BN), ceil_div(gemm_m, bm)
        parts = _parts(tiles * filters * spec.groups, ceil_div(gemm_k * size, ROW))
        whole = spec.c // spec.groups * size % PIECE == 0
        options = (f"-DELEMENT={element}", f"-DBM={bm}")

        def step(entry: str, grid: tuple[int, int, int], *arguments: Any) -> Launch:
            return Launch("tensor_core_mma.cu", entry, grid, (THREADS, 1, 1), arguments, options=options)

        entry, conv = "conv_mma" if whole else "conv_mma_any", conv_struct(spec)
        grid = (tiles, filters, spec.groups * parts)
        if parts == 1:
            return Plan((step(entry, grid, "x", "w", "bias", "y", conv),))
        sums = ceil_div(gemm_n * spec.k, THREADS)
        return Plan(
            (
                step(entry, grid, "x", "w", None, "parts", conv),
                step("conv_mma_add", (sums, 1, 1), "parts", "bias", "y", conv, parts),
            ),
            {"parts": ((parts, spec.n, spec.p, spec.q, spec.k), "float32")},
        )

    return plan


def _parts(blocks: int, steps: int) -> int:
    """In how many parts of k to compute an output of so many tiles; none of them is empty."""
    wanted = max(1, min(BUSY // blocks, steps // LEAST_STEPS))
    return ceil_div(steps, ceil_div(steps, wanted))


RUNGS = (
    Method(
        name="tensor_core",
        op="conv2d",
        idea="implicit GEMM by wmma: a warp multiplies 16×16 matrices",
        dtype="float16",
        result="float32",
        layout="nchw",
        lesson="10",
        supports=_supports(BM),
        plan=_tensor_core,
        claims=(Claim("instructions per MAC", "naive", 2.2),),
    ),
    Method(
        name="tensor_core_mma",
        op="conv2d",
        idea="mma.sync fed by cp.async, a swizzle and ldmatrix; parts of k for small outputs",
        dtype="float16",
        result="float32",
        layout="nhwc",
        lesson="10",
        supports=_supports(TILES[-1]),
        plan=_mma("half", 2),
        claims=(
            Claim("load requests", "tensor_core", 7),
            Claim("instructions per MAC", "tensor_core", 3),
            Claim("instructions per MAC", "tensor_core", 5, "wide"),
            Claim("shared wavefronts", "tensor_core", 2, "wide"),
        ),
    ),
    Method(
        name="tensor_core_bf16",
        op="conv2d",
        idea="tensor_core_mma in bfloat16: the range of float32 with 8 bits of precision",
        dtype="bfloat16",
        result="float32",
        layout="nhwc",
        lesson="10",
        supports=_supports(TILES[-1]),
        plan=_mma("__nv_bfloat16", 2),
        since=80,
        claims=(Claim("instructions per MAC", "naive", 30),),
    ),
    Method(
        name="tensor_core_tf32",
        op="conv2d",
        idea="tensor_core_mma on float32, whose factors are rounded to TF32's 11 bits",
        dtype="float32",
        layout="nhwc",
        lesson="10",
        supports=_supports(TILES[-1]),
        plan=_mma("float", 4),
        since=80,
        products="tf32",
        claims=(Claim("instructions per MAC", "naive", 10),),
    ),
)
