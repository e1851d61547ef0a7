from __future__ import annotations

import re

from convlab.kernels.ladder import method
from convlab.kernels.layers import LAYERS, launches, supported
from convlab.kernels.method import FOLDER

from .cases import CASES

KEYS = {(step.source, step.entry, step.options) for _, step in launches()}


def test_every_kernel_of_every_file_is_launched():
    declared = set()
    for path in FOLDER.glob("*.cu"):
        text = re.sub(r"//.*|__launch_bounds__\([^)]*\)", "", path.read_text(encoding="utf-8"))
        declared |= {(path.name, entry) for entry in re.findall(r"__global__\s+void\s+(\w+)\(", text)}
    assert {(source, entry) for source, entry, _ in KEYS} == declared


def test_whatever_a_plan_compiles_is_among_the_launches():
    """PTX is shipped for these, and none of them spills: a plan may choose no other options."""
    planned = {
        (step.source, step.entry, step.options)
        for name, specs in CASES.items()
        for spec in specs
        for step in method(name).plan(spec).launches
    }
    assert sorted(planned - KEYS) == []


def test_every_op_has_a_standard_layer_that_comes_first():
    assert {next(iter(layers)) for layers in LAYERS.values()} == {"standard"}
    assert next(iter(supported(method("depthwise")))) == "depthwise"
