"""Networks against what their papers print, and against graphs that others made of them."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import onnx
import pytest

from convlab.nets import NETWORKS, Network, from_onnx, network
from convlab.nets.alexnet import alexnet
from convlab.nets.layer import Layer
from convlab.nets.mobilenet import mobilenet_v1
from convlab.nets.resnet import resnet50
from convlab.nets.unet import unet
from convlab.nets.vgg import vgg16
from convlab.spec import ConvSpec

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"

# Millions of parameters and of MACs as published; the last digit may be rounded down or up.
PUBLISHED = [
    (network("resnet50"), 25.6, 4090),  # Torchvision's table of models
    (resnet50(version="1"), 25.6, 3860),  # Sze and others (2017), table II: convolutions
    (resnet50(blocks=(3, 4, 23, 3)), 44.5, 7800),  # Torchvision's table: ResNet-101
    (resnet50(blocks=(3, 8, 36, 3)), 60.2, 11510),  # ResNet-152
    (network("mobilenet_v1"), 4.2, 569),  # the paper's tables 6 and 7, from here …
    (mobilenet_v1(multiplier=0.75), 2.6, 325),
    (mobilenet_v1(multiplier=0.5), 1.3, 149),
    (mobilenet_v1(multiplier=0.25), 0.5, 41),
    (mobilenet_v1(h=192, w=192), 4.2, 418),
    (mobilenet_v1(h=128, w=128), 4.2, 186),  # … to here
    (network("mobilenet_v2"), 3.5, 300.8),  # 3.4 M and 300 M in the paper
    (network("vgg16"), 138, 15500),  # Sze and others, table II
    (vgg16(blocks=(2, 2, 4, 4, 4)), 144, 19600),  # the paper's table 2; Torchvision's
    (network("alexnet"), 61, 724),  # Sze and others, table II
]


@pytest.mark.parametrize(("net", "parameters", "macs"), PUBLISHED, ids=lambda each: getattr(each, "name", ""))
def test_totals_are_the_published_ones(net: Network, parameters: float, macs: float) -> None:
    assert net.parameters / 1e6 == pytest.approx(parameters, rel=0.02, abs=0.05)
    assert net.macs / 1e6 == pytest.approx(macs, rel=0.004)


def test_the_parts_of_alexnet_and_vgg_are_those_of_the_survey() -> None:
    million = {name: [round(n / 1e6, 1) for n in network("alexnet").parts[name]] for name in network("alexnet").parts}
    assert million["convolutions"] == [2.3, 665.8]
    assert million["fully connected"] == [58.6, 58.6]
    assert [round(n / 1e6) for n in network("vgg16").parts["fully connected"]] == [124, 124]


SAME_GRAPH = [
    ("resnet50", resnet50()),
    ("vgg19", vgg16(blocks=(2, 2, 4, 4, 4))),
    ("bvlc_alexnet", alexnet(1, 224, 224)),
]


@pytest.mark.parametrize(("file", "net"), SAME_GRAPH, ids=[file for file, _ in SAME_GRAPH])
def test_every_layer_is_that_of_a_model_that_others_exported(file: str, net: Network) -> None:
    """Those of the tests of ONNX, from Caffe2: its ResNet-50 is version 1.5."""
    theirs = from_onnx(LIGHT / f"light_{file}.onnx")
    ours, found = list(net.weighted), list(theirs.weighted)
    if file == "bvlc_alexnet":  # its last pooling has padding, by 224 pixels
        ours, found = ours[:5], found[:5]
    assert [(layer.spec, layer.parameters) for layer in found] == [(layer.spec, layer.parameters) for layer in ours]


def test_resnet50_halves_in_the_3x3_by_version_1_5_and_in_the_1x1_by_version_1() -> None:
    strided = {
        version: [
            layer.name.partition(".")[2]
            for layer in resnet50(version=version)
            if isinstance(layer.spec, ConvSpec) and layer.spec.stride == (2, 2) and layer.name != "conv1"
        ]
        for version in ("1", "1.5")
    }
    assert strided == {"1": 3 * ["reduce", "shortcut"], "1.5": 3 * ["conv", "shortcut"]}
    with pytest.raises(ValueError, match=r"ResNet has no version '2'.\n  Fix: give '1.5', or '1' for the paper's."):
        resnet50(version="2")


def test_the_sizes_of_u_net_are_those_of_its_figure() -> None:
    net: Any = unet(h=572, w=572, c=1, dilations=(1, 1), padded=False)
    convolutions = [layer.output_shape[3] for layer in net if layer.kind == "conv"]
    assert convolutions == [
        *(570, 568, 282, 280, 138, 136, 66, 64, 30, 28, 54, 52, 102, 100, 198, 196, 390, 388, 388),
    ]  # fmt: skip
    assert [layer.output_shape[1] for layer in net if layer.kind == "concat"] == [1024, 512, 256, 128]
    assert [layer.spec.stride for layer in net if layer.kind == "transposed"] == 4 * [(2, 2)]


def test_u_net_keeps_its_size_by_padding_and_is_dilated_at_the_bottom() -> None:
    net: Any = unet(n=2, h=48, w=80)
    assert net[-1].output_shape == (2, 2, 48, 80)
    dilated = {
        layer.name: layer.spec.dilation for layer in net if layer.kind == "conv" and max(layer.spec.dilation) > 1
    }
    assert dilated == {"bottom.conv1": (2, 2), "bottom.conv2": (4, 4)}
    with pytest.raises(ValueError, match=r"An image of 48×72 cannot be halved 4 times.\n  Fix: .* that 16 divides."):
        unet(h=48, w=72)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_batch_multiplies_the_work_and_the_activations_and_no_parameters(name: str) -> None:
    one, three = network(name), network(name, n=3)
    assert three.macs == 3 * one.macs
    assert three.activations("float16") * 2 == three.activations("float32") == 3 * one.activations("float32")
    assert three.parameters == one.parameters
    assert sum(weights for weights, _ in one.parts.values()) == one.parameters
    assert sum(macs for _, macs in one.parts.values()) == one.macs
    assert all(layer.place for layer in one)


def test_an_unknown_network_is_guessed() -> None:
    with pytest.raises(ValueError, match="There is no network") as caught:
        network("resnet5")
    names = ", ".join(map(repr, NETWORKS))
    assert str(caught.value) == (
        f"There is no network 'resnet5'. Did you mean 'resnet50'?\n  Fix: give one of {names}."
    )


def diamond() -> Network:
    """Sizes that tell each tensor from the others: 1000, 100, 10, 1 elements."""
    return Network(
        "diamond",
        (1, 1, 10, 100),
        [
            Layer("a", "pool", ("input",), (1, 1, 10, 10)),
            Layer("b", "conv", ("a",), (1, 1, 2, 5), ConvSpec(1, 1, 10, 10, 1, 9, 6)),
            Layer("c", "add", ("b", "a"), (1, 1, 1, 1)),
            Layer("d", "pool", ("c",), (1, 1, 2, 1)),
        ],
    )


def test_what_is_live_is_what_is_still_read() -> None:
    net = diamond()
    assert net.live("int8") == {"a": 1100, "b": 110, "c": 111, "d": 3}
    assert net.live("int8", im2col=True) == {"a": 1100, "b": 110 + 54 * 10, "c": 111, "d": 3}
    assert net.live("float32")["b"] == 440
    assert net.peak("int8") == ("a", 1100)
    assert net.activations("int8") == 1113
    assert net.traffic(net["b"], "int8") == 100 + 54 + 10
    assert net.traffic(net["c"], "int8") == 10 + 100 + 1


def test_columns_count_for_all_groups_and_not_where_the_input_is_the_matrix() -> None:
    def columns(**changes: int) -> int:
        spec = ConvSpec(**{"n": 2, "c": 6, "h": 5, "w": 7, "k": 4, "r": 1, "s": 1, **changes})
        return Layer("x", "conv", ("input",), spec.output_shape, spec).column_bytes("float16")

    assert columns() == 0
    assert columns(stride=2) == 2 * 6 * 2 * 3 * 4
    assert columns(r=3, s=2) == 2 * (6 * 6) * 2 * 3 * 6
    assert columns(r=3, s=2, groups=2) == columns(r=3, s=2)


def test_a_layer_is_found_by_name_and_the_table_has_all() -> None:
    net = diamond()
    assert net["b"] is net[1]
    with pytest.raises(KeyError, match=r"diamond has no layer 'e'\. It has a, b, c, d\."):
        net["e"]
    assert net._repr_html_().count("<tr>") == 5
    assert prod(net["d"].output_shape) == 2


def test_a_network_is_refused_where_its_layers_do_not_follow() -> None:
    a = Layer("a", "pool", ("input",), (1, 1, 2, 2))
    with pytest.raises(ValueError, match=r"Two layers of x are called 'a'.\n  Fix: give each its own name."):
        Network("x", (1, 1, 4, 4), [a, a])
    with pytest.raises(ValueError, match=r"'a' of x reads 'b', which no earlier layer makes.\n  Fix: put the layers"):
        Network("x", (1, 1, 4, 4), [Layer("a", "pool", ("b",), (1, 1, 2, 2))])
