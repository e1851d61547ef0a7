from __future__ import annotations

import numpy as np

from convlab.emulator.lanes import Lanes, Residents, coordinates, pick, put

EVERYBODY = Residents(np.array([4, 5, 9]), threads=32).everybody


def test_a_union_is_in_the_order_of_lanes_and_the_whole_is_everybody():
    a, b = EVERYBODY.part(np.array([5, 70])), EVERYBODY.part(np.array([0, 33, 95]))
    assert a.join(b).index.tolist() == [0, 5, 33, 70, 95]
    assert a.join(b).warps == 3
    rest = EVERYBODY.part(np.setdiff1d(np.arange(96), [5, 70]))
    assert a.join(rest).index is None


def test_a_condition_splits_in_two_or_not_at_all():
    some = EVERYBODY.part(np.array([1, 2, 40]))
    yes, no = some.split(np.array([True, False, True]))
    assert (yes.index.tolist(), no.index.tolist()) == ([1, 40], [2])
    assert some.split(np.ones(3, bool)) == (some, None)
    assert some.split(np.zeros(3, bool)) == (None, some)
    assert some.split(np.True_) == (some, None)
    assert some.split(np.False_) == (None, some)


def test_values_are_taken_from_lanes_and_put_back_into_a_copy():
    some = EVERYBODY.part(np.array([1, 40]))
    old = np.arange(96)
    assert pick(old, some).tolist() == [1, 40]
    assert pick(np.int32(7), some) == 7
    new = put(old, np.array([-1, -2]), some)
    assert new[[0, 1, 40, 41]].tolist() == [0, -1, -2, 41]
    assert old[1] == 1
    assert put(np.int32(3), np.int32(4), some)[[0, 1, 40]].tolist() == [3, 4, 4]


def test_threads_of_blocks_that_fill_no_warp_have_warps_of_their_own():
    three = Residents(np.array([7, 8, 12]), threads=40)
    assert (three.size, three.warps_per_block, three.warps) == (120, 2, 6)
    assert three.block[[39, 40, 119]].tolist() == [0, 1, 2]
    assert three.warp[[31, 32, 40, 72, 119]].tolist() == [0, 1, 2, 3, 5]
    assert three.lane[[31, 32, 40, 72]].tolist() == [31, 0, 0, 0]
    assert three.everybody.warps == 6


def test_those_that_are_kept_keep_their_block_warp_thread_and_lane():
    residents = Residents(np.array([7, 8]), threads=40)
    everybody = residents.everybody
    residents.keep(np.array([3, 41, 79]))
    assert residents.everybody is not everybody
    assert (residents.size, residents.everybody.warps) == (3, 3)
    assert residents.block.tolist() == [0, 1, 1]
    assert residents.thread.tolist() == [3, 1, 39]
    assert residents.warp.tolist() == [0, 2, 3]
    assert residents.lane.tolist() == [3, 1, 7]
    assert residents.number.tolist() == [7, 8]


def test_lanes_by_value_and_their_places_in_the_warp():
    some = EVERYBODY.part(np.array([1, 2, 40, 95]))
    groups = [(value, lanes.slots.tolist()) for value, lanes in some.groups(np.array([9, 4, 9, 4]))]
    assert groups == [(4, [2, 95]), (9, [1, 40])]
    assert some.groups(np.int32(6)) == [(6, some)]
    positions = some.positions
    assert positions[[1, 2, 32 + 8, 64 + 31]].tolist() == [0, 1, 2, 3]
    assert np.count_nonzero(positions < 0) == 96 - 4
    assert some.part(np.array([0, 3])).slots.tolist() == [1, 95]


def test_nobody_is_in_no_warp():
    nobody = Lanes(np.zeros(0, np.intp), EVERYBODY.residents)
    assert (nobody.size, nobody.warps) == (0, 0)


def test_coordinates_run_along_x_first():
    x, y, z = coordinates(np.arange(30), (3, 5, 2))
    for n, at in enumerate(zip(x, y, z, strict=True)):
        assert at == (n % 3, n // 3 % 5, n // 15)
