from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise

import numba
import numpy as np
import pytest

from convlab.errors import ArgumentError
from convlab.reference.cpu_conv import CPU_CONV
from convlab.reference.cpu_conv_tiles import DEPTH, Plan
from convlab.reference.direct import oracle
from convlab.reference.register_tile import TM, TN
from convlab.spec import ConvSpec

from .cases import assert_close, doubles, onnx_conv, random_arrays, random_spec

TINY = [
    ConvSpec(n=1, c=1, h=1, w=1, k=1, r=1, s=1),
    ConvSpec(n=3, c=5, h=1, w=1, k=7, r=1, s=1),
    ConvSpec(n=2, c=3, h=1, w=1, k=7, r=3, s=5, padding=(1, 2)),
    ConvSpec(n=2, c=1, h=9, w=4, k=1, r=2, s=3),
    ConvSpec(n=2, c=3, h=1, w=40, k=7, r=1, s=3, stride=(1, 5), dilation=(1, 4)),
    ConvSpec(n=2, c=2, h=3, w=2, k=3, r=1, s=1, padding=(0, 4, 9, 1)),  # outputs that see nothing but padding
]
LARGE = [  # more than one panel of filters, depth block and block of rows, and none of them full
    ConvSpec(n=1, c=DEPTH // 2 + 5, h=12, w=9, k=TN + 5, r=2, s=3, padding=(2, 1, 0, 1)),
    ConvSpec(n=2, c=2 * DEPTH + 2, h=7, w=6, k=2 * TN + 6, r=3, s=2, dilation=(1, 2), groups=2, padding=1),
    ConvSpec(n=1, c=3, h=45, w=61, k=2 * TN + 1, r=7, s=5, stride=(2, 1), padding=3),
    ConvSpec(n=1, c=2, h=3, w=400, k=3, r=2, s=3, padding="same"),  # a row of more pixels than a block should have
]


def assert_convolves(rung, spec, seed):
    arrays = random_arrays(spec, seed, "float32")
    assert_close(CPU_CONV[rung](*arrays, spec), oracle(*arrays, spec), arrays, spec)


def test_the_ladder_in_its_order():
    assert list(CPU_CONV) == ["loops", "blocked", "vectorised", "parallel"]


@pytest.mark.parametrize("seed", range(200))
def test_every_rung_equals_the_onnx_reference(seed):
    spec = random_spec(seed)
    arrays = random_arrays(spec, seed, "float32")
    expected = onnx_conv(*doubles(*arrays), spec)
    for rung in CPU_CONV.values():
        assert_close(rung(*arrays, spec), expected, arrays, spec)


@pytest.mark.parametrize("rung", CPU_CONV)
@pytest.mark.parametrize("spec", TINY, ids=str)
def test_tiny_and_odd_sizes(rung, spec):
    assert_convolves(rung, spec, seed=1)


@pytest.mark.parametrize("rung", CPU_CONV)
@pytest.mark.parametrize("spec", LARGE, ids=str)
def test_more_than_one_tile_of_everything(rung, spec):
    assert_convolves(rung, spec, seed=2)


def test_the_large_specs_are_larger_than_the_tiles():
    plans = [Plan.of(spec) for spec in LARGE]
    for sizes in ([v.panels for v in plans], [-(-v.run // DEPTH) for v in plans], [v.blocks for v in plans]):
        assert max(sizes) > 1
    assert any(v.rows * v.blocks > spec.p for v, spec in zip(plans, LARGE, strict=True)), "a block that is not full"
    assert any(v.tiles * TM > spec.q for v, spec in zip(plans, LARGE, strict=True)), "a tile that is not full"
    assert any(v.runs > 1 for v in plans), "taps that do not lie side by side"


@pytest.mark.parametrize("rung", CPU_CONV)
def test_views_are_taken_and_arguments_left_alone(rung):
    spec = ConvSpec(n=2, c=3, h=6, w=9, k=4, r=3, s=2, padding=1)
    x, w, bias = random_arrays(spec, 4, "float32")
    views = np.asfortranarray(x), w[::-1][::-1], np.repeat(bias, 2)[::2]
    before = [view.copy() for view in views]
    assert np.array_equal(CPU_CONV[rung](*views, spec), CPU_CONV[rung](x, w, bias, spec))
    assert all(map(np.array_equal, before, views))


def test_no_loop_leaves_its_arrays():
    """Compiled code would write there without a word; interpreted, each index is checked."""
    program = """
import numpy as np
from convlab.reference import cpu_conv, cpu_conv_tiles
from convlab.reference.register_tile import TM, TN
from convlab.spec import ConvSpec
def check(sums, to, a, at, step, panel, first, depth):
    assert 0 <= to <= len(sums) - TM * TN
    assert 0 <= at <= len(a) - (TM - 1) * step - depth
    assert 0 <= first <= len(panel) - depth * TN
cpu_conv_tiles.register_tile = check
for spec in (
    ConvSpec(n=2, c=4, h=5, w=6, k=6, r=2, s=3, groups=2, stride=(1, 2), padding=(2, 0, 1, 1)),
    ConvSpec(n=1, c=2, h=9, w=16, k=33, r=3, s=2, dilation=(1, 3), padding=1),
):
    for rung in cpu_conv.CPU_CONV.values():
        rung(np.ones(spec.input_shape, "f4"), np.ones(spec.weight_shape, "f4"), None, spec)
"""
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"})


def test_the_last_two_rungs_agree_to_the_bit_with_any_number_of_threads():
    spec = ConvSpec(n=3, c=5, h=20, w=17, k=TN + 3, r=3, s=2, padding=1)
    arrays = random_arrays(spec, 5, "float32")
    results = [CPU_CONV["vectorised"](*arrays, spec), CPU_CONV["parallel"](*arrays, spec)]
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    results.append(CPU_CONV["parallel"](*arrays, spec))
    numba.set_num_threads(threads)
    assert all(np.array_equal(first, second) for first, second in pairwise(results))


@pytest.mark.parametrize("rung", CPU_CONV)
def test_other_types_are_refused(rung):
    spec = ConvSpec(n=2, c=3, h=6, w=9, k=4, r=3, s=2)
    with pytest.raises(ArgumentError) as caught:
        CPU_CONV[rung](*random_arrays(spec, 1, "float64"), spec)
    assert str(caught.value) == (
        f"the arrays are float64, but the CPU ladder computes in float32.\n  In: {spec!r}\n"
        "  Fix: Convert x, w, bias with .astype(np.float32)."
    )


@pytest.mark.parametrize("rung", CPU_CONV)
def test_other_shapes_are_refused(rung):
    spec = ConvSpec(n=2, c=3, h=6, w=9, k=4, r=3, s=2)
    x, w, bias = random_arrays(spec, 1, "float32")
    with pytest.raises(
        ArgumentError, match=r"^bias has shape \(3,\), but the spec needs \(K,\) = \(4,\)\.\n  In: Conv"
    ):
        CPU_CONV[rung](x, w, bias[:3], spec)
