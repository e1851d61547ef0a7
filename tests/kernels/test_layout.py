from __future__ import annotations

import numpy as np
import pytest

from convlab.kernels.ladder import method
from convlab.ops.layout import to_layout
from convlab.spec import LayoutSpec

from .rungs import check_rung

RUNGS = ("layout_naive", "layout_transform", "layout_transform_half")


@pytest.mark.parametrize("name", RUNGS)
@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ((70000, 1, 2, 3), "N=70000 images are more than the 65535 blocks that a grid can have there."),
        ((1, 3, 40000, 20000), "2400000000 elements of an image are too many for the 32-bit int that numbers them."),
    ],
)
def test_sizes_beyond_the_grid_are_declined_with_the_reason(name, sizes, reason):
    assert method(name).supports(LayoutSpec(*sizes)) == reason


def test_the_operation_says_why_a_method_declines():
    x = np.ones((65536, 1, 1, 1), "f4")
    with pytest.raises(ValueError, match="does not support this layout: N=65536 images are more than the 65535 blocks"):
        to_layout(x, method="layout_transform")


@pytest.mark.parametrize("name", ["auto", *RUNGS])
def test_there_and_back_again(name):
    x = np.random.default_rng(0).standard_normal((2, 5, 7, 11)).astype("f2" if name.endswith("half") else "f4")
    there = to_layout(x, "nhwc", method=name)
    np.testing.assert_array_equal(there, x.transpose(0, 2, 3, 1))
    np.testing.assert_array_equal(to_layout(there, "nchw", "nhwc", method=name), x)


def test_not_a_number_and_minus_zero_keep_their_bits():
    x = np.array([0x7FC00001, 0x80000000, 0xFF800000, 0x7F800001], "u4").view("f4").reshape(1, 2, 1, 2)
    np.testing.assert_array_equal(
        to_layout(x, method="layout_transform").view("u4").ravel(), x.view("u4")[0, [0, 1, 0, 1], 0, [0, 0, 1, 1]]
    )


@pytest.mark.parametrize("name", RUNGS[1:])
@pytest.mark.parametrize("source", ["nchw", "nhwc"])
def test_full_tiles_move_each_sector_once_and_without_conflicts(name, source):
    spec = LayoutSpec(2, 64, 8, 12, source, "nhwc" if source == "nchw" else "nchw")
    (run,) = check_rung(name, spec)
    elements = 2 * 64 * 8 * 12
    size = np.dtype(method(name).dtype).itemsize
    assert run.counters.sectors_global_load == run.counters.sectors_global_store == elements * size // 32
    assert run.counters.requests_global_load == run.counters.requests_global_store == elements // 32
    assert run.counters.conflicts_shared_load == run.counters.conflicts_shared_store == 0


def test_sixteen_channels_leave_half_of_each_store_empty():
    (run,) = check_rung("layout_transform", LayoutSpec(n=1, c=16, h=32, w=32))
    assert run.counters.requests_global_store == 2 * run.counters.requests_global_load
    assert run.counters.conflicts_shared_load == run.counters.conflicts_shared_store == 0
