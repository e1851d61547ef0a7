"""Kernels that keep what lies between two operations out of global memory, and the ones they are compared with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.known import known_sizes
from convlab.kernels.limits import first, grid_limit, indices
from convlab.kernels.method import Claim, Launch, Method, Plan
from convlab.kernels.rungs import family, gemm, threads
from convlab.kernels.rungs.family import strip_template, strips
from convlab.kernels.tiling import TILES, ceil_div, tile_of
from convlab.spec import BlockSpec, ConvSpec, SeparableSpec

__all__ = ["RUNGS"]

THREADS = 256
LANES = 32
BK = 16  # of separable_fused.cu


def _named(name: str, rungs: tuple[Method, ...]) -> Method:
    return next(record for record in rungs if record.name == name)


DEPTHWISE = _named("depthwise", family.RUNGS)
POINTWISE = _named("pointwise", gemm.RUNGS)
NAIVE = _named("naive", threads.RUNGS)


def _steps(record: Method, spec: Any, **names: str) -> tuple[Launch, ...]:
    """The launches of another method, on tensors of other names."""
    assert record.plan is not None
    return tuple(
        replace(
            step, arguments=tuple(names.get(each, each) if isinstance(each, str) else each for each in step.arguments)
        )
        for step in record.plan(spec).launches
    )


def _grid(units: int, spec: ConvSpec) -> tuple[int, int, int]:
    """Threads for so many things along x, a filter along y and an image along z."""
    return ceil_div(units, THREADS), spec.k, spec.n


def _supports_fused(spec: SeparableSpec) -> str | None:
    return first(
        DEPTHWISE.supports(spec.depthwise),
        grid_limit("⌈K / 64⌉", ceil_div(spec.k, TILES[-1]), "tiles of filters"),
        indices(spec.pointwise),
    )


def _separable_fused(spec: SeparableSpec) -> Plan:
    template = strip_template(spec.depthwise)
    entry = f"separable_{template if template.startswith('3x3') else 'any'}"
    bm = tile_of(spec.k)
    grid = (ceil_div(spec.depthwise.n * strips(spec.depthwise), LANES), ceil_div(spec.k, bm), 1)
    tensors = ("x", "w_depthwise", "bias_depthwise", "w_pointwise", "bias_pointwise", "y")
    arguments = (*tensors, conv_struct(spec.depthwise), spec.k)
    step = Launch("separable_fused.cu", entry, grid, (LANES, BK, 1), arguments, options=(f"-DBM={bm}",))
    return Plan((step,))


def _separable_two_kernels(spec: SeparableSpec) -> Plan:
    steps = (
        *_steps(DEPTHWISE, spec.depthwise, w="w_depthwise", bias="bias_depthwise", y="between"),
        *_steps(POINTWISE, spec.pointwise, x="between", w="w_pointwise", bias="bias_pointwise"),
    )
    return Plan(steps, {"between": (spec.depthwise.output_shape, "float32")})


def _supports_block(spec: BlockSpec) -> str | None:
    """The grids are those of naive."""
    return NAIVE.supports(spec.conv)


def _fused_epilogue(spec: BlockSpec) -> Plan:
    conv = spec.conv
    columns = conv.q // 2 * 2  # of those, pooling has a thread for two rows
    units, suffix = (conv.p // 2 * columns, "_pool") if spec.pool else (conv.p * conv.q, "")
    arguments = ("x", "w", "bias", "scale", "shift", "y", conv_struct(conv), spec.relu)
    entry, grid = f"fused_epilogue{suffix}", _grid(units, conv)
    step = Launch("fused_epilogue.cu", entry, grid, (THREADS, 1, 1), arguments, options=known_sizes(conv))
    return Plan((step,))


def _block_separate(spec: BlockSpec) -> Plan:
    conv = spec.conv
    pixels = conv.p * conv.q
    result = "conv" if spec.pool else "y"
    elementwise = (result, "scale", "shift", pixels, spec.relu)
    steps: tuple[Launch, ...] = (
        *_steps(NAIVE, conv, y=result),
        Launch("elementwise.cu", "scale_shift_relu", _grid(pixels, conv), (THREADS, 1, 1), elementwise),
    )
    if not spec.pool:
        return Plan(steps)
    grid = _grid(conv.p // 2 * (conv.q // 2), conv)
    pool = Launch("elementwise.cu", "max_pool", grid, (THREADS, 1, 1), ("conv", "y", conv.p, conv.q))
    return Plan((*steps, pool), {"conv": (conv.output_shape, "float32")})


RUNGS = (
    Method(
        name="separable_two_kernels",
        op="separable",
        idea="a depthwise kernel, then a 1×1 kernel; what lies between goes through global memory",
        dtype="float32",
        layout="nchw",
        lesson="14",
        supports=lambda spec: first(DEPTHWISE.supports(spec.depthwise), POINTWISE.supports(spec.pointwise)),
        plan=_separable_two_kernels,
    ),
    Method(
        name="separable_fused",
        op="separable",
        idea="depthwise into shared memory, a chunk of channels at a time, and 1×1 from there",
        dtype="float32",
        layout="nchw",
        lesson="14",
        supports=_supports_fused,
        plan=_separable_fused,
        claims=(
            Claim("store sectors", "separable_two_kernels", 2),
            Claim("global bytes", "separable_two_kernels", 1.4),
        ),
    ),
    Method(
        name="block_separate",
        op="block",
        idea="convolution, scale and shift with ReLU, and pooling as kernels of their own",
        dtype="float32",
        layout="nchw",
        lesson="14",
        supports=_supports_block,
        plan=_block_separate,
    ),
    Method(
        name="fused_epilogue",
        op="block",
        idea="bias, batch norm, ReLU and pooling while the result is still in a register",
        dtype="float32",
        layout="nchw",
        lesson="14",
        supports=_supports_block,
        plan=_fused_epilogue,
        claims=(
            Claim("store sectors", "block_separate", 9),
            Claim("load requests", "block_separate", 1.3),
            Claim("global bytes", "block_separate", 1.1),
        ),
    ),
)
