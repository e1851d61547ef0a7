"""What is published of one model of a GPU, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Gpu", "Waits"]


class Waits(NamedTuple):
    """How long a dependent instruction waits, in clock cycles: the least and the most that the source found."""

    arithmetic: tuple[int, int] | None
    l1: tuple[int, int]  # with shared memory, which is the same memory
    l2: tuple[int, int]
    dram: tuple[int, int]
    source: str


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One model of a GPU, by its published figures; None is what nobody published.

    >>> from convlab.perf.gpus import gpu
    >>> a100 = gpu("A100")
    >>> a100.sms, a100.threads_per_sm, a100.threads
    (108, 2048, 221184)

    Parameters: counts are numbers; ``warps_per_sm`` and ``blocks_per_sm`` are how many can be resident,
    ``registers_per_sm`` counts registers of 32 bits, ``fp32_lanes_per_sm`` the fused multiply-adds that begin in one
    cycle, ``tensor_fma_per_sm`` those of the Tensor Cores, by type and without sparsity; ``l1_kb`` is L1 and shared
    memory together, of which ``shared_kb`` at most can be shared memory, ``shared_block_kb`` for one block. As in
    data sheets, sizes are in units of 1024 (KB, MB, GB) and rates in units of 1000 (GB/s);
    ``dram_pin_gbps`` is how many billions of bits a pin moves in a second; clocks are in MHz, ``tensor_mhz`` the one
    of the Tensor Cores' peaks where it is not ``boost_mhz``. ``fp32_tflops`` and ``tensor_tflops`` are the printed
    peaks, a multiply-add counted as two. ``waits`` are measured by others.

    Types: products of ``float16``, ``bfloat16``, ``tf32`` and ``float8`` are added up in float32, those of ``int8`` in
    int32; ``float16_acc16`` is float16 added up in float16, listed where it is faster.
    """

    name: str
    model: str
    compute_capability: tuple[int, int]
    sms: int
    schedulers_per_sm: int = 4
    warps_per_sm: int
    blocks_per_sm: int
    threads_per_warp: int = 32
    registers_per_sm: int = 65536
    fp32_lanes_per_sm: int
    tensor_fma_per_sm: Mapping[str, int] = field(hash=False)
    l1_kb: int
    shared_kb: int
    shared_block_kb: int
    l2_mb: float
    l2_bytes_per_cycle: int | None = None
    dram_type: str
    dram_gb: int
    dram_gbs: float
    dram_bits: int
    dram_pin_gbps: float | None
    base_mhz: float | None
    boost_mhz: float
    tensor_mhz: float | None = None
    fp32_tflops: float
    tensor_tflops: Mapping[str, float] = field(hash=False)
    source: str
    waits: Waits | None = None

    @property
    def arch(self) -> str:
        """The architecture as the compiler writes it, such as sm_80: a key of `perf.occupancy.CAPABILITIES`."""
        major, minor = self.compute_capability
        return f"sm_{major}{minor}"

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

    @property
    def l2_gbs(self) -> float | None:
        """What L2 delivers in GB/s at the boost clock, None where its width is not published."""
        return self.l2_bytes_per_cycle * self.boost_mhz / 1e3 if self.l2_bytes_per_cycle else None

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The types that have a peak: float32 on the ordinary lanes, then those of the Tensor Cores."""
        return ("float32", *self.tensor_fma_per_sm)

    def peak_tflops(self, dtype: str) -> float:
        """Give the peak in TFLOP/s, from the counts and the clock: unlike the printed one, it is not rounded.

        >>> from convlab.perf.gpus import gpu
        >>> round(gpu("A100").peak_tflops("float32"), 2), round(gpu("A100").peak_tflops("float16"), 1)
        (19.49, 311.9)

        Parameters: ``dtype`` is one of ``dtypes``. Raises ``ValueError`` for a type that this GPU has no lanes for.
        """
        if dtype not in self.dtypes:
            raise ValueError(f"The {self.name} has no peak for {dtype!r}. Its types: {', '.join(self.dtypes)}.")
        if dtype == "float32":
            return self.sms * self.fp32_lanes_per_sm * 2 * self.boost_mhz / 1e6
        return self.sms * self.tensor_fma_per_sm[dtype] * 2 * (self.tensor_mhz or self.boost_mhz) / 1e6

    def ridge(self, dtype: str) -> float:
        """Give the FLOP per byte of DRAM from which on arithmetic is the limit, and no longer DRAM.

        >>> from convlab.perf.gpus import gpu
        >>> round(gpu("A100").ridge("float32"), 1), round(gpu("A100").ridge("float16"))
        (12.5, 201)

        Parameters: ``dtype`` is one of ``dtypes``. Raises ``ValueError`` for a type that this GPU has no lanes for.
        """
        return self.peak_tflops(dtype) * 1e3 / self.dram_gbs
