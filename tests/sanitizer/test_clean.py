"""No false alarm: the course's own kernels give no fault of any severity."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from convlab import course
from convlab.executors.compile import compile
from convlab.executors.empty import empty
from convlab.executors.launch import launch
from convlab.kernels.ladder import AXES, FOLDER, Method, conv_struct, methods
from convlab.spec import ConvSpec

from .case import floats

RUNGS = [method for method in methods() if method.plan is not None and method.op == "conv2d"]
SPECS = {
    "uneven": ConvSpec(n=2, c=3, h=9, w=14, k=5, r=3, s=2, stride=(2, 1), padding=(1, 0, 2, 3)),
    "dilated": ConvSpec(n=2, c=4, h=13, w=8, k=6, r=2, s=3, padding=2, dilation=(2, 3), groups=2),
    "depthwise": ConvSpec(n=1, c=6, h=7, w=17, k=6, r=3, s=3, padding="same", groups=6),
    "usual": ConvSpec(n=1, c=16, h=20, w=33, k=8, r=3, s=3, padding=1),
    "pointwise": ConvSpec(n=3, c=7, h=5, w=11, k=19, r=1, s=1),
}


def run_plan(method: Method, spec: ConvSpec, bias: bool):
    """Every launch of a plan, on outputs and scratch arrays that count as never written."""
    rng = np.random.default_rng(5)
    x, w, b = (floats(rng, *shape).astype(method.dtype) for shape in (spec.input_shape, spec.weight_shape, (spec.k,)))
    plan = method.plan(spec)
    tensors = {"x": x, "w": w, "bias": b if bias else None, "y": empty(spec.output_shape, method.dtype)}
    tensors |= {name: empty(shape, dtype) for name, (shape, dtype) in plan.scratch.items()}
    for step in plan.launches:
        kernel = compile(step.text(), step.source).kernels[step.entry]
        arguments = [tensors[each] if isinstance(each, str) else each for each in step.arguments]
        options = {"device": "emulator", "faults": "record"}
        yield launch(kernel, step.grid, step.block, arguments, step.shared, axes=AXES, **options)


@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("method", RUNGS, ids=lambda method: method.name)
def test_a_rung_of_the_ladder_gives_no_fault(method, name, bias):
    if method.supports(SPECS[name]) is None:
        for run in run_plan(method, SPECS[name], bias):
            assert run.faults == []


def test_every_kernel_of_the_ladder_is_run():
    supported = [(method, spec) for method in RUNGS for spec in SPECS.values() if method.supports(spec) is None]
    launched = {step.source for method, spec in supported for step in method.plan(spec).launches}
    assert launched == {path.name for path in FOLDER.glob("*.cu")}


def cell(notebook: str, name: str) -> str:
    """The CUDA C of a ``%%cuda NAME`` cell."""
    book = json.loads(course.shipped("notebooks")[f"notebooks/{notebook}"].read_text(encoding="utf-8"))
    sources = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    (found,) = (text for text in sources if re.match(rf"%%cuda {name}\b", text))
    return found.partition("\n")[2]


def sums(rng):
    a, b = floats(rng, 1000), floats(rng, 1000)
    return [a, b, empty(1000, "f4"), 1000], a + b


def layer(rng):
    spec = SPECS["uneven"]
    x, w = floats(rng, *spec.input_shape), floats(rng, *spec.weight_shape)
    return [x, w, None, empty(spec.output_shape, "f4"), conv_struct(spec)], None


@pytest.mark.parametrize(
    ("notebook", "name", "entry", "grid", "block", "make"),
    [
        ("00_start_here.ipynb", "hello", "hello", 2, 4, lambda rng: ([], None)),
        ("00_start_here.ipynb", "first", "add", 4, 256, sums),
        ("00_start_here.ipynb", "mine", "combine", 4, 256, sums),
        ("01_inner_product_to_convolution.ipynb", "naive", "conv_naive", (1, 5, 2), 256, layer),
    ],
)
def test_a_kernel_of_a_notebook_gives_no_fault(notebook, name, entry, grid, block, make):
    arguments, expected = make(np.random.default_rng(6))
    kernel = compile(cell(notebook, name), f"{name}.cu").kernels[entry]
    run = launch(kernel, grid, block, arguments, device="emulator", faults="record")
    assert run.faults == []
    if expected is not None:
        np.testing.assert_array_equal(arguments[2], expected)
