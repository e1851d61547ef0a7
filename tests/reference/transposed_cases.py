"""ONNX's evaluator of transposed convolutions."""

from __future__ import annotations

import onnx

from .cases import onnx_run, onnx_window


def onnx_conv_transpose(x, w, bias, spec):
    arrays = {"x": x, "w": w} if bias is None else {"x": x, "w": w, "bias": bias}
    extra = {"output_padding": list(spec.output_padding)}
    return onnx_run(arrays, onnx.helper.make_node("ConvTranspose", list(arrays), ["y"], **onnx_window(spec), **extra))
