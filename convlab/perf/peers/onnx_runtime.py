"""ONNX Runtime on the CPU: a model of one convolution, or of one matrix product, its weights part of it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from convlab.perf.cpu_timing import processor
from convlab.perf.peers.adapter import Array, Peer, Prepared, missing
from convlab.perf.trial import op_of, random_inputs

__all__ = ["ONNX_RUNTIME"]


def _available() -> str:
    return missing("onnxruntime", "onnx")


def _prepare(spec: Any, dtype: str) -> Prepared:
    inputs = random_inputs(op_of(spec), spec, lambda name: dtype)
    (first, x), (second, weights), *_ = inputs.items()
    runtime: Any = import_module("onnxruntime")
    model = _model(spec, first, second, weights)
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    made: list[Array] = []

    def work(number: int) -> None:
        made[:] = session.run(None, {first: x})

    return Prepared(work, lambda: made[0], inputs, processor())


def _model(spec: Any, first: str, second: str, weights: Any) -> Any:
    onnx: Any = import_module("onnx")
    kind, make = onnx.TensorProto.FLOAT, onnx.helper
    shape = spec.input_shape if op_of(spec) == "conv2d" else (spec.gemm_m, spec.gemm_k)
    graph = make.make_graph(
        [_node(spec, make, first, second)],
        "peer",
        [make.make_tensor_value_info(first, kind, shape)],
        [make.make_tensor_value_info("y", kind, spec.output_shape)],
        [onnx.numpy_helper.from_array(weights, second)],
    )
    return make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8)


def _node(spec: Any, make: Any, first: str, second: str) -> Any:
    if op_of(spec) == "gemm":
        return make.make_node("MatMul", [first, second], ["y"])
    top, bottom, left, right = spec.padding
    return make.make_node(
        "Conv",
        [first, second],
        ["y"],
        kernel_shape=[spec.r, spec.s],
        strides=spec.stride,
        pads=[top, left, bottom, right],
        dilations=spec.dilation,
        group=spec.groups,
    )


ONNX_RUNTIME = Peer("onnxruntime", "ONNX Runtime", "cpu", ("conv2d", "gemm"), ("float32",), _available, _prepare)
