"""The nests of GPU kernels move the words that the emulator counts when the kernels themselves run."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from convlab.dataflow.analytic import analyse
from convlab.dataflow.executor import execute
from convlab.dataflow.kernels import kernel
from convlab.executors.plans import run_plan
from convlab.kernels.ladder import method
from convlab.reference.direct import oracle
from convlab.spec import ConvSpec

from .cases import layers, tensors

# The kernel loads all pixels under its tile. In these layers some window needs each of them: the last one ends where
# the padded image does, and what a dilated one steps over its neighbours take.
TILED = [
    ConvSpec(n=2, c=3, h=21, w=37, k=4, r=3, s=5),
    ConvSpec(n=1, c=1, h=34, w=19, k=2, r=3, s=3, padding=1),
    ConvSpec(n=2, c=6, h=9, w=18, k=4, r=2, s=3, padding=(0, 2, 1, 0), groups=2),
    ConvSpec(n=1, c=4, h=23, w=24, k=4, r=3, s=2, dilation=(2, 3), groups=4),
    ConvSpec(n=1, c=2, h=35, w=41, k=3, r=3, s=3, stride=2),
]
IMPLICIT = [
    ConvSpec(n=2, c=3, h=12, w=9, k=20, r=3, s=2),
    ConvSpec(n=1, c=6, h=9, w=13, k=36, r=1, s=3, stride=(2, 1), groups=2),
    ConvSpec(n=3, c=5, h=6, w=7, k=70, r=1, s=1),
    ConvSpec(n=2, c=4, h=11, w=8, k=17, r=3, s=3, dilation=(2, 1)),
]
PADDED = ConvSpec(n=2, c=3, h=10, w=9, k=70, r=3, s=3, padding=(1, 2), stride=(1, 2))


def counted(name, spec):
    """Float32 elements that the kernel loads and stores, by array."""
    record = method(name)
    x, w = (array.astype("f4") for array in tensors(spec))
    y = np.zeros(spec.output_shape, "f4")
    runs = run_plan(record.plan(spec), {"x": x, "w": w, "bias": None, "y": y}, "emulator", faults="record")
    (run,) = runs
    loads = {array: run.arrays[array]["thread_bytes_global_load"] // 4 for array in "xw"}
    return {**loads, "y": run.arrays["y"]["thread_bytes_global_store"] // 4}


def modelled(name, spec):
    nest, block = kernel(name, spec)
    counts = analyse(nest, spec, block)
    return {"x": counts["x", "dram"].reads, "w": counts["w", "dram"].reads, "y": counts["y", "dram"].writes}


@pytest.mark.parametrize("spec", TILED, ids=str)
def test_tiled_loads_and_stores_what_its_nest_moves(spec):
    assert modelled("tiled", spec) == counted("tiled", spec)


@pytest.mark.parametrize("spec", IMPLICIT, ids=str)
def test_implicit_gemm_loads_and_stores_what_its_nest_moves(spec):
    assert modelled("implicit_gemm", spec) == counted("implicit_gemm", spec)


def test_zeros_of_padding_are_in_the_matrix_but_not_loaded_by_the_kernel():
    model, kernel_counts = modelled("implicit_gemm", PADDED), counted("implicit_gemm", PADDED)
    inside = oracle(np.ones(PADDED.input_shape), np.ones((1, PADDED.c, 3, 3)), None, PADDED.__class__(
        PADDED.n, PADDED.c, PADDED.h, PADDED.w, 1, 3, 3, PADDED.stride, PADDED.padding))  # fmt: skip
    zeros = prod(PADDED.im2col_shape) - int(inside.sum())
    assert zeros > 0
    assert model["x"] - kernel_counts["x"] == 2 * zeros  # two tiles of filters
    assert (model["w"], model["y"]) == (kernel_counts["w"], kernel_counts["y"])


def test_tiled_loads_pixels_that_no_window_needs():
    """Eight rows, of which three windows of three at a stride of two see seven: the kernel loads all of its tile."""
    spec = ConvSpec(n=2, c=3, h=8, w=9, k=4, r=3, s=3, stride=2)
    assert modelled("tiled", spec)["x"] == 2 * 3 * 4 * 7 * 9
    assert counted("tiled", spec)["x"] == 2 * 3 * 4 * 8 * 9


@pytest.mark.parametrize("name", ["tiled", "implicit_gemm"])
def test_the_nests_compute_the_layer_and_both_counters_agree(name):
    for seed, spec in enumerate(layers(12, seed=20, most=400)):
        nest, block = kernel(name, spec)
        x, w = tensors(spec, seed)
        done = execute(nest, spec, x, w, block)
        np.testing.assert_allclose(done.output, oracle(x, w, None, spec), rtol=1e-12, atol=1e-12)
        assert done.counts == analyse(nest, spec, block)


def test_implicit_gemm_fills_its_block():
    spec = ConvSpec(n=1, c=16, h=18, w=18, k=128, r=3, s=3)
    nest, block = kernel("implicit_gemm", spec)
    assert analyse(nest, spec, block).utilisation == 1.0
    assert str(nest) == "gemm | grid: k2 q2 | dram: c18 | buffer(x w): c8 | rows: k4 | cols: q32 | regs: k16 q4"


def test_other_kernels_have_no_nest():
    with pytest.raises(ValueError, match="There is no nest of the kernel 'naive'") as error:
        kernel("naive", PADDED)
    assert "Fix: take one of tiled, implicit_gemm." in str(error.value)


def test_layers_that_the_kernel_does_not_run_have_no_nest():
    spec = ConvSpec(n=1, c=2, h=400, w=400, k=3, r=3, s=3, dilation=120)
    with pytest.raises(ValueError, match="takes 278564 bytes of shared memory") as error:
        kernel("tiled", spec)
    assert "In: the nest of tiled on 1×2×400×400" in str(error.value)
    assert "Fix: choose another layer, or another kernel." in str(error.value)
