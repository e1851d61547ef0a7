from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from convlab.executors.cuda_queue import Device
from convlab.perf.clocks import clock_reader

DEVICE = Device("NVIDIA H200", 52_428_800, 1980.0, "0000:19:00.0")


class Nvml:
    NVML_CLOCK_SM, NVML_CLOCK_MEM = 1, 2
    error = None

    def __init__(self):
        self.sm = 1300

    def nvmlInit(self):  # noqa: N802 - NVML's names
        if self.error == "init":
            raise RuntimeError("Driver Not Loaded")

    def nvmlDeviceGetHandleByPciBusId(self, pci):  # noqa: N802
        return {"0000:19:00.0": "handle"}[pci]

    def nvmlDeviceGetClockInfo(self, handle, kind):  # noqa: N802
        assert handle == "handle"
        if self.error == "read":
            raise RuntimeError("Not Supported")
        return {1: self.sm, 2: 3201}[kind]


def test_clocks_are_read_at_the_moment_of_the_call(monkeypatch):
    nvml = Nvml()
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    read = clock_reader(DEVICE)
    nvml.sm = 1755
    assert read() == "SM clock 1755 MHz, memory 3201 MHz"


@pytest.mark.parametrize(("error", "reason"), [("init", "Driver Not Loaded"), ("read", "Not Supported")])
def test_where_nvml_fails_the_most_is_said(monkeypatch, error, reason):
    nvml = Nvml()
    nvml.error = error
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    assert clock_reader(DEVICE)() == f"clock not read ({reason}), at most 1980 MHz"


def test_without_the_package_the_most_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert clock_reader(DEVICE)() == "clock not read (nvidia-ml-py is not installed), at most 1980 MHz"


def test_nothing_that_sets_a_clock_is_ever_called(monkeypatch):
    called = []
    spy = SimpleNamespace(
        nvmlInit=lambda: called.append("nvmlInit"),
        nvmlDeviceGetHandleByPciBusId=lambda pci: called.append("nvmlDeviceGetHandleByPciBusId"),
        nvmlDeviceGetClockInfo=lambda handle, kind: called.append("nvmlDeviceGetClockInfo"),
        NVML_CLOCK_SM=1,
        NVML_CLOCK_MEM=2,
    )
    monkeypatch.setitem(sys.modules, "pynvml", spy)
    clock_reader(DEVICE)()
    assert set(called) == {"nvmlInit", "nvmlDeviceGetHandleByPciBusId", "nvmlDeviceGetClockInfo"}
