"""A network of one's own: from what people have, a name, a file of ONNX, or a list of specs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from convlab.nets.layer import Layer, LayerSpec
from convlab.nets.network import INPUT, Network
from convlab.nets.networks import network
from convlab.nets.onnx_file import from_onnx
from convlab.spec import ConvSpec, ConvTransposeSpec, GemmSpec

__all__ = ["Given", "from_specs", "network_of"]

Given = str | Path | Network | Sequence[LayerSpec]
KINDS: dict[type, str] = {ConvSpec: "conv", ConvTransposeSpec: "transposed", GemmSpec: "linear"}


def network_of(given: Given, n: int = 1) -> Network:
    """Make a network of a name of the course's, a file whose name ends in .onnx, or specs in order.

    >>> network_of([ConvSpec(2, 3, 9, 8, 4, 3, 3), ConvSpec(2, 4, 7, 6, 5, 1, 1)])
    layers: 2 layers with weights, 128 parameters, 10.8 k MACs, for an input of 2×3×9×8

    Parameters: ``n`` is the number of images, for a name, and for a file that leaves it open. Raises ``ValueError`` for
    anything else, and as `convlab.nets.network` and `from_onnx` do.
    """
    if isinstance(given, Network):
        return given
    if isinstance(given, Path) or (isinstance(given, str) and given.endswith(".onnx")):
        return from_onnx(given, n)
    return network(given, n) if isinstance(given, str) else from_specs(given)


def from_specs(specs: Sequence[LayerSpec]) -> Network:
    """A chain of layers without biases; where the next reads another shape, there is a layer of kind "between".

    >>> [layer.name for layer in from_specs([ConvSpec(1, 3, 9, 8, 4, 3, 3), ConvSpec(1, 4, 3, 3, 5, 1, 1)])]
    ['layer1', 'before layer2', 'layer2']

    Raises ``ValueError`` for no spec at all, and for one of something else.
    """
    for spec in specs:
        if type(spec) not in KINDS:
            raise ValueError(
                f"A network cannot have a layer of type {type(spec).__name__}.\n"
                "  Fix: give the name of a network, a file of ONNX, or a list of cl.ConvSpec."
            )
    if not specs:
        raise ValueError("There is no layer in the list.\n  Fix: give at least one cl.ConvSpec.")
    layers: list[Layer] = []
    at, shape = INPUT, _input_shape(specs[0])
    for number, spec in enumerate(specs, start=1):
        name, reads = f"layer{number}", _input_shape(spec)
        if reads != shape:
            layers.append(Layer(f"before {name}", "between", (at,), reads))
            at = layers[-1].name
        layers.append(Layer(name, KINDS[type(spec)], (at,), spec.output_shape, spec))
        at, shape = name, spec.output_shape
    return Network("layers", _input_shape(specs[0]), layers)


def _input_shape(spec: LayerSpec) -> tuple[int, ...]:
    return (spec.gemm_m, spec.gemm_k) if isinstance(spec, GemmSpec) else spec.input_shape
