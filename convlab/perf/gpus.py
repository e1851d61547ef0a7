"""A table of real GPUs: the published figures, each with its source."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["GPUS", "Gpu", "Waits", "gpu"]


class Waits(NamedTuple):
    """How long a dependent instruction waits, in clock cycles: the least and the most that the source found."""

    arithmetic: tuple[int, int]
    l1: tuple[int, int]  # with shared memory, which is the same memory
    l2: tuple[int, int]
    dram: tuple[int, int]
    source: str


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One model of a GPU, by its published figures.

    >>> a100 = gpu("A100")
    >>> a100.sms, a100.threads_per_sm, a100.threads
    (108, 2048, 221184)

    Parameters: counts are numbers; ``warps_per_sm`` is how many can be resident, ``registers_per_sm`` counts
    registers of 32 bits, ``fp32_lanes_per_sm`` the fused multiply-adds that begin in one cycle; ``l1_kb`` is L1 and
    shared memory together, of which ``shared_kb`` at most can be shared memory. As in data sheets, on-chip
    memories are in units of 1024 (KB, MB) and DRAM is in units of 1000 (GB, GB/s); ``fp32_tflops`` counts a
    multiply-add as two; clocks are in MHz, ``dram_mhz`` moving two bits a pin and cycle. ``waits`` are
    measured by others, None where nobody published any.
    """

    name: str
    model: str
    compute_capability: tuple[int, int]
    sms: int
    schedulers_per_sm: int
    warps_per_sm: int
    threads_per_warp: int
    registers_per_sm: int
    fp32_lanes_per_sm: int
    l1_kb: int
    shared_kb: int
    l2_mb: int
    dram_gb: int
    dram_gbs: float
    dram_bits: int
    dram_mhz: float
    boost_mhz: float
    fp32_tflops: float
    source: str
    waits: Waits | None = None

    @property
    def threads_per_sm(self) -> int:
        """The most threads that one SM holds at a time."""
        return self.warps_per_sm * self.threads_per_warp

    @property
    def threads(self) -> int:
        """The most threads that the GPU holds at a time."""
        return self.sms * self.threads_per_sm

    @property
    def register_kb(self) -> float:
        """The size of the registers of one SM, in KB of 1024 bytes."""
        return self.registers_per_sm * 4 / 1024


_RECORDS = (
    Gpu(
        name="A100",
        model="NVIDIA A100 (SXM4, 40 GB)",
        compute_capability=(8, 0),
        sms=108,
        schedulers_per_sm=4,
        warps_per_sm=64,
        threads_per_warp=32,
        registers_per_sm=65536,
        fp32_lanes_per_sm=64,
        l1_kb=192,
        shared_kb=164,
        l2_mb=40,
        dram_gb=40,
        dram_gbs=1555,
        dram_bits=5120,
        dram_mhz=1215,
        boost_mhz=1410,
        fp32_tflops=19.5,
        source="NVIDIA A100 Tensor Core GPU Architecture, V1.0; CUDA C++ Programming Guide, compute capability 8.0",
        waits=Waits(
            arithmetic=(4, 4),
            l1=(23, 38),
            l2=(200, 262),
            dram=(290, 466),
            source="Abdelkhalik et al. (2022), arXiv 2208.11174; Luo et al. (2024), arXiv 2402.13499",
        ),
    ),
)

GPUS: Mapping[str, Gpu] = {record.name: record for record in _RECORDS}


def gpu(name: str) -> Gpu:
    """Look a GPU up by its name.

    >>> gpu("A100").dram_gbs
    1555

    Raises ``ValueError``, with the nearest names, when it is not in the table.
    """
    if name in GPUS:
        return GPUS[name]
    spellings = {known.casefold(): known for known in GPUS}
    near = difflib.get_close_matches(str(name).casefold(), spellings, n=1)
    guess = f" Did you mean {spellings[near[0]]!r}?" if near else ""
    raise ValueError(f"There is no GPU {name!r} in the table.{guess} It has: {', '.join(GPUS)}.")
