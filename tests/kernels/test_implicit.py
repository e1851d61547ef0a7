from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.kernels.ladder import method
from convlab.kernels.layers import LAYERS
from convlab.ops.conv2d import conv2d
from convlab.spec import ConvSpec

from .rungs import check_rung
from .specs import random_tensors

GEMMS = ("implicit_gemm", "implicit_gemm_nhwc")
RUNGS = (*GEMMS, "grouped")
STANDARD = LAYERS["conv2d"]["standard"]


@pytest.mark.parametrize("name", RUNGS)
@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ({"c": 70000, "k": 70000, "groups": 70000}, "G=70000 groups are more than the 65535 blocks that a grid"),
        ({"n": 70000, "h": 200, "w": 200}, "2800000000 columns of X_col are too many for the 32-bit int"),
        ({"c": 2**20, "h": 50, "w": 50, "r": 50, "s": 50}, "2621440000 rows of X_col are too many for the 32-bit int"),
        (
            {"h": 50000, "w": 50000, "stride": 500},
            "2500000000 input pixels of a plane are too many for the 32-bit int that numbers them.",
        ),
        ({"h": 50000, "w": 50000}, "2500000000 output pixels of a plane are too many for the 32-bit int"),
    ],
)
def test_sizes_beyond_its_numbers_are_declined_with_the_reason(name, sizes, reason):
    spec = ConvSpec(**{"n": 1, "c": 1, "h": 4, "w": 5, "k": 1, "r": 1, "s": 1, **sizes})
    assert reason in method(name).supports(spec)


@pytest.mark.parametrize(
    ("name", "size", "parts"),
    [
        ("implicit_gemm", 64, "⌈K/G / 64⌉=65536 tiles of filters"),
        ("implicit_gemm_nhwc", 64, "⌈K/G / 64⌉=65536 tiles of filters"),
        ("grouped", 8, "⌈K/G / 8⌉=65536 parts of a group"),
    ],
)
def test_the_operation_raises_the_reason(name, size, parts):
    x, w = np.ones((1, 1, 1, 1), "f4"), np.ones((size * 65536, 1, 1, 1), "f4")
    with pytest.raises(ValueError, match=f"Method '{name}' does not support this conv2d: {parts} are more than the"):
        conv2d(x, w, method=name, device="emulator")


@pytest.mark.parametrize("name", GEMMS)
@pytest.mark.parametrize(("k", "bm"), [(1, 16), (16, 16), (17, 32), (32, 32), (33, 64), (200, 64)])
def test_a_block_has_as_few_filters_as_hold_those_of_a_group(name, k, bm):
    (step,) = method(name).plan(replace(STANDARD, c=6, k=2 * k, groups=2)).launches
    assert step.options == (f"-DBM={bm}",)
    assert step.grid == (8, -(-k // bm), 2)


@pytest.mark.parametrize(
    ("filters", "tm", "parts"), [(1, 1, 1), (3, 3, 1), (8, 8, 1), (9, 5, 2), (16, 8, 2), (17, 6, 3), (67, 8, 9)]
)
def test_a_thread_has_all_filters_of_a_group_or_even_parts_of_them(filters, tm, parts):
    (step,) = method("grouped").plan(replace(STANDARD, k=4 * filters, groups=4)).launches
    assert step.options == (f"-DTM={tm}",)
    assert step.grid == (8, 4, parts)


@pytest.mark.parametrize("name", RUNGS)
@pytest.mark.parametrize("k", [16, 29, 64])
@pytest.mark.parametrize("c", [8, 9])
def test_no_tile_has_bank_conflicts(name, k, c):
    (run,) = check_rung(name, replace(STANDARD, c=c, h=9, k=k))
    assert (run.counters.conflicts_shared_load, run.counters.conflicts_shared_store) == (0, 0)


@pytest.mark.parametrize("name", RUNGS)
def test_a_turing_gpu_has_all_that_it_needs(name):
    check_rung(name, ConvSpec(n=2, c=8, h=9, w=7, k=18, r=2, s=3, padding=1), arch="compute_75")


def test_with_channels_last_a_stride_wastes_no_part_of_a_sector():
    spec = replace(STANDARD, h=64, w=64, stride=2)
    nchw, nhwc = (check_rung(name, spec)[0].arrays for name in GEMMS)
    assert 2 * nhwc["x"].sectors_global_load <= nchw["x"].sectors_global_load


@pytest.mark.parametrize("name", RUNGS)
def test_an_infinity_reaches_only_the_windows_that_hold_it(name):
    """What fills up a stage is zero times something, which must not be an element of the input."""
    spec = ConvSpec(n=2, c=5, h=9, w=8, k=3, r=3, s=1)
    x, w, _ = random_tensors(spec)
    x[0, 0, 4, 3] = np.inf
    y = conv2d(x, w, method=name, device="emulator")
    reached = np.zeros(spec.output_shape, bool)
    reached[0, :, 2:5, 3] = True
    assert (np.isfinite(y) == ~reached).all()


ROWS = """
#include "rows.cuh"
extern "C" __global__ void rows(const float* w, float* y, int first, int length) {
    const float* row = w + first + threadIdx.y * length;
    ((float4*)y)[threadIdx.y * blockDim.x + threadIdx.x] =
        load4(row, threadIdx.x * 4, length, rows_of_four(w + first, length));
}
"""


@pytest.mark.parametrize(("first", "length", "requests"), [(0, 8, 1), (4, 8, 1), (1, 8, 4), (0, 7, 4), (3, 5, 4)])
def test_rows_are_read_16_bytes_at_a_time_only_where_all_of_them_allow_it(first, length, requests):
    w, y = np.arange(1, 40, dtype="f4"), np.full((3, 12), np.nan, "f4")
    run = launch(compile(ROWS).kernels["rows"], 1, (3, 3), [w, y, first, length], device="emulator")
    rows = w[first : first + 3 * length].reshape(3, length)
    assert (y == np.pad(rows, [(0, 0), (0, 12 - length)])).all()
    assert run.counters.requests_global_load == requests
