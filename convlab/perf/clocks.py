"""The clocks of a GPU, read and never set: a time depends on them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from convlab.executors.cuda_queue import Device

__all__ = ["clock_reader"]


def clock_reader(device: Device) -> Callable[[], str]:
    """A function that reads the clocks of this moment through NVIDIA's NVML, and says them as a part of a note.

    Where its Python package, nvidia-ml-py, is missing or fails, it says the most that the clock can be.
    """
    most = f"at most {device.clock_mhz:.0f} MHz"
    try:
        nvml: Any = import_module("pynvml")
        nvml.nvmlInit()
        handle = nvml.nvmlDeviceGetHandleByPciBusId(device.pci)
    except ImportError:
        return lambda: f"clock not read (nvidia-ml-py is not installed), {most}"
    except Exception as error:  # a driver without NVML, a container without permission
        reason = str(error)
        return lambda: f"clock not read ({reason}), {most}"

    def read() -> str:
        try:
            kinds = nvml.NVML_CLOCK_SM, nvml.NVML_CLOCK_MEM
            sm, memory = (nvml.nvmlDeviceGetClockInfo(handle, kind) for kind in kinds)
        except Exception as error:
            return f"clock not read ({error}), {most}"
        return f"SM clock {sm} MHz, memory {memory} MHz"

    return read
