"""Kernels that keep what lies between two operations out of global memory, and the ones they are compared with."""

from __future__ import annotations

from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.limits import first, grid_limit, indices
from convlab.kernels.method import Claim, Launch, Method, Plan
from convlab.kernels.rungs.family import depthwise_launch, strip_template, strips, supports_depthwise
from convlab.spec import BlockSpec, ConvSpec, SeparableSpec

__all__ = ["RUNGS"]

THREADS = 256
LANES = 32
BM, BK = 64, 16  # of separable_fused.cu


def _naive(spec: ConvSpec, x: str, w: str, bias: str, y: str) -> Launch:
    """Launch naive.cu on tensors of these names."""
    arguments = (x, w, bias, y, conv_struct(spec))
    return Launch("naive.cu", "conv_naive", _grid(spec.p * spec.q, spec), (THREADS, 1, 1), arguments)


def _grid(units: int, spec: ConvSpec) -> tuple[int, int, int]:
    """Threads for so many things along x, a filter along y and an image along z."""
    return -(-units // THREADS), spec.k, spec.n


def _supports_separable(spec: SeparableSpec) -> str | None:
    return first(
        supports_depthwise(spec.depthwise),
        grid_limit("K", -(-spec.k // BM), f"tiles of {BM} filters"),
        indices(spec.pointwise),
    )


def _supports_two_kernels(spec: SeparableSpec) -> str | None:
    return first(
        supports_depthwise(spec.depthwise),
        grid_limit("K", spec.k, "filters"),
        grid_limit("N", spec.depthwise.n, "images"),
        indices(spec.pointwise),
    )


def _separable_fused(spec: SeparableSpec) -> Plan:
    template = strip_template(spec.depthwise)
    entry = f"separable_{template if template.startswith('3x3') else 'any'}"
    grid = (-(-spec.depthwise.n * strips(spec.depthwise) // LANES), -(-spec.k // BM), 1)
    tensors = ("x", "w_depthwise", "bias_depthwise", "w_pointwise", "bias_pointwise", "y")
    arguments = (*tensors, conv_struct(spec.depthwise), spec.k)
    return Plan((Launch("separable_fused.cu", entry, grid, (LANES, BK, 1), arguments),))


def _separable_two_kernels(spec: SeparableSpec) -> Plan:
    steps = (
        depthwise_launch(spec.depthwise, "x", "w_depthwise", "bias_depthwise", "between"),
        _naive(spec.pointwise, "between", "w_pointwise", "bias_pointwise", "y"),
    )
    return Plan(steps, {"between": (spec.depthwise.output_shape, "float32")})


def _supports_block(spec: BlockSpec) -> str | None:
    """The grid has a filter along y and an image along z."""
    return first(grid_limit("K", spec.conv.k, "filters"), grid_limit("N", spec.conv.n, "images"), indices(spec.conv))


def _fused_epilogue(spec: BlockSpec) -> Plan:
    conv = spec.conv
    columns = conv.q // 2 * 2  # of those, pooling has a thread for two rows
    units, suffix = (conv.p // 2 * columns, "_pool") if spec.pool else (conv.p * conv.q, "")
    arguments = ("x", "w", "bias", "scale", "shift", "y", conv_struct(conv), spec.relu)
    return Plan(
        (Launch("fused_epilogue.cu", f"fused_epilogue{suffix}", _grid(units, conv), (THREADS, 1, 1), arguments),)
    )


def _block_separate(spec: BlockSpec) -> Plan:
    conv = spec.conv
    pixels = conv.p * conv.q
    result = "conv" if spec.pool else "y"
    elementwise = (result, "scale", "shift", pixels, spec.relu)
    steps = (
        _naive(conv, "x", "w", "bias", result),
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
        supports=_supports_two_kernels,
        plan=_separable_two_kernels,
    ),
    Method(
        name="separable_fused",
        op="separable",
        idea="depthwise into shared memory, a chunk of channels at a time, and 1×1 from there",
        dtype="float32",
        layout="nchw",
        lesson="14",
        supports=_supports_separable,
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
