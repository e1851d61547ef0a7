"""Random convolutions for the tests of the references, and ONNX's evaluator, which shares no code with them."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from convlab.reference.direct import oracle
from convlab.spec import ConvSpec


def random_spec(seed):
    """Draw a spec without symmetries: H ≠ W, R ≠ S, C ≠ K, N > 1, all kinds of padding, groups and steps."""
    rng = np.random.default_rng(seed)
    kinds = [
        0,
        2,
        (1, 3),
        (2, 0),
        "same",
        "valid",
        tuple(rng.integers(0, 4, 4)),
        tuple(rng.integers(0, 4, 4)),
    ]
    while True:
        (h, w), (r, s), (a, b) = (rng.choice(np.arange(*ends), 2, replace=False) for ends in ((5, 14), (1, 5), (1, 5)))
        groups = int(rng.choice([1, 1, 2, 3]))
        c, k = groups * a, groups * b
        if seed % 5 == 0:  # depthwise, with one or more filters a channel
            groups, k = c, c * rng.integers(1, 4)
        stride, dilation = (tuple(rng.integers(1, 4, 2)) for _ in range(2))
        with contextlib.suppress(ValueError):  # a window that does not fit is drawn again
            return ConvSpec(2 + seed % 2, c, h, w, k, r, s, stride, kinds[seed % 8], dilation, groups)


def depthwise_spec(seed):
    """One to three filters for each of two to five channels."""
    c = 2 + seed % 4
    return replace(random_spec(seed), c=c, k=c * (1 + seed % 3), groups=c)


def random_arrays(spec, seed, dtype="float64"):
    rng = np.random.default_rng(seed)
    shapes = spec.input_shape, spec.weight_shape, (spec.k,)
    x, w, bias = (rng.standard_normal(shape).astype(dtype) for shape in shapes)
    return x, w, bias if seed % 3 else None


def doubles(*arrays):
    return tuple(None if array is None else array.astype("float64") for array in arrays)


def onnx_pads(spec):
    top, bottom, left, right = spec.padding
    return [top, left, bottom, right]


def onnx_run(arrays, *nodes):
    """Run nodes on named arrays, and give the tensor named y."""
    kind = onnx.helper.np_dtype_to_tensor_dtype
    inputs = [onnx.helper.make_tensor_value_info(name, kind(a.dtype), a.shape) for name, a in arrays.items()]
    outputs = [onnx.helper.make_empty_tensor_value_info("y")]
    graph = onnx.helper.make_graph(nodes, "graph", inputs, outputs)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 22)])
    return ReferenceEvaluator(model).run(None, arrays)[0]


def onnx_window(spec):
    """The attributes that all of ONNX's convolutions share."""
    return {
        "kernel_shape": [spec.r, spec.s],
        "strides": list(spec.stride),
        "pads": onnx_pads(spec),
        "dilations": list(spec.dilation),
        "group": spec.groups,
    }


def onnx_conv(x, w, bias, spec):
    arrays = {"x": x, "w": w} if bias is None else {"x": x, "w": w, "bias": bias}
    return onnx_run(arrays, onnx.helper.make_node("Conv", list(arrays), ["y"], **onnx_window(spec)))


def magnitude(x, w, bias, spec):
    """The sum of absolute products: what rounding errors of a sum are proportional to."""
    return oracle(abs(x), abs(w), None if bias is None else abs(bias), spec)


def assert_close(y, expected, arrays, spec, sums=None):
    """Allow each of the sums of one output (R·S·C/G + 1 unless said otherwise) one rounding in the type of y."""
    sums = spec.gemm_shape.gemm_k + 1 if sums is None else sums
    type_of_sum = np.promote_types(y.dtype, "float32")
    allowed = sums * np.finfo(type_of_sum).eps * magnitude(*doubles(*arrays), spec)
    if y.dtype == "float16":
        allowed += np.finfo("float16").eps * abs(expected)
    assert y.dtype == arrays[0].dtype
    assert y.shape == expected.shape == spec.output_shape
    assert (abs(y.astype("float64") - expected) <= allowed).all()


def assert_exact(y, expected):
    assert y.dtype == expected.dtype
    assert np.array_equal(y, expected)
