"""The reference methods of the table: functions that run on the CPU."""

from __future__ import annotations

from convlab.kernels.limits import plain_3x3
from convlab.kernels.method import Method
from convlab.reference.direct import direct
from convlab.reference.transposed import transposed_matrix, zero_insertion
from convlab.reference.winograd import winograd_f2, winograd_f4
from convlab.reference.layout import layout_copy

__all__ = ["METHODS"]

METHODS = (
    Method(
        name="direct",
        op="conv2d",
        idea="the definition in NumPy, summed in float64: the oracle",
        dtype="any",
        layout="nchw",
        lesson="01",
        supports=lambda spec: None,
        reference=direct,
    ),
    Method(
        name="layout_copy",
        op="layout",
        idea="NumPy's transposed copy",
        dtype="any",
        layout="any",
        lesson="11",
        supports=lambda spec: None,
        reference=layout_copy,
    ),
    Method(
        name="transposed_matrix",
        op="conv_transpose2d",
        idea="Wᵀ · x, then col2im: im2col's steps transposed, in reverse",
        dtype="any",
        layout="nchw",
        lesson="13",
        supports=lambda spec: None,
        reference=transposed_matrix,
    ),
    Method(
        name="zero_insertion",
        op="conv_transpose2d",
        idea="zeros between the pixels, then an ordinary convolution with flipped filters",
        dtype="any",
        layout="nchw",
        lesson="13",
        supports=lambda spec: None,
        reference=zero_insertion,
    ),
    Method(
        name="winograd_f2",
        op="conv2d",
        idea="F(2×2, 3×3): 16 products instead of 36 for four outputs",
        dtype="any float",
        layout="nchw",
        lesson="15",
        supports=plain_3x3,
        limits="3×3, stride 1, dilation 1",
        reference=winograd_f2,
    ),
    Method(
        name="winograd_f4",
        op="conv2d",
        idea="F(4×4, 3×3): 36 products instead of 144 for 16 outputs, less accurate",
        dtype="any float",
        layout="nchw",
        lesson="15",
        supports=plain_3x3,
        limits="3×3, stride 1, dilation 1",
        reference=winograd_f4,
    ),
)
