from __future__ import annotations

import numpy as np
import pytest

from convlab.errors import LaunchError
from convlab.executors.shape import block_shape, grid_shape

HOW = "  Fix: pass an int, or a tuple of one to three, such as grid=(32, 8)."


@pytest.mark.parametrize(
    ("given", "shape"),
    [(7, (7, 1, 1)), ((7,), (7, 1, 1)), ((7, 5), (7, 5, 1)), ([7, 5, 3], (7, 5, 3)), (np.int32(9), (9, 1, 1))],
)
def test_a_shape_is_completed_to_x_y_z(given, shape):
    assert grid_shape(given) == shape
    assert all(type(size) is int for size in grid_shape(given))


@pytest.mark.parametrize("given", [2.0, "3", None, (), (1, 2, 3, 4), (1, 2.5), True, (4, True), np.ones(2)])
def test_what_is_no_number_of_blocks_is_refused(given):
    with pytest.raises(LaunchError) as caught:
        grid_shape(given)
    assert str(caught.value) == f"grid={given!r} is not a number of blocks along x, y and z.\n{HOW}"


@pytest.mark.parametrize(("given", "size", "axis"), [(0, 0, "x"), ((3, -2), -2, "y"), ((3, 2, 0), 0, "z")])
def test_every_axis_needs_one(given, size, axis):
    with pytest.raises(LaunchError) as caught:
        grid_shape(given)
    assert str(caught.value) == f"grid={given!r} has {size} blocks along {axis}, and needs at least 1.\n{HOW}"


@pytest.mark.parametrize(
    ("shape", "given", "text"),
    [
        (grid_shape, 2**31, f"{2**31} blocks along x, and {2**31 - 1} is the most there."),
        (grid_shape, (1, 65536), "65536 blocks along y, and 65535 is the most there."),
        (grid_shape, (1, 1, 65536), "65536 blocks along z, and 65535 is the most there."),
        (block_shape, 1025, "1025 threads along x, and 1024 is the most there."),
        (block_shape, (1, 1, 65), "65 threads along z, and 64 is the most there."),
    ],
)
def test_no_axis_is_longer_than_a_gpu_allows(shape, given, text):
    with pytest.raises(LaunchError) as caught:
        shape(given)
    fix = (
        "  Fix: "
        + {
            grid_shape: "use more of another axis.",
            block_shape: "make the block smaller and the grid larger.",
        }[shape]
    )
    assert str(caught.value).partition(" has ")[2] == f"{text}\n{fix}"


def test_the_limits_themselves_are_allowed():
    assert grid_shape((2**31 - 1, 65535, 65535)) == (2**31 - 1, 65535, 65535)
    assert block_shape((4, 4, 64)) == (4, 4, 64)
    assert block_shape((1, 1024)) == (1, 1024, 1)


def test_a_block_has_1024_threads_at_most():
    with pytest.raises(LaunchError) as caught:
        block_shape((32, 33))
    assert str(caught.value) == (
        "block=(32, 33) has 1056 threads, and a block can have 1024.\n"
        "  Fix: make the block smaller and the grid larger."
    )
