"""A network from a file of ONNX: its graph and its shapes; the values of the weights are not read."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from convlab.errors import ConvlabError
from convlab.nets.layer import Layer, LayerSpec
from convlab.nets.network import INPUT, Network
from convlab.spec import ConvSpec, ConvTransposeSpec, GemmSpec

__all__ = ["from_onnx", "onnx_module"]

Shape = tuple[int, ...]

# ONNX's word → ours, where they differ; any other step keeps its own, in small letters.
KINDS = {
    "Conv": "conv",
    "ConvTranspose": "transposed",
    "Gemm": "linear",
    "MatMul": "linear",
    "BatchNormalization": "norm",
    "MaxPool": "max_pool",
    "AveragePool": "average_pool",
    "GlobalAveragePool": "average_pool",
    "Add": "add",
    "Sum": "add",
}
# Steps that only look at a tensor in another shape, or at parts of it, or leave it as it is.
VIEWS = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout", "Cast", "Split"}
# Steps that can overwrite what they read, element by element, where they read one activation only.
ELEMENTWISE = {
    *("Relu", "Clip", "PRelu", "LeakyRelu", "Elu", "Selu", "Sigmoid", "HardSigmoid", "HardSwish", "Tanh", "Gelu"),
    *("Softplus", "Mish", "Exp", "Sqrt", "Neg", "Abs", "Add", "Sum", "Sub", "Mul", "Div", "Pow", "Softmax"),
}


@dataclass(frozen=True, slots=True)
class _Node:
    """A node of the graph with what its layer needs to know."""

    kind: str
    name: str
    attributes: Mapping[str, Any]
    shapes: tuple[Shape, ...]  # of all inputs
    output: Shape


def onnx_module() -> Any:
    """The package onnx, which convlab does without otherwise; raises ``ConvlabError`` that says how to install it."""
    if importlib.util.find_spec("onnx") is None:
        raise ConvlabError(
            "A file of ONNX is read by the package onnx, which is not installed.\n"
            "  Fix: pip install onnx, or give the layers as a list of cl.ConvSpec."
        )
    return importlib.import_module("onnx")


def from_onnx(path: str | Path, n: int = 1) -> Network:
    """Read the layers of an ONNX file.

    Args:
        path: the file. Weights that it keeps in files of their own need not be there.
        n: the number of images, where the file leaves it open.

    Returns:
        A `Network`: what changes a tensor in place (activations, reshapes) is no layer, a batch norm belongs to the
        convolution before it. Nodes that no image reaches, which make constants, are left out.

    Raises:
        ConvlabError: onnx is not installed, or the file cannot be read.
        ValueError: a size that the file leaves open, or a convolution of other than two dimensions.
    """
    onnx = onnx_module()
    try:
        model = onnx.load(str(path), load_external_data=False)
    except OSError as error:
        raise ConvlabError(f"{path} cannot be read: {error.strerror}.\n  Fix: name a file of ONNX.") from None
    except Exception as error:  # protobuf's own error is of no public type
        raise ConvlabError(f"{path} is no model of ONNX: {error}.\n  Fix: export it again.") from None
    weights = {each.name: tuple(each.dims) for each in model.graph.initializer}
    images = [each for each in model.graph.input if each.name not in weights]
    for image in images:
        _fix_batch(image, n)
    graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    shapes = {each.name: _dimensions(each) for each in (*graph.input, *graph.value_info, *graph.output)} | weights
    reader = _Reader(onnx, Path(path).stem, shapes, _network_input(images, shapes))
    for node in graph.node:
        reader.read(node)
    return Network(Path(path).stem, reader.input_shape, [*reader.layers.values()])


def _fix_batch(image: Any, n: int) -> None:
    first = image.type.tensor_type.shape.dim[:1]
    if first and not first[0].HasField("dim_value"):
        first[0].dim_value = n


def _dimensions(value: Any) -> Shape:
    return tuple(each.dim_value for each in value.type.tensor_type.shape.dim)


def _network_input(images: list[Any], shapes: Mapping[str, Shape]) -> str:
    """The name of the images: the input with most elements; others hold shapes."""
    if not images:
        raise ValueError("The graph has no input.\n  Fix: export the model with one.")
    return str(max(images, key=lambda each: prod(shapes[each.name])).name)


class _Reader:
    """Goes through the nodes in order; ``maker`` says which layer made a tensor."""

    def __init__(self, onnx: Any, file: str, shapes: Mapping[str, Shape], image: str) -> None:
        self.onnx, self.file, self.shapes = onnx, file, shapes
        self.layers: dict[str, Layer] = {}
        self.maker = {image: INPUT}
        self.input_shape = self._shape(image)

    def read(self, node: Any) -> None:
        """Add a layer, or note that an earlier one's output goes on under another name."""
        read = [self.maker[name] for name in node.input if name in self.maker]
        if not read:
            return  # of constants
        if node.op_type in VIEWS or (node.op_type in ELEMENTWISE and len(read) == 1):
            self._in_place(node, read[0])
        elif node.op_type == "BatchNormalization" and self._can_take_a_norm(node, read[0]):
            self.layers[read[0]] = replace(self.layers[read[0]], norm=2 * self._shape(node.input[1])[0])
            self.maker[node.output[0]] = read[0]
        else:
            layer = self._layer(node, tuple(read))
            self.layers[layer.name] = layer
            self.maker |= {name: layer.name for name in node.output if name}

    def _in_place(self, node: Any, maker: str) -> None:
        extra = sum(prod(self.shapes.get(name, ())) for name in node.input if self.shapes.get(name))
        activations = sum(prod(self._shape(name)) for name in node.input if name in self.maker)
        learned = extra - activations if node.op_type in ELEMENTWISE else 0
        if learned and maker in self.layers:
            self.layers[maker] = replace(self.layers[maker], biases=self.layers[maker].biases + learned)
        self.maker |= {name: maker for name in node.output if name}

    def _can_take_a_norm(self, node: Any, maker: str) -> bool:
        return maker in self.layers and self.layers[maker].spec is not None and not self.layers[maker].norm

    def _layer(self, node: Any, read: tuple[str, ...]) -> Layer:
        output = self._shape(node.output[0])
        attributes = {each.name: self.onnx.helper.get_attribute_value(each) for each in node.attribute}
        shapes = tuple(self._shape(name) for name in node.input if name)
        name = self._name(node)
        seen = _Node(node.op_type, name, attributes, shapes, output)
        spec = SPECS[node.op_type](seen) if node.op_type in SPECS and not self._of_activations(node) else None
        biases = prod(shapes[2]) if spec and len(shapes) > 2 else 0
        norm = 2 * shapes[1][0] if node.op_type == "BatchNormalization" else 0
        return Layer(name, KINDS.get(node.op_type, node.op_type.lower()), read, output, spec, biases, norm)

    def _of_activations(self, node: Any) -> bool:
        """Whether both factors of a product are activations, as in attention: there are no weights then."""
        return all(name in self.maker for name in node.input[:2])

    def _name(self, node: Any) -> str:
        name = node.name or node.output[0]
        return name if name not in self.layers and name != INPUT else f"{name} → {node.output[0]}"

    def _shape(self, name: str) -> Shape:
        shape = self.shapes.get(name, ())
        if not shape or not all(shape):
            raise ValueError(
                f"{self.file} leaves the sizes of {name!r} open: {shape or 'none are known'}.\n"
                "  Fix: export the model for images of a fixed size."
            )
        return shape


def _conv(node: _Node) -> LayerSpec:
    x, w = _images(node)
    same = {b"SAME_UPPER": "same", b"VALID": "valid"}
    auto = node.attributes.get("auto_pad", b"NOTSET")
    padding: Any = same.get(auto) or (_same_lower(node, x, w) if auto == b"SAME_LOWER" else _pads(node))
    return ConvSpec.from_shapes(x, w, **_steps(node), padding=padding)


def _transposed(node: _Node) -> LayerSpec:
    x, w = _images(node)
    spec = ConvTransposeSpec.from_shapes(
        x, w, **_steps(node), padding=_pads(node), output_padding=_pair(node, "output_padding", 0)
    )
    if spec.output_shape != node.output:
        raise ValueError(
            f"{node.name!r} gives {node.output}, and its padding {spec.output_shape}.\n"
            "  Fix: export it with pads in place of auto_pad or output_shape."
        )
    return spec


def _product(node: _Node) -> LayerSpec:
    *rows, k = node.output
    return GemmSpec(prod(rows), k, prod(node.shapes[1]) // k)


# What makes a spec of a node.
SPECS: Mapping[str, Callable[[_Node], LayerSpec]] = {
    "Conv": _conv,
    "ConvTranspose": _transposed,
    "Gemm": _product,
    "MatMul": _product,
}


def _images(node: _Node) -> tuple[Shape, Shape]:
    x, w = node.shapes[:2]
    if len(x) != 4:
        raise ValueError(
            f"{node.name!r} is a convolution of {len(x) - 2} dimensions, and this course is about two.\n"
            "  Fix: leave the layer out."
        )
    return x, w


def _steps(node: _Node) -> dict[str, Any]:
    return {
        "stride": _pair(node, "strides", 1),
        "dilation": _pair(node, "dilations", 1),
        "groups": node.attributes.get("group", 1),
    }


def _pair(node: _Node, name: str, default: int) -> tuple[int, ...]:
    return tuple(node.attributes.get(name) or (default, default))


def _pads(node: _Node) -> Shape:
    """ONNX's (top, left, bottom, right) in our order."""
    top, left, bottom, right = node.attributes.get("pads") or (0, 0, 0, 0)
    return top, bottom, left, right


def _same_lower(node: _Node, x: Shape, w: Shape) -> Shape:
    """Padding "same" with the odd pixel at the start."""
    top, bottom, left, right = ConvSpec.from_shapes(x, w, **_steps(node), padding="same").padding
    return bottom, top, right, left
