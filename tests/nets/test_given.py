"""Networks of one's own: files of ONNX, and lists of specs."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from convlab.errors import ConvlabError
from convlab.nets import Network, from_onnx, from_specs, network, network_of
from convlab.spec import ConvSpec, ConvTransposeSpec, GemmSpec

RNG = np.random.default_rng(5)
WEIGHTS = {
    "w1": (6, 3, 3, 2),
    "b1": (6,),
    "scale": (6,),
    "shift": (6,),
    "mean": (6,),
    "var": (6,),
    "slope": (6, 1, 1),
    "w2": (6, 2, 3, 3),
    "w3": (6, 4, 2, 2),
    "b3": (4,),
    "m": (16, 5),
    "add": (5,),
}
NODES = [
    helper.make_node(
        "Conv", ["x", "w1", "b1"], ["c1"], "first", pads=[1, 0, 2, 1], strides=[2, 1], dilations=[1, 2]
    ),
    helper.make_node("BatchNormalization", ["c1", "scale", "shift", "mean", "var"], ["n1"]),
    helper.make_node("PRelu", ["n1", "slope"], ["a1"]),
    helper.make_node("Conv", ["a1", "w2"], ["c2"], "grouped", group=3, auto_pad="SAME_UPPER"),
    helper.make_node("Add", ["a1", "c2"], ["sum"], "sum"),
    helper.make_node("ConvTranspose", ["sum", "w3", "b3"], ["up"], "up", strides=[2, 2], pads=[0, 1, 0, 1]),
    helper.make_node("Relu", ["up"], ["r"]),
    helper.make_node("GlobalAveragePool", ["r"], ["g"], "mean"),
    helper.make_node("MaxPool", ["r"], ["p"], "pool", kernel_shape=[3, 3], strides=[4, 5]),
    helper.make_node("Mul", ["p", "g"], ["gated"], "gate"),
    helper.make_node("Reshape", ["gated", "shape"], ["flat"]),
    helper.make_node("MatMul", ["flat", "m"], ["y0"], "classes"),
    helper.make_node("Add", ["y0", "add"], ["y"]),
]  # fmt: skip


def model(batch: Any = 2, height: Any = 9) -> onnx.ModelProto:
    initializers = [numpy_helper.from_array(RNG.random(s).astype("f4") + 1, name) for name, s in WEIGHTS.items()]
    initializers.append(numpy_helper.from_array(np.array([-1, 16]), "shape"))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3, height, 7])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    return helper.make_model(helper.make_graph(NODES, "g", [x], [y], initializers))


def written(folder: Path, *sizes: Any) -> Path:
    onnx.save(model(*sizes), str(folder / "mine.onnx"))
    return folder / "mine.onnx"


def test_a_file_becomes_layers_with_the_shapes_that_the_reference_evaluator_finds(tmp_path: Path) -> None:
    net = from_onnx(written(tmp_path))
    names = ["c1", "c2", "sum", "up", "g", "p", "gated", "y"]
    graph = model()
    graph.graph.output.extend(helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in names[:-1])
    x = RNG.random((2, 3, 9, 7)).astype("f4")
    values: Any = ReferenceEvaluator(graph).run(names, {"x": x})
    assert [layer.output_shape for layer in net] == [each.shape for each in values]
    assert [layer.kind for layer in net] == [
        *("conv", "conv", "add", "transposed", "average_pool", "max_pool", "mul", "linear")
    ]  # fmt: skip
    assert [layer.name for layer in net] == [*("first", "grouped", "sum", "up", "mean", "pool", "gate", "classes")]
    assert net["sum"].inputs == ("first", "grouped")
    assert net["gate"].inputs == ("pool", "mean")


def test_the_specs_and_the_parameters_are_those_of_the_nodes(tmp_path: Path) -> None:
    net = from_onnx(written(tmp_path))
    assert net["first"].spec == ConvSpec(2, 3, 9, 7, 6, 3, 2, (2, 1), (1, 2, 0, 1), (1, 2))
    assert net["grouped"].spec == ConvSpec(2, 6, 5, 6, 6, 3, 3, padding="same", groups=3)
    assert net["up"].spec == ConvTransposeSpec(2, 6, 5, 6, 4, 2, 2, 2, (0, 1))
    assert net["classes"].spec == GemmSpec(2, 5, 16)
    parts = {layer.name: (layer.weights, layer.biases, layer.norm) for layer in net.weighted}
    assert parts == {
        "first": (108, 6 + 6, 12),  # the slopes of PReLU are trained, too
        "grouped": (108, 0, 0),
        "up": (96, 4, 0),
        "classes": (80, 5, 0),
    }


def test_an_open_batch_is_filled_in_and_another_open_size_is_refused(tmp_path: Path) -> None:
    assert network_of(str(written(tmp_path, "N")), n=4).input_shape == (4, 3, 9, 7)
    with pytest.raises(ValueError, match=r"mine leaves the sizes of 'x' open: \(2, 3, 0, 7\).\n  Fix: export "):
        from_onnx(written(tmp_path, 2, "H"))


def test_a_file_that_is_none_and_a_package_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConvlabError, match=r"nowhere.onnx cannot be read: No such file or directory.\n  Fix: name a"):
        from_onnx(tmp_path / "nowhere.onnx")
    (tmp_path / "text.onnx").write_text("no model", encoding="utf-8")
    with pytest.raises(ConvlabError, match=r"text.onnx is no model of ONNX: .*\n  Fix: export it again."):
        from_onnx(tmp_path / "text.onnx")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConvlabError, match=r"by the package onnx, which is not installed.\n  Fix: pip install onnx"):
        from_onnx(tmp_path / "text.onnx")


def single(tmp_path: Path, node: Any, x: tuple[int, ...], w: tuple[int, ...], y: tuple[int, ...]) -> Path:
    shapes = {"x": x, "y": y}
    values = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()}
    weights = [numpy_helper.from_array(np.ones(w, "f4"), "w")]
    graph = helper.make_graph([node], "g", [values["x"]], [values["y"]], weights)
    onnx.save(helper.make_model(graph), str(tmp_path / "one.onnx"))
    return tmp_path / "one.onnx"


def test_both_halves_of_a_split_are_read_from_where_they_were_made(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "first"),
        helper.make_node("Split", ["c"], ["left", "right"], axis=1, num_outputs=2),
        helper.make_node("Conv", ["right", "v"], ["d"], "second"),
        helper.make_node("Concat", ["left", "d"], ["y"], "both", axis=1),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 3, 5, 4))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    weights = [
        numpy_helper.from_array(np.ones(shape, "f4"), name)
        for name, shape in {"w": (4, 3, 1, 1), "v": (6, 2, 1, 1)}.items()
    ]
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [y], weights)), str(tmp_path / "split.onnx"))
    net = from_onnx(tmp_path / "split.onnx")
    assert [(layer.name, layer.inputs) for layer in net] == [
        ("first", ("input",)),
        ("second", ("first",)),
        ("both", ("first", "second")),
    ]
    assert net["second"].spec == ConvSpec(1, 2, 5, 4, 6, 1, 1)


def test_same_lower_has_the_odd_pixel_at_the_start(tmp_path: Path) -> None:
    node = helper.make_node("Conv", ["x", "w"], ["y"], "c", auto_pad="SAME_LOWER")
    (layer,) = from_onnx(single(tmp_path, node, (1, 2, 7, 5), (3, 2, 2, 4), (1, 3, 7, 5)))
    assert isinstance(layer.spec, ConvSpec)
    assert layer.spec.padding == (1, 0, 2, 1)


def test_what_this_course_has_no_spec_for_is_refused(tmp_path: Path) -> None:
    node = helper.make_node("Conv", ["x", "w"], ["y"], "c")
    with pytest.raises(ValueError, match=r"'c' is a convolution of 1 dimensions, .*\n  Fix: leave the layer out."):
        from_onnx(single(tmp_path, node, (1, 2, 7), (3, 2, 2), (1, 3, 6)))
    node = helper.make_node("ConvTranspose", ["x", "w"], ["y"], "t", strides=[2, 2], output_shape=[6, 6])
    with pytest.raises(ValueError, match=r"'t' gives \(1, 3, 6, 6\), and its padding \(1, 3, 7, 7\).\n  Fix: exp"):
        from_onnx(single(tmp_path, node, (1, 2, 3, 3), (2, 3, 3, 3), (1, 3, 6, 6)))


def test_specs_are_a_chain_with_what_lies_between() -> None:
    specs: Any = [ConvSpec(1, 3, 9, 8, 4, 3, 3), ConvTransposeSpec(1, 4, 3, 3, 2, 2, 2, 2), GemmSpec(1, 7, 72)]
    net = from_specs(specs)
    assert [(layer.name, layer.kind, layer.inputs) for layer in net] == [
        ("layer1", "conv", ("input",)),
        ("before layer2", "between", ("layer1",)),
        ("layer2", "transposed", ("before layer2",)),
        ("before layer3", "between", ("layer2",)),
        ("layer3", "linear", ("before layer3",)),
    ]
    assert net.macs == sum(spec.macs for spec in specs)
    assert network_of(net) is net
    assert network_of("alexnet", 2).macs == network("alexnet", 2).macs


def test_what_is_no_spec_is_refused() -> None:
    mistake: Any = [3]
    with pytest.raises(ValueError, match=r"There is no layer in the list.\n  Fix: give at least one cl.ConvSpec."):
        network_of([])
    with pytest.raises(ValueError, match=r"A network cannot have a layer of type int.\n  Fix: give the name of a net"):
        network_of(mistake)


def test_a_network_of_the_tests_of_onnx_has_the_count_of_its_paper() -> None:
    light = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / "light_squeezenet.onnx"
    net = from_onnx(light)
    assert isinstance(net, Network)
    assert round(net.parameters * 4 / 1e6, 1) == 4.9  # 4.8 MB of float32: Iandola and others (2016), table 2
