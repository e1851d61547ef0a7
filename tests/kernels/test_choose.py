from __future__ import annotations

import pytest

from convlab.kernels.choose import RULES, choose
from convlab.kernels.ladder import method, methods
from convlab.kernels.layers import LAYERS
from convlab.spec import ConvSpec, GemmSpec

from .specs import random_specs

LAYER = {"n": 16, "c": 64, "h": 56, "w": 56, "k": 64, "r": 3, "s": 3, "padding": 1}


CONVOLUTIONS = [
    ({}, "float32", "winograd"),
    ({}, "float16", "tensor_core_mma"),
    ({}, "bfloat16", "tensor_core_bf16"),
    ({}, "float64", "direct"),
    ({"groups": 64}, "float32", "depthwise"),
    ({"groups": 4}, "float32", "grouped"),
    ({"r": 1, "s": 1, "padding": 0}, "float32", "implicit_gemm"),
    ({"r": 1, "s": 1, "padding": 0, "stride": 2}, "float32", "implicit_gemm"),
    ({"c": 3, "k": 64, "r": 7, "s": 7, "stride": 2, "padding": 3, "h": 224, "w": 224}, "float32", "implicit_gemm"),
    ({"c": 3}, "float32", "implicit_gemm"),
    ({"stride": 2}, "float32", "implicit_gemm"),
    ({"h": 7, "w": 7}, "float32", "winograd"),
    ({"h": 3, "w": 3}, "float32", "grouped"),
    ({"h": 28, "w": 28, "stride": 2}, "float32", "grouped"),
    ({"n": 1, "r": 1, "s": 1, "padding": 0}, "float32", "grouped"),
    ({"n": 1, "h": 7, "w": 7}, "float32", "naive"),
    ({"n": 1, "h": 7, "w": 7, "r": 1, "s": 1, "padding": 0}, "float32", "naive"),
    ({"n": 1}, "float32", "winograd"),
    ({"k": 3}, "float32", "tiled"),
    ({"k": 3, "r": 1, "s": 1, "padding": 0}, "float32", "grouped"),
    ({"n": 3, "c": 1, "h": 40000, "w": 40000, "k": 5, "padding": 1}, "float32", "naive"),
    ({"n": 700000, "c": 1, "h": 1, "w": 1, "k": 1}, "float32", "implicit_gemm"),
]


@pytest.mark.parametrize(("changes", "dtype", "chosen"), CONVOLUTIONS)
def test_the_rules_pick_what_lesson_18_explains(changes, dtype, chosen):
    spec = ConvSpec(**{**LAYER, **changes})
    found = choose("conv2d", spec, dtype)
    assert found.supports(spec) is None
    assert found.name == chosen


OTHERS = [
    ("conv_transpose2d", "float32", "transposed"),
    ("gemm", "float32", "gemm_warp"),
    ("layout", "float32", "layout_transform"),
    ("separable", "float32", "separable_fused"),
    ("block", "float32", "fused_epilogue"),
    ("layout", "float16", "layout_transform_half"),
]


@pytest.mark.parametrize(("op", "dtype", "chosen"), OTHERS)
def test_other_ops_have_a_rule_of_their_own(op, dtype, chosen):
    assert choose(op, LAYERS[op]["standard"], dtype).name == chosen


@pytest.mark.parametrize(("rows", "chosen"), [(8, "gemm_naive"), (9, "gemm_warp")])
def test_a_fully_connected_layer_of_few_images_is_no_tile(rows, chosen):
    assert choose("gemm", GemmSpec(rows, 1000, 2048), "float32").name == chosen


def test_every_rule_names_a_rung_and_none_is_out_of_reach():
    names = [rule.method for rule in RULES]
    assert len({(rule.method, rule.why) for rule in RULES}) == len(RULES)
    assert {method(name).plan is not None for name in names} == {True}
    assert set(names) <= {"gemm_naive", *(chosen for _, _, chosen in CONVOLUTIONS + OTHERS)}
    assert all(rule.why for rule in RULES)


def test_whatever_is_chosen_supports_the_spec():
    for spec in random_specs(100, seed=11):
        for dtype in ("float32", "float16"):
            assert choose("conv2d", spec, dtype).supports(spec) is None


def test_the_device_decides_between_kernels_and_references():
    spec = ConvSpec(**LAYER)
    assert choose("conv2d", spec, "float32", "cpu").name == "direct"
    assert choose("conv2d", spec, "float32", "emulator").name == "winograd"
    with pytest.raises(
        ValueError, match=r"No kernel computes conv2d in float64 .*\n.*\n  Fix: .*, or leave the device out"
    ):
        choose("conv2d", spec, "float64", "cuda")


def test_a_type_that_nothing_computes_in_is_refused(monkeypatch):
    monkeypatch.setattr("convlab.kernels.choose.methods", lambda op: [m for m in methods(op) if m.plan is not None])
    with pytest.raises(ValueError, match=r"No method computes gemm in int8 for these sizes\.\n.*\n  Fix: convert"):
        choose("gemm", LAYERS["gemm"]["standard"], "int8")


def test_a_gpu_that_lacks_the_instructions_gets_another_method():
    spec = LAYERS["conv2d"]["standard"]
    assert choose("conv2d", spec, "bfloat16", capability=80).name == "tensor_core_bf16"
    assert choose("conv2d", spec, "bfloat16", capability=75).name == "direct"
    assert choose("conv2d", spec, "float16", capability=75).name == "tensor_core_mma"
