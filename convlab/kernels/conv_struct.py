"""A spec as the ``struct Conv`` that kernels take."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.spec import ConvSpec, ConvTransposeSpec

__all__ = ["CONV_DTYPE", "conv_struct"]

# struct Conv of common.cuh, field by field.
_FIELDS = "N C H W K R S P Q stride_h stride_w pad_top pad_left dilation_h dilation_w groups"
CONV_DTYPE = np.dtype([(name, np.int32) for name in _FIELDS.split()])


def conv_struct(spec: ConvSpec | ConvTransposeSpec) -> Any:
    """A spec as the ``Conv`` of common.cuh: a NumPy structured scalar of 64 bytes.

    >>> conv_struct(ConvSpec(n=1, c=3, h=8, w=6, k=4, r=3, s=3, padding=1))["Q"]
    np.int32(6)
    """
    top, _, left, _ = spec.padding
    sizes = (spec.n, spec.c, spec.h, spec.w, spec.k, spec.r, spec.s, spec.p, spec.q)
    return np.array((*sizes, *spec.stride, top, left, *spec.dilation, spec.groups), CONV_DTYPE)[()]
