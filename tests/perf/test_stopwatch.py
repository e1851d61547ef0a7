"""The way of timing, on a stand-in for a GPU: a clock that only work moves on."""

from __future__ import annotations

import datetime

import pytest

from convlab.perf import stopwatch
from convlab.perf.stopwatch import Samples, sample
from convlab.perf.times import Time


class Gpu:
    """Work costs what ``costs`` says, one after the other; a launch that is not in a graph costs ``overhead`` more."""

    def __init__(self, costs, overhead=0.0, reason=""):
        self.costs, self.overhead, self.reason = costs, overhead, reason
        self.now, self.done, self.graphs, self.waited, self.capturing = 0.0, [], 0, [], False

    def work(self, number):
        if not self.capturing:
            self.now += self.overhead
        self._do(number)

    def _do(self, number):
        self.now += self.costs[min(len(self.done), len(self.costs) - 1)]
        self.done.append(number)

    def mark(self):
        return self.now

    def wait(self, event):
        self.waited.append(event)

    def between(self, start, end):
        assert end in self.waited
        return end - start

    def capture(self, work):
        if self.reason:
            raise NotImplementedError(self.reason)
        taken, do, now = [], self._do, self.now
        self._do, self.capturing = taken.append, True
        work()
        self._do, self.capturing, self.now = do, False, now

        def launch():
            self.graphs += 1
            for number in taken:
                do(number)

        return launch


def test_long_work_is_timed_one_by_one_over_all_sets_after_a_warm_up():
    gpu = Gpu([40.0] + [30.0] * 4 + [10.0, 11.0, 12.0, 20.0, 13.0])
    samples = sample(gpu.work, 3, gpu, repeats=5, during=lambda: f"after {len(gpu.done)}")
    assert gpu.done == [0, 1, 2] * 3 + [0]  # three to see how long it takes, 50 ms to warm up, five that count
    assert samples == Samples(12.0, 10.0, 20.0, "after 10, 5 repeats over 3 sets of buffers")
    assert gpu.graphs == 0


def test_very_long_work_is_repeated_three_times_and_long_work_as_the_budget_allows():
    for cost, repeats in ((900.0, 3), (250.0, 8), (2.5, 20)):
        gpu = Gpu([cost])
        assert sample(gpu.work, 1, gpu).note == f"{repeats} repeats over 1 set of buffers"


def test_small_work_goes_into_a_graph_that_visits_each_set_equally_often():
    gpu = Gpu([0.05], overhead=0.01)
    samples = sample(gpu.work, 7, gpu, repeats=2)
    visits = [gpu.done.count(number) for number in range(7)]
    assert max(visits) - min(visits) <= 1  # but for the three launches before the graph
    assert samples.milliseconds == pytest.approx(0.05)  # without the overhead of a launch
    assert samples.note == "2 repeats over 7 sets of buffers, 35 times in a CUDA graph"
    assert gpu.graphs > 2


def test_many_launches_that_take_longer_to_queue_than_to_run_go_into_a_graph():
    """171 launches of 5 microseconds each, for which Python needs twice as long."""
    gpu = Gpu([171 * 0.005], overhead=171 * 0.005)
    assert sample(gpu.work, 1, gpu).milliseconds == pytest.approx(171 * 0.005)
    assert gpu.graphs > 2


def test_where_nothing_can_be_captured_small_work_is_launched_in_a_row_and_the_note_says_why():
    gpu = Gpu([0.05], overhead=0.01, reason="cuBLAS cannot be captured\nmore")
    samples = sample(gpu.work, 50, gpu, repeats=2)
    assert samples.milliseconds == pytest.approx(0.06)
    assert samples.note == (
        "2 repeats over 50 sets of buffers, "
        "50 times in a row, launched one by one (no CUDA graph: cuBLAS cannot be captured)"
    )


def test_work_too_short_to_be_seen_still_comes_to_an_end():
    gpu = Gpu([0.0])
    assert sample(gpu.work, 1, gpu).milliseconds == 0
    assert len(gpu.done) < 2_000_000


def test_samples_are_a_time_measured_today(monkeypatch):
    today = datetime.date.today().isoformat()
    samples = Samples.of([3.0, 1.0, 2.0, 9.0, 2.5], "warm")
    assert samples.time("H200", "; more") == Time(2.5, "measured", "H200", today, 1.0, 9.0, "warm; more")


@pytest.mark.parametrize(("milliseconds", "hidden"), [(1.0, True), (900.0, False)])
def test_work_that_takes_long_has_a_bar_from_its_first_repeat_on(monkeypatch, milliseconds, hidden):
    shown = []
    monkeypatch.setattr(stopwatch, "tqdm", lambda items, **options: shown.append(options) or items)
    gpu = Gpu([milliseconds])
    sample(gpu.work, 1, gpu, what="naive")
    assert shown == [{"desc": "naive", "disable": hidden, "leave": False}]
