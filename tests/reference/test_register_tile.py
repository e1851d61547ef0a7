from __future__ import annotations

import numpy as np
from numba import njit

from convlab.reference.register_tile import TM, TN, register_tile


@njit
def add_tile(sums, to, a, at, step, panel, first, depth):
    register_tile(sums, to, a, at, step, panel, first, depth)


def test_it_adds_to_its_own_tile_from_the_places_it_is_given():
    rng = np.random.default_rng(0)
    depth, step, to, at, first = 5, 9, 11, 4, 3 * TN
    sums, a, panel = (rng.uniform(-1, 1, n).astype("f4") for n in (TM * TN + 40, at + TM * step, first + 8 * TN))
    rows = np.lib.stride_tricks.sliding_window_view(a[at:], depth)[::step][:TM]  # (TM, depth)
    product = rows.astype("f8") @ panel[first : first + depth * TN].reshape(depth, TN)
    expected = sums.astype("f8")
    expected[to : to + TM * TN] += product.ravel()
    add_tile(sums, to, a, at, step, panel, first, depth)
    np.testing.assert_allclose(sums, expected, rtol=1e-5, atol=1e-5)


def test_rows_may_overlap_and_one_step_is_enough():
    a, panel, sums = np.arange(1, TM + 1, dtype="f4"), np.full(TN, 2, "f4"), np.zeros(TM * TN, "f4")
    add_tile(sums, 0, a, 0, 1, panel, 0, 1)
    assert np.array_equal(sums.reshape(TM, TN), np.repeat(2 * a, TN).reshape(TM, TN))


def test_the_sums_stay_in_registers():
    """One store for each vector of sums, after the loop: not one for each addition."""
    arrays = np.zeros(TM * TN, "f4"), np.zeros(TM, "f4"), np.zeros(TN, "f4")
    add_tile(arrays[0], 0, arrays[1], 0, 1, arrays[2], 0, 1)
    (code,) = add_tile.inspect_llvm().values()
    loop = code.partition("\ndepth")[2].partition("\nend")[0]
    assert "fmul" in loop
    assert "store" not in loop
