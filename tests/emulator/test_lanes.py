from __future__ import annotations

import numpy as np

from convlab.emulator.lanes import Lanes, pick, put

EVERYBODY = Lanes(None, np.repeat(np.arange(3), 32))


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
