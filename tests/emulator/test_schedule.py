from __future__ import annotations

import numpy as np

from convlab.emulator.lanes import Residents
from convlab.emulator.schedule import GROUPS, Schedule

RESIDENTS = Residents(np.arange(2), threads=128)  # 8 warps
EVERYBODY = RESIDENTS.everybody


def some(*slots: int):
    return EVERYBODY.part(np.array(slots))


def test_the_lowest_step_goes_first_and_lanes_at_one_step_join():
    schedule = Schedule(RESIDENTS)
    schedule.put(9, some(3))
    schedule.put(4, some(7, 40))
    schedule.put(9, some(1, 200))
    assert len(schedule) == 2
    taken = [schedule.take() for _ in range(2)]
    assert [(step, lanes.slots.tolist()) for _, step, _, lanes in taken] == [(4, [7, 40]), (9, [1, 3, 200])]
    assert not schedule


def test_a_later_round_waits_also_at_a_lower_step_and_joining_takes_the_later_one():
    schedule = Schedule(RESIDENTS)
    schedule.put(2, some(0), turn=1)
    schedule.put(5, some(1))
    schedule.put(6, some(2))
    schedule.put(6, some(3), turn=2)
    assert [schedule.take()[1:3] for _ in range(3)] == [(5, 0), (2, 1), (6, 2)]


def test_the_only_set_is_known_as_such():
    schedule = Schedule(RESIDENTS)
    assert schedule.only() is None
    schedule.put(3, some(1), turn=4)
    step, turn, lanes = schedule.only()
    assert (step, turn, lanes.slots.tolist()) == (3, 4, [1])
    schedule.put(5, some(2))
    assert schedule.only() is None


def test_patience_ends_after_so_many_rounds_in_which_nobody_left():
    schedule = Schedule(RESIDENTS)
    schedule.put(20, some(9))
    lanes = some(1, 2)
    assert [schedule.impatient(0, 7, lanes, 3) for _ in range(5)] == [False, False, False, True, False]
    fewer = some(1)
    assert [schedule.impatient(0, 7, fewer, 3) for _ in range(4)] == [False, False, False, True]


def test_nobody_is_impatient_alone():
    schedule = Schedule(RESIDENTS)
    assert not any(schedule.impatient(0, 7, some(1), 1) for _ in range(9))


def test_with_a_seed_whole_warps_go_by_chance_and_nobody_is_lost():
    orders = []
    for seed in range(6):
        schedule = Schedule(RESIDENTS, seed)
        schedule.put(0, EVERYBODY)
        order = []
        while schedule:
            group, step, _, lanes = schedule.take()
            assert set(np.unique(lanes.warp).tolist()) == set(np.flatnonzero(schedule.group == group).tolist())
            assert lanes.size == 32 * np.unique(lanes.warp).size
            order.append((step, tuple(lanes.slots.tolist())))
            if step < 2:
                schedule.put(step + 1, lanes, group=group)
        for step in range(3):
            assert sorted(slot for at, slots in order if at == step for slot in slots) == list(range(256))
        orders.append(tuple(order))
    assert len(set(orders)) > 1


def test_the_same_seed_is_the_same_order():
    def order(seed: int) -> list[int]:
        schedule = Schedule(RESIDENTS, seed)
        schedule.put(0, EVERYBODY)
        return [schedule.take()[0] for _ in range(len(schedule))]

    assert order(3) == order(3)
    assert max(order(3)) < GROUPS
