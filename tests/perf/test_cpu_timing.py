from __future__ import annotations

import datetime
from dataclasses import replace

import pytest

from convlab.errors import ConvlabError
from convlab.kernels.ladder import method
from convlab.perf import cpu_timing
from convlab.perf.cpu_timing import measure_reference, processor, sample_cpu
from convlab.spec import ConvSpec

SPEC = ConvSpec(n=2, c=3, h=7, w=6, k=4, r=3, s=2, stride=(2, 1), padding=1)


class Clock:
    """A clock that only calls move on, by what the next of them takes."""

    def __init__(self, *seconds):
        self.now, self.left, self.slept = 0.0, list(seconds), []

    def call(self):
        self.now += self.left.pop(0)

    def perf_counter(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)


@pytest.fixture
def clock(monkeypatch):
    def install(*seconds):
        clock = Clock(*seconds)
        monkeypatch.setattr(cpu_timing, "time", clock)
        monkeypatch.setattr(cpu_timing.os, "cpu_count", lambda: 2)
        return clock

    return install


def test_the_median_of_seven_calls_counts_and_one_before_them_does_not(clock):
    times = clock(0.4, 0.041, 0.042, 0.043, 0.09, 0.05, 0.06, 0.07)
    samples = sample_cpu(times.call)
    assert times.left == []
    assert times.slept == [0.1]
    assert samples.milliseconds == pytest.approx(50)
    assert (samples.low, samples.high) == (pytest.approx(41), pytest.approx(90))
    assert samples.note == "7 repeats, 2 cores"


def test_a_median_far_above_the_least_is_said_to_be_of_a_busy_machine(clock):
    samples = sample_cpu(clock(0.4, 0.01, 0.02, 0.03, 0.09, 0.05, 0.06, 0.07).call)
    assert samples.note == "7 repeats, 2 cores; a busy machine: the median is 5 times the least"


def test_long_calls_are_repeated_less(clock):
    assert sample_cpu(clock(1.0, 1.0, 1.1, 1.2).call).note == "3 repeats, 2 cores"
    assert sample_cpu(clock(9.0, 8.0).call).note == "1 repeat, 2 cores"


@pytest.mark.parametrize(("seconds", "hidden"), [(0.1, True), (0.4, False)])
def test_calls_that_take_long_have_a_bar_from_the_first_on(clock, monkeypatch, seconds, hidden):
    shown = []
    monkeypatch.setattr(cpu_timing, "tqdm", lambda items, **options: shown.append(options) or items)
    sample_cpu(clock(*8 * [seconds]).call, "direct")
    assert shown == [{"desc": "direct", "disable": hidden, "leave": False}]


@pytest.mark.parametrize("name", ["im2col", "cpu_vectorised", "winograd_f4"])
def test_a_reference_is_measured_on_this_processor(name):
    spec = ConvSpec(n=2, c=3, h=7, w=6, k=4, r=3, s=3)
    time = measure_reference(spec, method(name))
    assert (time.kind, time.on, time.day) == ("measured", processor(), datetime.date.today().isoformat())
    assert 0 < time.low <= time.milliseconds <= time.high


def test_a_wrong_reference_is_not_timed():
    wrong = replace(
        method("direct"), reference=lambda x, w, bias, spec: method("direct").reference(x, w, bias, spec) + 1
    )
    with pytest.raises(ConvlabError, match=r"^Method 'direct' is wrong in 112 of 112 elements"):
        measure_reference(SPEC, wrong)


def test_the_processor_has_the_name_that_the_system_gives_it(monkeypatch, tmp_path):
    info = tmp_path / "cpuinfo"
    info.write_text("processor : 0\nmodel name\t: Example CPU @ 3 GHz\nmodel name\t: Other\n")
    monkeypatch.setattr(cpu_timing, "_CPUINFO", info)
    assert processor() == "Example CPU @ 3 GHz"
    monkeypatch.setattr(cpu_timing, "_CPUINFO", tmp_path / "none")
    monkeypatch.setattr(cpu_timing.platform, "processor", lambda: "")
    monkeypatch.setattr(cpu_timing.platform, "machine", lambda: "aarch64")
    assert processor() == "aarch64"
