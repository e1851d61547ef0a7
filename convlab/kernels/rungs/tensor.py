"""Tensor Cores: wmma, and mma.sync with everything that feeds it; a rung for Hopper's wgmma would follow them here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.limits import first, fits_int, grid_limit, indices
from convlab.kernels.method import Claim, Launch, Method, Plan
from convlab.kernels.padded import PADDED_DTYPE, padded_input
from convlab.kernels.tiling import TILES, ceil_div, tile_of
from convlab.spec import ConvSpec

__all__ = ["RUNGS"]

THREADS = 128
BM, BN = 16, 64  # filters and pixels of a block of tensor_core
MMA_BN = 64, 256  # pixels of a block of tensor_core_mma
PIECE = 16  # bytes that it copies at a time
FEW, MANY = 2, 4  # pieces in a row of its tiles: where a step multiplies several taps, and where one
ROOM = 48 << 10  # bytes of shared memory; twice as much lies in any SM since Ampere
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


class _Tile(NamedTuple):
    """How tensor_core_mma computes a spec: from ``taps`` taps of a window at a time, each with ``pieces`` pieces."""

    source: str
    entry: str
    bn: int
    pieces: int
    taps: int
    shared: int
    padded: tuple[Any, ...] = ()


def _tile(spec: ConvSpec, size: int, bm: int) -> _Tile:
    """All taps read one copy of the input, where it fits; elsewhere each window is gathered."""
    channels = spec.c // spec.groups * size  # bytes
    bn = _pixels(spec, bm) if channels % PIECE == 0 else MMA_BN[0]
    pieces = FEW if spec.r * spec.s > 1 else MANY
    if spec.stride == (1, 1) and channels % (PIECE * pieces) == 0:
        for padded in (padded_input(spec, bn), padded_input(spec, bn, level=False)):
            shared = 2 * (padded.slots + spec.s * bm) * pieces * PIECE + 4 * padded.slots
            if shared <= ROOM and (spec.n + bn) * padded.image < 2**31:
                sizes = np.array(tuple(padded), PADDED_DTYPE)[()]
                return _Tile("tensor_core_mma.cu", "conv_mma", bn, pieces, spec.r * spec.s, shared, (sizes,))
    entry = "conv_mma_any" if channels % PIECE else "conv_mma_gather"
    return _Tile("tensor_core_gather.cu", entry, bn, MANY, 1, 2 * (bn + bm) * MANY * PIECE)


def _pixels(spec: ConvSpec, bm: int) -> int:
    """Pixels of a block: many, unless so few blocks were left that parts of k would not make up for them."""
    few, many = MMA_BN
    gemm_m, gemm_n, _ = spec.gemm_shape
    return many if ceil_div(gemm_n, many) * ceil_div(gemm_m, bm) * spec.groups >= BUSY // 4 else few


def _mma(element: str, size: int) -> Callable[[ConvSpec], Plan]:
    """The plan for elements of a type of CUDA C, of ``size`` bytes: in parts of k where the output has few tiles."""

    def plan(spec: ConvSpec) -> Plan:
        gemm_m, gemm_n, gemm_k = spec.gemm_shape
        bm = tile_of(gemm_m)
        tile = _tile(spec, size, bm)
        tiles, filters = ceil_div(gemm_n, tile.bn), ceil_div(gemm_m, bm)
        steps = ceil_div(gemm_k // tile.taps * size, PIECE * tile.pieces)
        parts = _parts(tiles * filters * spec.groups, steps, ceil_div(LEAST_STEPS, tile.taps))
        options = (f"-DELEMENT={element}", f"-DBM={bm}", f"-DBN={tile.bn}", f"-DPIECES={tile.pieces}")
        grid, block, conv = (tiles, filters, spec.groups * parts), (THREADS, 1, 1), conv_struct(spec)

        def product(bias: str | None, y: str) -> Launch:
            arguments = ("x", "w", bias, y, conv, *tile.padded)
            return Launch(tile.source, tile.entry, grid, block, arguments, tile.shared, options)

        if parts == 1:
            return Plan((product("bias", "y"),))
        sums = (ceil_div(gemm_n * spec.k, THREADS), 1, 1)
        add = Launch("add_parts.cu", "add_parts", sums, block, ("parts", "bias", "y", conv, parts))
        scratch = {"parts": ((parts, spec.n, spec.p, spec.q, spec.k), "float32")}
        return Plan((product(None, "parts"), add), scratch)

    return plan


def _parts(blocks: int, steps: int, least: int) -> int:
    """In how many parts of k to compute an output of so many tiles; none of them is empty."""
    wanted = max(1, min(BUSY // blocks, steps // least))
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
        idea="mma.sync fed by cp.async, a swizzle and ldmatrix; all taps read one copy of the input",
        dtype="float16",
        result="float32",
        layout="nhwc",
        lesson="10",
        supports=_supports(TILES[-1]),
        plan=_mma("half", 2),
        claims=(
            Claim("load requests", "tensor_core", 16),
            Claim("input sectors", "tensor_core", 14, "wide"),
            Claim("instructions per MAC", "tensor_core", 4),
            Claim("instructions per MAC", "tensor_core", 8, "wide"),
            Claim("shared wavefronts", "tensor_core", 3, "wide"),
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
        claims=(Claim("instructions per MAC", "naive", 10),),
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
        claims=(Claim("instructions per MAC", "naive", 3),),
    ),
)
