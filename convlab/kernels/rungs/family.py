"""Pointwise, grouped and depthwise convolution."""

from __future__ import annotations

from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.limits import first, fits_int, indices, only
from convlab.kernels.method import Claim, Launch, Method, Plan
from convlab.kernels.tiling import ceil_div
from convlab.spec import ConvSpec

__all__ = ["RUNGS", "strip_template", "strips"]

STRIP = 8  # TP of strip.cuh
THREADS = 128


def strips(spec: ConvSpec) -> int:
    """The strips of one output plane."""
    return ceil_div(spec.p, STRIP) * spec.q


def strip_template(spec: ConvSpec) -> str:
    """Which of strip.cuh's templates fits: the end of an entry's name."""
    known = spec.r == spec.s and spec.r in (3, 5) and spec.stride[0] in (1, 2) and spec.dilation[0] == 1
    return f"{spec.r}x{spec.s}{'_stride2' * (spec.stride[0] == 2)}" if known else "any"


def _depthwise(spec: ConvSpec) -> Plan:
    grid = (ceil_div(strips(spec) * spec.n * spec.k, THREADS), 1, 1)
    arguments = ("x", "w", "bias", "y", conv_struct(spec))
    entry = f"conv_depthwise_{strip_template(spec)}"
    return Plan((Launch("depthwise.cu", entry, grid, (THREADS, 1, 1), arguments),))


def _supports_depthwise(spec: ConvSpec) -> str | None:
    """Strips of all output planes are numbered with 32 bits."""
    return first(
        only(spec.groups == spec.c, "depthwise convolutions (groups = C)", f"groups={spec.groups} with C={spec.c}"),
        indices(spec),
        fits_int((("strips of outputs", spec.n * spec.k * strips(spec)),)),
    )


RUNGS = (
    Method(
        name="depthwise",
        op="conv2d",
        idea="one filter a channel; a thread walks down a column, with the taps in registers",
        dtype="float32",
        layout="nchw",
        lesson="12",
        supports=_supports_depthwise,
        limits="groups = C",
        plan=_depthwise,
        claims=(
            Claim("input elements", "naive", 2.4, "depthwise"),
            Claim("load requests", "naive", 3.6, "depthwise"),
            Claim("instructions per MAC", "naive", 2.3, "depthwise"),
        ),
    ),
)
