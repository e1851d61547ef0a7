"""What a roofline shows: levels of the memory with their bandwidths, and methods as points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from convlab.perf.datasheet import Gpu
from convlab.perf.times import Time

__all__ = ["LEVELS", "Level", "Point"]

# Each bank of shared memory gives 4 bytes a cycle (CUDA C++ Programming Guide), and the L1 is the same memory.
L1_BYTES_PER_CYCLE = 32 * 4


class Level(NamedTuple):
    """Where bytes are counted and how they are known, and the bandwidth in GB/s that they can be held against."""

    memory: str
    known: str
    bandwidth: Callable[[Gpu], float | None]

    @property
    def of(self) -> str:
        """What stands after "FLOP per byte"."""
        return f"{'at the' if self.memory == 'L1' else 'of'} {self.memory}, {self.known}"


LEVELS: Mapping[str, Level] = {
    "compulsory": Level("DRAM", "compulsory", lambda gpu: gpu.dram_gbs),
    "dram": Level("DRAM", "modelled", lambda gpu: gpu.dram_gbs),
    "dram_measured": Level("DRAM", "measured", lambda gpu: gpu.dram_gbs),
    "l2": Level("L2", "modelled", lambda gpu: gpu.l2_gbs),
    "l1": Level("L1", "counted", lambda gpu: gpu.sms * L1_BYTES_PER_CYCLE * gpu.boost_mhz / 1e3),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One method in a roofline.

    >>> point = Point(name="tiled", dtype="float32", flop=4_000, executed_flop=4_000, compulsory=100, level="l2",
    ...               executed=400, time=Time(0.002, "modelled", on="A100"))
    >>> point.intensity, point.compulsory_intensity, point.gflops
    (10.0, 40.0, 2.0)

    Parameters: ``dtype`` names the arithmetic whose peak holds, one of the GPU's ``dtypes``; ``flop`` is the work of
    the definition, ``executed_flop`` what the method computes for it, which is less for Winograd and more where tiles
    are padded; ``compulsory`` and ``executed`` are bytes, the latter those that the method moves at ``level``, one of
    `LEVELS`; ``time`` is of all of it, None where nobody knows.
    """

    name: str
    dtype: str
    flop: int
    executed_flop: int
    compulsory: int
    executed: int
    level: str
    time: Time | None = None

    @property
    def intensity(self) -> float:
        """FLOP of the definition for each byte that is moved at the level."""
        return self.flop / self.executed

    @property
    def compulsory_intensity(self) -> float:
        """FLOP of the definition for each byte that any method has to move."""
        return self.flop / self.compulsory

    @property
    def gflops(self) -> float | None:
        """GFLOP/s of the definition's work, None without a time."""
        return self.flop / self.time.milliseconds / 1e6 if self.time else None

    def bound(self, gpu: Gpu, intensity: float) -> float:
        """The most GFLOP/s of the definition's work that a GPU allows at so many FLOP per byte of the level."""
        bandwidth = LEVELS[self.level].bandwidth(gpu)
        assert bandwidth is not None
        peak = gpu.peak_tflops(self.dtype) * 1e3 * self.flop / max(1, self.executed_flop)
        return min(peak, bandwidth * intensity)
