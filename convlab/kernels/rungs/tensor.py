"""Tensor Cores: wmma, and mma.sync with everything that feeds it; a rung for Hopper's wgmma would follow them here."""

from __future__ import annotations

from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.limits import first, fits_int, grid_limit, indices
from convlab.kernels.method import Claim, Launch, Method, Plan
from convlab.spec import ConvSpec

__all__ = ["RUNGS"]

THREADS = 128
BM, BN = 16, 64


def _supports(spec: ConvSpec) -> str | None:
    """Pixels of all images, and elements of a window, are numbered with 32 bits."""
    return first(
        grid_limit("G", spec.groups, "groups"),
        grid_limit("K", -(-spec.k // spec.groups // BM), f"tiles of {BM} filters"),
        fits_int((("output pixels", spec.gemm_shape.gemm_n), ("elements of a window", spec.gemm_shape.gemm_k))),
        indices(spec),
    )


def _tensor_core(spec: ConvSpec) -> Plan:
    gemm_m, gemm_n, _ = spec.gemm_shape
    grid = (-(-gemm_n // BN), -(-gemm_m // BM), spec.groups)
    arguments = ("x", "w", "bias", "y", conv_struct(spec))
    return Plan((Launch("tensor_core.cu", "conv_wmma", grid, (THREADS, 1, 1), arguments),))


RUNGS = (
    Method(
        name="tensor_core",
        op="conv2d",
        idea="implicit GEMM by wmma: a warp multiplies 16×16 matrices",
        dtype="float16",
        result="float32",
        layout="nchw",
        lesson="10",
        supports=_supports,
        plan=_tensor_core,
        claims=(Claim("instructions per MAC", "naive", 8),),
    ),
)
