"""What "auto" picks, against the model: on layers of ResNet-50 and MobileNetV2, with one image and with many."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from convlab.kernels.choose import RULES, choose
from convlab.kernels.ladder import method
from convlab.nets import network
from convlab.perf.gpus import gpu
from convlab.perf.model import predict
from convlab.perf.recorded import records, spec_fields
from convlab.perf.work import work
from convlab.spec import ConvSpec

LAYERS = [
    ("resnet50", 1, ["conv1", "conv2_1.reduce", "conv3_1.conv", "conv3_2.conv", "conv4_1.reduce", "conv5_1.reduce"]),
    ("resnet50", 1, ["conv5_2.reduce", "conv5_2.conv"]),
    ("resnet50", 32, ["conv2_1.conv", "conv2_1.expand", "conv3_1.conv", "conv5_2.conv"]),
    ("mobilenet_v2", 1, ["conv1", "block1.depthwise", "block2.expand", "block3.project", "block14.project"]),
]
SPECS = {
    f"{net}, N={n}, {name}": network(net, n)[name].spec for net, n, names in LAYERS for name in names
}  # fmt: skip
CONTENDERS = ["pointwise", *dict.fromkeys(rule.method for rule in RULES if method(rule.method).op == "conv2d")]


def milliseconds(spec: ConvSpec) -> dict[str, float]:
    """By the model for an A100, of pointwise and every method that some rule names, if it supports the spec."""
    able = [name for name in CONTENDERS if method(name).dtype == "float32" and method(name).supports(spec) is None]
    return {name: predict(work(spec, name, sample=2), gpu("A100")).milliseconds for name in able}


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS.keys())
def test_the_rules_pick_no_method_that_the_model_finds_much_slower_than_another(spec: ConvSpec) -> None:
    found = milliseconds(spec)
    picked = choose("conv2d", spec, "float32").name
    assert found[picked] <= 1.4 * min(found.values()), found


def slower(folder: Path | None = None) -> list[tuple[str, str, float]]:
    """Recorded layers on which another of the rules' methods beat the pick by more than that: GPU, spec, factor."""
    found = []
    for record in records(folder):
        layers: dict[ConvSpec, dict[str, float]] = {}
        for entry in record["entries"]:
            if entry["op"] == "conv2d" and entry.get("method") in CONTENDERS and entry["dtype"] == "float32":
                layers.setdefault(ConvSpec(**entry["spec"]), {})[entry["method"]] = entry["milliseconds"]
        for spec, times in layers.items():
            factor = times.get(choose("conv2d", spec, "float32").name, 0) / min(times.values())
            found += [(record["machine"]["gpu"], str(spec), factor)] if factor > 1.4 else []
    return found


def test_the_rules_pick_no_method_that_was_recorded_much_slower_than_another() -> None:
    assert slower() == []


def test_a_recorded_time_that_a_rule_is_wrong_about_is_noticed(tmp_path: Path) -> None:
    spec = ConvSpec(n=16, c=64, h=56, w=57, k=32, r=1, s=1)
    assert choose("conv2d", spec, "float32").name == "implicit_gemm"
    entry = {"op": "conv2d", "spec": spec_fields(spec), "dtype": "float32"}
    times = {"implicit_gemm": 3.0, "grouped": 2.0, "im2col_cublas": 0.1}
    entries = [{**entry, "method": name, "milliseconds": time} for name, time in times.items()]
    text = json.dumps({"benchmark": "gpu", "day": "2026-01-02", "machine": {"gpu": "Any"}, "entries": entries})
    (tmp_path / "gpu_any.json").write_text(text, encoding="utf-8")
    assert slower(tmp_path) == [("Any", str(spec), 1.5)]
