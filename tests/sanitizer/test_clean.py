"""No false alarm: the kernels of the lessons give no fault of any severity; tests/kernels asks it of the ladder."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from convlab import course
from convlab.executors.compile import compile
from convlab.executors.empty import empty
from convlab.executors.launch import launch
from convlab.kernels.conv_struct import conv_struct
from convlab.spec import ConvSpec

from .case import floats

UNEVEN = ConvSpec(n=2, c=3, h=9, w=14, k=5, r=3, s=2, stride=(2, 1), padding=(1, 0, 2, 3))


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
    x, w = floats(rng, *UNEVEN.input_shape), floats(rng, *UNEVEN.weight_shape)
    return [x, w, None, empty(UNEVEN.output_shape, "f4"), conv_struct(UNEVEN)], None


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
