"""The reference methods of the table: functions that run on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convlab.kernels.limits import only, plain_3x3
from convlab.kernels.method import Method
from convlab.reference.block import block_direct
from convlab.reference.cpu_conv import CPU_CONV
from convlab.reference.cpu_gemm import CPU_GEMM
from convlab.reference.dilated import dilated, zero_stuffed_convolution
from convlab.reference.direct import direct
from convlab.reference.grouped import depthwise, grouped
from convlab.reference.im2col import im2col, im2col_chunked
from convlab.reference.layout import layout_copy
from convlab.reference.matmul import matmul
from convlab.reference.pointwise import pointwise
from convlab.reference.separable import separable, separable_direct
from convlab.reference.transposed import transposed_matrix, zero_insertion
from convlab.reference.winograd import winograd_f2, winograd_f4
from convlab.spec import ConvSpec

__all__ = ["METHODS"]


PLAIN_3X3 = "3×3 filters, stride 1, dilation 1"


def _any(spec: Any) -> None:
    """What computes every spec."""


def _pointwise(spec: ConvSpec) -> str | None:
    return only((spec.r, spec.s) == (1, 1), "filters of 1×1", f"{spec.r}×{spec.s}")


def _depthwise(spec: ConvSpec) -> str | None:
    return only(spec.groups == spec.c, "as many groups as channels", f"groups={spec.groups} with c={spec.c}")


def _reference(
    name: str,
    op: str,
    lesson: str,
    idea: str,
    function: Callable[..., Any],
    supports: Callable[[Any], str | None] = _any,
    limits: str = "any size",
    dtype: str = "any",
    layout: str = "nchw",
) -> Method:
    return Method(name, op, idea, dtype, layout, lesson, supports, limits, reference=function)


def _of_matrices(function: Callable[..., Any]) -> Callable[..., Any]:
    """A product that needs no spec, as a reference of the op that has one."""
    return lambda a, b, spec: function(a, b)


# What each rung of the CPU ladders adds to the one before.
_CPU_CONV = {
    "loops": "seven loops, one output at a time",
    "blocked": "four filters share each pixel that is loaded",
    "vectorised": "packed filters, and a tile of pixels × filters in vector registers",
    "parallel": "the same on all cores",
}
_CPU_GEMM = {
    "loops": "three loops, one element at a time",
    "blocked": "tiles that stay in the cache",
    "packed": "panels of b side by side, so that the compiler vectorises",
    "vectorised": "a tile of the product in vector registers",
    "parallel": "the same on all cores",
}

METHODS = (
    _reference("direct", "conv2d", "01", "the definition in NumPy, summed in float64: the oracle", direct),
    _reference("im2col", "conv2d", "07", "every window a column, then NumPy's matmul", im2col),
    _reference("im2col_chunked", "conv2d", "07", "im2col with at most 64 MiB of columns at a time", im2col_chunked),
    _reference("pointwise_matmul", "conv2d", "12", "1×1 filters as a matmul", pointwise, _pointwise, "1×1 filters"),
    _reference("grouped_loop", "conv2d", "12", "a convolution for each group", grouped),
    _reference(
        "depthwise_taps", "conv2d", "12", "a tap at a time, no matmul", depthwise, _depthwise, "groups = channels"
    ),
    _reference("dilated_taps", "conv2d", "13", "R·S taps that lie apart", dilated),
    _reference("zero_stuffed", "conv2d", "13", "a dense filter with zeros between the taps", zero_stuffed_convolution),
    _reference(
        "winograd_f2", "conv2d", "15", "F(2×2, 3×3): 16 products for 4 outputs", winograd_f2, plain_3x3, PLAIN_3X3
    ),
    _reference(
        "winograd_f4", "conv2d", "15", "F(4×4, 3×3): 36 products for 16 outputs", winograd_f4, plain_3x3, PLAIN_3X3
    ),
    _reference(
        "transposed_matrix",
        "conv_transpose2d",
        "13",
        "the transposed filter matrix, then col2im",
        transposed_matrix,
    ),
    _reference(
        "zero_insertion", "conv_transpose2d", "13", "zeros between the inputs, then a convolution", zero_insertion
    ),
    _reference("blas", "gemm", "08", "NumPy's matmul", matmul, layout="row-major"),
    *(
        _reference(f"cpu_{name}", "conv2d", "16", f"Numba: {idea}", CPU_CONV[name], dtype="float32")
        for name, idea in _CPU_CONV.items()
    ),
    *(
        _reference(
            f"cpu_gemm_{name}",
            "gemm",
            "08",
            f"Numba: {idea}",
            _of_matrices(CPU_GEMM[name]),
            dtype="float32",
            layout="row-major",
        )
        for name, idea in _CPU_GEMM.items()
    ),
    _reference("layout_copy", "layout", "11", "NumPy's transposed copy", layout_copy, layout="any"),
    _reference("separable_direct", "separable", "12", "two direct convolutions", separable_direct),
    _reference("separable_taps", "separable", "12", "a tap at a time, then a matmul", separable),
    _reference("block_direct", "block", "14", "a direct convolution, then a step at a time", block_direct),
)
