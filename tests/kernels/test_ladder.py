from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from convlab.kernels.conv_struct import CONV_DTYPE, conv_struct
from convlab.kernels.ladder import method, methods
from convlab.kernels.layers import LAYERS
from convlab.kernels.method import FOLDER
from convlab.kernels.ops import OPS
from convlab.spec import ConvSpec


def test_a_notebook_shows_the_methods_as_a_table():
    html = methods()._repr_html_()
    assert html.count("<tr>") == len(methods()) + 1
    assert "one thread, one output" in html
    assert [line.split()[0] for line in repr(methods()).splitlines()] == [m.name for m in methods()]


def test_a_part_of_the_table_is_a_table_and_may_be_empty():
    assert [m.name for m in methods()[1:3]] == [m.name for m in methods()][1:3]
    assert methods()[:2]._repr_html_().count("<tr>") == 3
    assert repr(methods()[:0]) == ""


def test_a_method_shows_what_it_takes_and_gives():
    record = replace(method("tensor_core"), limits="small ones")
    assert repr(record) == (
        "method tensor_core of conv2d: implicit GEMM by wmma: a warp multiplies 16×16 matrices\n"
        "  float16 → float32, nchw; small ones; lesson 10"
    )


@pytest.mark.parametrize("record", methods(), ids=lambda m: m.name)
def test_a_method_declines_the_sizes_of_other_ops(record):
    for op, layers in LAYERS.items():
        spec = layers["standard"]
        reason = (
            f"It computes {record.op}, whose sizes are a {OPS[record.op].spec.__name__}, "
            f"and this is a {type(spec).__name__}."
        )
        assert (record.supports(spec) == reason) == (op != record.op)


@pytest.mark.parametrize("record", methods(), ids=lambda m: m.name)
def test_a_method_is_a_reference_or_a_plan_and_its_kernels_exist(record):
    assert (record.reference is None) != (record.plan is None)
    if record.plan is not None:
        spec = next(spec for spec in LAYERS[record.op].values() if record.supports(spec) is None)
        for step in record.plan(spec).launches:
            assert re.search(rf'extern "C" __global__ void [^;{{]*\b{step.entry}\(', step.text())


def test_an_unknown_method_is_answered_with_the_nearest():
    with pytest.raises(
        ValueError, match=r"There is no method 'naif'. Did you mean 'naive'\? cl\.methods\(\) lists all "
    ):
        method("naif")
    with pytest.raises(ValueError, match=r"There is no op 'conv'\. The ops are: conv2d, "):
        methods("conv")


def test_the_struct_has_the_fields_of_the_header_in_its_order():
    header = (FOLDER / "common.cuh").read_text(encoding="utf-8")
    body = re.search(r"struct ConvSizes \{(.*?)\};", header, re.DOTALL)[1]
    declared = re.findall(r"\w+(?=[,;])", re.sub(r"//.*", "", body))
    assert list(CONV_DTYPE.names) == declared
    assert CONV_DTYPE.itemsize == 4 * len(declared)


def test_the_struct_holds_the_spec():
    spec = ConvSpec(2, 6, 9, 7, 4, 3, 2, stride=(2, 3), padding=(1, 0, 2, 1), dilation=(1, 2), groups=2)
    values = dict(zip(CONV_DTYPE.names, conv_struct(spec).item(), strict=True))
    assert values == {
        **{"N": 2, "C": 6, "H": 9, "W": 7, "K": 4, "R": 3, "S": 2, "P": spec.p, "Q": spec.q},
        **{"stride_h": 2, "stride_w": 3, "pad_top": 1, "pad_left": 2, "dilation_h": 1, "dilation_w": 2, "groups": 2},
    }
    assert np.array(conv_struct(spec)).nbytes == 64
