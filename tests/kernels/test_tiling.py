from __future__ import annotations

import math

import pytest

from convlab.kernels.tiling import TILES, ceil_div, tile_of


@pytest.mark.parametrize("tile", [1, 2, 7, 32])
def test_tiles_cover_a_size_and_none_of_them_is_idle(tile):
    for size in range(1, 100):
        assert ceil_div(size, tile) == math.ceil(size / tile)
    assert ceil_div(2**62 + 1, 2) == 2**61 + 1  # where a float would be too coarse


def test_a_tile_is_the_smallest_that_holds_all_filters():
    for filters in range(1, TILES[-1] + 1):
        assert tile_of(filters) >= filters
        assert [tile for tile in TILES if filters <= tile < tile_of(filters)] == []
    assert tile_of(TILES[-1] + 1) == TILES[-1]
