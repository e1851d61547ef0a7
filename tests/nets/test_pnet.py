"""P-Net with its real weights, against the same network in ONNX's reference evaluator."""

from __future__ import annotations

import importlib
import importlib.util
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from convlab.errors import ConvlabError
from convlab.executors.compile import compile
from convlab.executors.empty import empty
from convlab.executors.launch import launch
from convlab.nets.pnet import SOURCE, kernels, pnet
from convlab.nets.weights import load_weights


def evaluator() -> Any:
    """The network from the paper's figure 2, node by node, in ONNX's words."""
    weights, nodes, x = load_weights(), [], "x"
    constants: dict[str, Any] = {}
    for i in range(3):
        slope = weights.slopes[i].reshape(-1, 1, 1)
        constants |= {f"w{i}": weights.filters[i], f"b{i}": weights.biases[i], f"s{i}": slope}
        nodes.append(helper.make_node("Conv", [x, f"w{i}", f"b{i}"], [f"c{i}"]))
        nodes.append(helper.make_node("PRelu", [f"c{i}", f"s{i}"], [f"p{i}"]))
        x = f"p{i}"
        if i == 0:
            nodes.append(helper.make_node("MaxPool", [x], ["m"], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1))
            x = "m"
    for name, (w, b) in {"box": weights.box, "face": weights.face}.items():
        constants |= {f"{name}_w": w, f"{name}_b": b}
        nodes.append(helper.make_node("Conv", [x, f"{name}_w", f"{name}_b"], [name]))
    nodes.append(helper.make_node("Softmax", ["face"], ["p"], axis=1))
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", "p", "box")]
    initializers = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "pnet", values[:1], values[1:], initializers)
    return ReferenceEvaluator(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))


def image(height: int, width: int) -> Any:
    return np.random.default_rng(height).uniform(-1, 1, (1, 3, height, width)).astype("f4")


@pytest.mark.parametrize(("method", "device"), [("auto", "emulator"), ("tiled", "emulator"), ("direct", "cpu")])
@pytest.mark.parametrize("size", [(31, 44), (40, 27), (12, 12), (13, 15)])
def test_it_agrees_with_the_reference_evaluator(method: str, device: str, size: tuple[int, int]) -> None:
    x = image(*size)
    probabilities, boxes = evaluator().run(None, {"x": x})
    scores = pnet(x, kernels(method, device))
    np.testing.assert_allclose(scores.face, probabilities[0, 1], atol=2e-6)
    np.testing.assert_allclose(scores.box, boxes[0], atol=2e-6)


MINE = """
extern "C" __global__ void mine(const float* x, const float* w, const float* bias, float* y,
                                int C, int H, int W, int R, int S) {
    int P = H - R + 1, Q = W - S + 1, at = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y;
    if (at >= P * Q) return;
    float sum = bias[k];
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s)
                sum += x[(c * H + at / Q + r) * W + at % Q + s] * w[((k * C + c) * R + r) * S + s];
    y[k * P * Q + at] = sum;
}
"""


def mine(x: Any, w: Any, bias: Any) -> Any:
    """What a learner writes: their own kernel, launched."""
    (_, c, height, width), (k, _, r, s) = x.shape, w.shape
    y = empty((1, k, height - r + 1, width - s + 1), "float32")
    grid = (-(-y.shape[2] * y.shape[3] // 64), k)
    launch(compile(MINE, name="mine.cu").kernels["mine"], grid, 64, [x, w, bias, y, c, height, width, r, s])
    return y


def test_a_learners_own_kernel_takes_the_place_of_ours() -> None:
    x = image(19, 24)
    probabilities, _ = evaluator().run(None, {"x": x})
    np.testing.assert_allclose(pnet(x, kernels(device="emulator", conv=mine)).face, probabilities[0, 1], atol=2e-6)


def test_a_convolution_of_another_shape_is_named_at_once() -> None:
    with pytest.raises(ConvlabError) as caught:
        pnet(image(19, 24), kernels(device="cpu", conv=lambda x, w, bias: x))
    assert str(caught.value) == (
        "Your convolution gave (1, 3, 19, 24), not (1, 10, 17, 22).\n"
        "  In: x of (1, 3, 19, 24), w of (10, 3, 3, 3), stride 1, no padding\n"
        "  Fix: return y of shape (N, K, H − R + 1, W − S + 1)."
    )
    with pytest.raises(ConvlabError, match=r"Your convolution gave NoneType, not \(1, 10, 17, 22\)"):
        pnet(image(19, 24), kernels(device="cpu", conv=lambda x, w, bias: None))


@pytest.mark.parametrize("shape", [(2, 3, 7, 40), (1, 5, 40, 9), (3, 1, 1, 1), (1, 2, 32, 64)])
def test_the_kernels_between_compute_what_the_references_do_and_without_a_fault(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(7)
    x, slope = rng.standard_normal(shape).astype("f4"), rng.standard_normal(shape[1]).astype("f4")
    ours, theirs = kernels(device="emulator"), kernels(device="cpu")
    np.testing.assert_array_equal(ours.max_pool(x), theirs.max_pool(x))
    np.testing.assert_array_equal(ours.prelu(x.copy(), slope), theirs.prelu(x, slope))
    n, k, height, width = shape
    y = empty((n, k, -(-height // 2), -(-width // 2)), "float32")
    compiled, grid = (
        compile(SOURCE.read_text(encoding="utf-8"), name="pnet.cu").kernels,
        (-(-height * width // 256), k, n),
    )
    runs = [
        launch(compiled["max_pool_all"], grid, 256, [x, y, height, width], device="emulator", faults="record"),
        launch(compiled["prelu"], grid, 256, [x, slope, height * width], device="emulator", faults="record"),
    ]
    assert [run.faults for run in runs] == [[], []]


def test_a_missing_package_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    load_weights.cache_clear()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConvlabError) as caught:
        load_weights()
    assert str(caught.value) == (
        "The weights of P-Net come with the package mtcnn, which is not installed.\n"
        "  Fix: pip install mtcnn (2 MB; it needs no TensorFlow for this)."
    )


def test_weights_of_another_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    load_weights.cache_clear()
    monkeypatch.setattr(importlib, "import_module", lambda name: SimpleNamespace(load=lambda path: [np.zeros(3)]))
    with pytest.raises(ConvlabError, match=r"pnet.lz4 does not hold the weights that mtcnn 1.0 has.\n  Fix: pip inst"):
        load_weights()
    load_weights.cache_clear()
