from __future__ import annotations

import dataclasses
import itertools
import pickle

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from convlab.spec import ConvSpec, ConvTransposeSpec

BASE = {"n": 2, "c": 6, "h": 5, "w": 7, "k": 4, "r": 3, "s": 2}


def make(**changes):
    return ConvTransposeSpec(**{**BASE, **changes})


# Sizes and work


def test_shapes_use_every_dimension_in_its_place():
    spec = make(stride=(2, 3), padding=(1, 2, 3, 0), output_padding=(1, 2), dilation=(2, 5), groups=2)
    assert spec.input_shape == (2, 6, 5, 7)
    assert spec.weight_shape == (6, 2, 3, 2)
    assert spec.p == 4 * 2 + 2 * 2 + 1 - 3 + 1
    assert spec.q == 6 * 3 + 5 * 1 + 1 - 3 + 2
    assert spec.output_shape == (2, 4, spec.p, spec.q)


def test_the_doubling_of_a_decoder():
    spec = ConvTransposeSpec(n=1, c=16, h=16, w=16, k=8, r=3, s=3, stride=2, padding=1, output_padding=1)
    assert spec.output_shape == (1, 8, 32, 32)
    assert spec.macs == 16 * 16 * 16 * 8 * 9
    assert spec.flops == 2 * spec.macs


@pytest.mark.parametrize("seed", range(100))
def test_output_sizes_are_those_of_onnx(seed):
    rng = np.random.default_rng(seed)
    stride, dilation = (tuple(int(v) for v in rng.integers(1, 4, 2)) for _ in range(2))
    extra = tuple(int(rng.integers(0, limit)) for limit in stride)
    padding = tuple(int(v) for v in rng.integers(0, 2, 4))
    spec = make(h=3 + seed % 4, stride=stride, padding=padding, output_padding=extra, dilation=dilation)
    top, bottom, left, right = padding
    node = onnx.helper.make_node(
        "ConvTranspose",
        ["x", "w"],
        ["y"],
        strides=stride,
        dilations=dilation,
        output_padding=extra,
        pads=[top, left, bottom, right],
    )
    inputs = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in "xw"]
    graph = onnx.helper.make_graph([node], "graph", inputs, [onnx.helper.make_empty_tensor_value_info("y")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 22)])
    arrays = {"x": np.ones(spec.input_shape, "f4"), "w": np.ones(spec.weight_shape, "f4")}
    assert spec.output_shape == ReferenceEvaluator(model).run(None, arrays)[0].shape


def test_macs_equal_the_multiplications_counted_one_by_one():
    spec = make(stride=(2, 1), padding=(1, 0, 2, 1), groups=2)
    n, c, h, w = (range(size) for size in spec.input_shape)
    _, filters, r, s = (range(size) for size in spec.weight_shape)
    assert spec.macs == sum(1 for _ in itertools.product(n, c, h, w, filters, r, s))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stride": (2, 3), "padding": (1, 0, 1, 1), "groups": 2},
        {"stride": 2, "output_padding": 1, "dilation": (3, 2)},
    ],
)
def test_the_adjoint_goes_back(options):
    spec = make(**options)
    assert spec.adjoint.input_shape == spec.output_shape
    assert spec.adjoint.output_shape == spec.input_shape
    assert spec.adjoint.weight_shape == spec.weight_shape
    assert spec.adjoint.macs == spec.macs


def test_output_padding_as_large_as_the_stride_gives_the_adjoint_one_row_more():
    assert make(stride=1, dilation=2, output_padding=(1, 0)).adjoint.p == BASE["h"] + 1


# What may be given, and what is kept


def test_numbers_become_pairs_and_paddings_four_numbers():
    spec = make(stride=np.int64(2), padding=(1, 0), output_padding=1, dilation=[1, 2])
    assert (spec.stride, spec.padding, spec.output_padding, spec.dilation) == ((2, 2), (1, 1, 0, 0), (1, 1), (1, 2))
    assert spec == make(stride=(2, 2), padding=[1, 1, 0, 0], output_padding=(1, 1), dilation=(1, 2))


def test_specs_are_immutable_hashable_and_can_be_copied():
    spec = make(stride=2, output_padding=(1, 0))
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.h = 3
    assert {spec: 1}[pickle.loads(pickle.dumps(spec))] == 1
    assert dataclasses.replace(spec, k=8, groups=2) == make(stride=2, output_padding=(1, 0), k=8, groups=2)


def test_from_shapes_reads_c_and_k_from_the_filters():
    options = {"stride": 2, "padding": 1, "output_padding": (1, 0), "dilation": (1, 2), "groups": 2}
    assert ConvTransposeSpec.from_shapes((2, 6, 5, 7), (6, 2, 3, 2), **options) == make(**options)


def test_it_reads_well():
    assert str(make(stride=2)) == "2×6×5×7 → 4 channels 11×14 by 3×2, stride 2, padding 0, transposed"
    options = {"stride": 2, "padding": (1, 0), "output_padding": (1, 0), "dilation": (2, 3), "groups": 2}
    assert str(make(**options)).endswith(
        "stride 2, padding 1×0, output padding 1×0, dilation 2×3, groups 2, transposed"
    )
    assert "→ 1 channel 5" in str(make(k=1, r=1))
    assert repr(make(stride=2)).startswith("ConvTransposeSpec(n=2, c=6, h=5, w=7, k=4, r=3, s=2, stride=(2, 2), ")


# What is refused


@pytest.mark.parametrize(
    ("changes", "fact", "fix"),
    [
        ({"h": 0}, "h=0 is less than 1", "Give h a whole number, at least 1"),
        ({"k": 2.0}, "k=2.0 is not an integer", "Give k a whole number, at least 1"),
        ({"stride": 0}, "stride=0 is less than 1", "Give stride a whole number, at least 1"),
        ({"stride": (1, 2, 3)}, "stride=(1, 2, 3) has 3 numbers", "Give stride as one number, or as 2"),
        ({"padding": -1}, "padding=-1 is less than 0", "Give padding a whole number, at least 0"),
        ({"output_padding": -1}, "output_padding=-1 is less than 0", "Give output_padding a whole number, at least 0"),
        ({"groups": 4}, "c=6 is not divisible by groups=4", "Choose groups that divide c=6 and k=4, at most 2"),
        ({"groups": 3}, "k=4 is not divisible by groups=3", "Choose groups that divide c=6 and k=4, at most 2"),
        (
            {"stride": 2, "output_padding": (1, 2), "dilation": 1},
            "output_padding adds 2 columns, with stride 2 and dilation 1",
            "Use at most 1: beyond, no input reaches the output",
        ),
        (
            {"output_padding": (3, 0), "stride": 2, "dilation": 3},
            "output_padding adds 3 rows, with stride 2 and dilation 3",
            "Use at most 2: beyond, no input reaches the output",
        ),
        (
            {"padding": (4, 3, 0, 0)},
            "The padding crops all rows of the output",
            "Use less padding, or a larger filter",
        ),
        (
            {"padding": (0, 0, 0, 8)},
            "The padding crops all columns of the output",
            "Use less padding, or a larger filter",
        ),
    ],
)
def test_what_fits_no_transposed_convolution_is_refused(changes, fact, fix):
    with pytest.raises(ValueError, match="Fix: ") as caught:
        make(**changes)
    lines = str(caught.value).split("\n")
    assert lines[0] == f"{fact}."
    assert lines[1].startswith("  In: ConvTransposeSpec(n=2, c=6, ")
    assert lines[2] == f"  Fix: {fix}."


@pytest.mark.parametrize(
    ("changes", "fact"),
    [
        ({"n": 2**60, "c": 8, "k": 1, "h": 1, "w": 1, "r": 1, "s": 1}, "The input has 9223372036854775808 elements"),
        ({"n": 1, "c": 1, "k": 2**62, "h": 1, "w": 1, "r": 2, "s": 1}, "The weights have 9223372036854775808 elements"),
        ({"stride": (2**58, 1), "padding": (2**58, 0)}, "The output before cropping has "),
        ({"c": 2**40, "k": 2**12, "h": 2**12, "w": 1, "r": 1, "s": 1}, "The work is "),
    ],
)
def test_what_64_bits_do_not_count_is_refused(changes, fact):
    with pytest.raises(ValueError, match=f"{fact}.*, beyond 2.63 − 1"):
        make(**changes)


def test_one_row_is_left_where_padding_crops_all_others():
    assert make(padding=(3, 3, 0, 0)).p == 1


@pytest.mark.parametrize(
    ("x_shape", "w_shape", "fact", "fix"),
    [
        ((2, 6, 5), (6, 2, 3, 2), "x has shape (2, 6, 5), but it needs (N, C, H, W)", "Give x four axes"),
        ((2, 6, 5, 7), (2, 3, 2), "w has shape (2, 3, 2), but it needs (C, K/G, R, S)", "Give w four axes"),
        (
            (2, 6, 5, 7),
            (4, 6, 3, 2),
            "w has 4 input channels, but x has c=6",
            "Give w the shape (C, K/G, R, S)",
        ),
        ((2, 6, 5, 7), (6, 0, 3, 2), "w.shape[1] (K/G)=0 is less than 1", "Give w.shape[1] (K/G) a whole number"),
    ],
)
def test_shapes_that_do_not_belong_together_are_refused(x_shape, w_shape, fact, fix):
    with pytest.raises(ValueError, match="Fix: ") as caught:
        ConvTransposeSpec.from_shapes(x_shape, w_shape)
    lines = str(caught.value).split("\n")
    assert lines[0] == f"{fact}."
    assert lines[1].startswith(f"  In: ConvTransposeSpec.from_shapes(x_shape={x_shape}, w_shape={w_shape}, stride=1")
    assert lines[2].startswith(f"  Fix: {fix}")


def test_its_adjoint_is_an_ordinary_convolution():
    assert isinstance(make().adjoint, ConvSpec)
