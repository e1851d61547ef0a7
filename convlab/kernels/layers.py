"""The layers on which the rungs of each op are compared: the course's standard layer, and its relatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convlab.spec import BlockSpec, ConvSpec, ConvTransposeSpec, GemmSpec, LayoutSpec, SeparableSpec

__all__ = ["LAYERS"]

_STANDARD = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1)
_DEPTHWISE = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1, groups=16)

# Op → name → spec; a rung that does not support the first is shown on the first that it supports.
LAYERS: Mapping[str, Mapping[str, Any]] = {
    "conv2d": {
        "standard": _STANDARD,
        "pointwise": ConvSpec(n=1, c=16, h=32, w=32, k=16, r=1, s=1),
        "grouped": ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1, groups=4),
        "depthwise": _DEPTHWISE,
        "dilated": ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=2, dilation=2),
        "wide": ConvSpec(n=1, c=64, h=32, w=32, k=64, r=3, s=3, padding=1),
    },
    "conv_transpose2d": {
        "standard": ConvTransposeSpec(n=1, c=16, h=16, w=16, k=16, r=3, s=3, stride=2, padding=1, output_padding=1),
    },
    "gemm": {"standard": GemmSpec(gemm_m=16, gemm_n=1024, gemm_k=144), "square": GemmSpec(256, 256, 256)},
    "layout": {"standard": LayoutSpec(n=1, c=16, h=32, w=32)},
    "separable": {"standard": SeparableSpec(_DEPTHWISE, k=16)},
    "block": {"standard": BlockSpec(_STANDARD, relu=True, pool=True)},
}
