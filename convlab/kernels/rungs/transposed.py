"""Transposed convolution: gathered, scattered, and with zeros inserted."""

from __future__ import annotations

import math

from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.known import known_sizes
from convlab.kernels.limits import first, fits_int, grid_limit, steps
from convlab.kernels.method import Claim, Launch, Method, Plan
from convlab.kernels.tiling import ceil_div
from convlab.spec import ConvSpec, ConvTransposeSpec
from convlab.spec.values import LIMIT

__all__ = ["RUNGS"]

BLOCK = (256, 1, 1)


def _reach(spec: ConvTransposeSpec) -> tuple[int, int]:
    """How far a dilated window reaches beyond its first tap."""
    return spec.dilation[0] * (spec.r - 1), spec.dilation[1] * (spec.s - 1)


def _spread(spec: ConvTransposeSpec) -> tuple[int, int]:
    """The height and width of the input with zeros between and around its pixels."""
    below, right = _reach(spec)
    return spec.p + below, spec.q + right


def _phases(spec: ConvTransposeSpec) -> int:
    return spec.stride[0] * spec.stride[1]


def _supports(spec: ConvTransposeSpec) -> str | None:
    """The grid has a filter along y and an image along z; planes and pixels are numbered with 32 bits."""
    top, bottom, left, right = spec.padding
    height, width = _spread(spec)
    counts = (
        ("output pixels of a plane", spec.p * spec.q),
        ("input pixels of a plane", spec.h * spec.w),
        ("input planes", spec.n * spec.c),
        ("output planes", spec.n * spec.k),
        ("filter planes", spec.c * (spec.k // spec.groups)),
        ("taps of a filter", spec.r * spec.s),
        ("rows before cropping", height + top + bottom),
        ("columns before cropping", width + left + right),
        *steps(spec),
    )
    return first(grid_limit("K", spec.k, "filters"), grid_limit("N", spec.n, "images"), fits_int(counts))


def _gather_supports(spec: ConvTransposeSpec) -> str | None:
    return first(_supports(spec), grid_limit("N·stride²", spec.n * _phases(spec), "images and phases"))


def _work(spec: ConvTransposeSpec) -> str | None:
    """The ordinary convolution is a spec as well."""
    macs = math.prod(spec.output_shape) * (spec.c // spec.groups) * spec.r * spec.s
    if macs <= LIMIT:
        return None
    return f"With the inserted zeros, the work is {macs} multiply-accumulates, beyond 2^63 − 1."


def _zero_supports(spec: ConvTransposeSpec) -> str | None:
    height, width = _spread(spec)
    return first(
        _supports(spec),
        grid_limit("C", spec.c, "channels"),
        fits_int((("pixels of a spread-out plane", height * width),)),
        _work(spec),
    )


def _blocks(count: int) -> int:
    return ceil_div(count, BLOCK[0])


def _gather(spec: ConvTransposeSpec) -> Plan:
    """As many blocks for each phase as the first needs, the largest."""
    largest = math.prod(ceil_div(size, step) for size, step in zip((spec.p, spec.q), spec.stride, strict=True))
    grid = (_blocks(largest), spec.k, spec.n * _phases(spec))
    arguments = ("x", "w", "bias", "y", conv_struct(spec))
    return Plan((Launch("transposed.cu", "conv_transposed", grid, BLOCK, arguments),))


def _scatter(spec: ConvTransposeSpec) -> Plan:
    source, v = "transposed_scatter.cu", conv_struct(spec)
    fill = (_blocks(spec.p * spec.q), spec.k, spec.n)
    scatter = (_blocks(spec.h * spec.w), spec.k, spec.n)
    return Plan(
        (
            Launch(source, "fill_with_bias", fill, BLOCK, ("bias", "y", v)),
            Launch(source, "conv_transposed_scatter", scatter, BLOCK, ("x", "w", "y", v)),
        )
    )


def _zero_insertion(spec: ConvTransposeSpec) -> Plan:
    source, v = "zero_insertion.cu", conv_struct(spec)
    (height, width), channels = _spread(spec), spec.c // spec.groups
    z, f = (spec.n, spec.c, height, width), (spec.k, channels, spec.r, spec.s)
    ordinary = ConvSpec.from_shapes(z, f, dilation=spec.dilation, groups=spec.groups)
    spread = (_blocks(height * width), spec.c, spec.n)
    flip = (_blocks(spec.r * spec.s), spec.k, channels)
    convolve = (_blocks(spec.p * spec.q), spec.k, spec.n)
    arguments, options = ("z", "f", "bias", "y", conv_struct(ordinary)), known_sizes(ordinary)
    return Plan(
        (
            Launch(source, "spread_with_zeros", spread, BLOCK, ("x", "z", v)),
            Launch(source, "flip_filters", flip, BLOCK, ("w", "f", v)),
            Launch("naive.cu", "conv_naive", convolve, BLOCK, arguments, options=options),
        ),
        {"z": (z, "float32"), "f": (f, "float32")},
    )


RUNGS = (
    Method(
        name="transposed_zero_insertion",
        op="conv_transpose2d",
        idea="zeros between the pixels, flipped filters, then naive: the waste to beat",
        dtype="float32",
        layout="nchw",
        lesson="13",
        supports=_zero_supports,
        plan=_zero_insertion,
    ),
    Method(
        name="transposed_scatter",
        op="conv_transpose2d",
        idea="each input pixel adds its filters to the output, atomically",
        dtype="float32",
        layout="nchw",
        lesson="13",
        supports=_supports,
        plan=_scatter,
        claims=(Claim("multiply-adds", "transposed_zero_insertion", 4.17),),
    ),
    Method(
        name="transposed",
        op="conv_transpose2d",
        idea="each output pixel gathers the inputs that reach it; a block has one phase of the stride",
        dtype="float32",
        layout="nchw",
        lesson="13",
        supports=_gather_supports,
        plan=_gather,
        claims=(Claim("multiply-adds", "transposed_zero_insertion", 4.17),),
    ),
)
