"""Occupancy: how many warps of a kernel an SM holds at a time, and what keeps it from holding more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["CAPABILITIES", "Capability", "Occupancy", "occupancy"]

WARP = 32
PARTITIONS = 4  # of an SM; each has a quarter of the registers
REGISTER_UNIT = 256  # registers are given to a warp in steps of so many


@dataclass(frozen=True, slots=True)
class Capability:
    """What an SM of one compute capability holds; bytes of shared memory for an SM and for one block."""

    warps: int
    blocks: int
    shared: int
    shared_block: int
    reserved: int  # shared memory that the system takes of each block
    shared_unit: int
    gpu: str  # one that has it
    registers: int = 65536


# CUDA C++ Programming Guide 13, "Technical Specifications per Compute Capability"; units: cuda_occupancy.h.
CAPABILITIES: Mapping[str, Capability] = {
    "sm_75": Capability(32, 16, 64 << 10, 64 << 10, 0, 256, "T4"),
    "sm_80": Capability(64, 32, 164 << 10, 163 << 10, 1024, 128, "A100"),
    "sm_86": Capability(48, 16, 100 << 10, 99 << 10, 1024, 128, "RTX 3060"),
    "sm_89": Capability(48, 24, 100 << 10, 99 << 10, 1024, 128, "RTX 4090"),
    "sm_90": Capability(64, 32, 228 << 10, 227 << 10, 1024, 128, "H100"),
    "sm_100": Capability(64, 32, 228 << 10, 227 << 10, 1024, 128, "B200"),
    "sm_120": Capability(48, 24, 100 << 10, 99 << 10, 1024, 128, "RTX 5090"),
}


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Blocks and warps that are resident on an SM, of how many warps, and what limits them."""

    blocks: int
    warps: int
    of: int
    limited_by: str

    @property
    def share(self) -> float:
        """Resident warps as a part of those that the SM could hold."""
        return self.warps / self.of


def occupancy(arch: str, threads: int, registers: int, shared: int = 0) -> Occupancy:
    """Compute the occupancy by the published rules.

    >>> occupancy("sm_80", threads=256, registers=40)
    Occupancy(blocks=6, warps=48, of=64, limited_by='registers')

    Parameters: ``arch`` is one of `CAPABILITIES`; ``threads`` of a block, 1 to 1024; ``registers`` of a thread;
    ``shared``: bytes of a block, static and dynamic. No block fits, and ``blocks`` is 0, where one alone needs too
    much. Raises ``ValueError`` for an unknown architecture and for numbers out of range.
    Source: NVIDIA, cuda_occupancy.h of CUDA 13.
    """
    if arch not in CAPABILITIES:
        raise ValueError(f"There is no architecture {arch!r} in the table. It has: {', '.join(CAPABILITIES)}.")
    if not (1 <= threads <= 1024 and 0 <= registers <= 255 and shared >= 0):
        fix = "Fix: threads are 1 to 1024, registers 0 to 255, bytes of shared memory at least 0."
        raise ValueError(f"No kernel has threads={threads}, registers={registers}, shared={shared}.\n  {fix}")
    sm = CAPABILITIES[arch]
    warps = -(-threads // WARP)
    limits = {
        "warps": sm.warps // warps,
        "blocks": sm.blocks,
        "registers": _by_registers(sm, warps, registers),
        "shared memory": _by_shared(sm, shared),
    }
    reason = min(limits, key=lambda name: limits[name])
    blocks = limits[reason]
    return Occupancy(blocks, blocks * warps, sm.warps, reason)


def _by_registers(sm: Capability, warps: int, registers: int) -> int:
    """A warp has all its registers in one partition, and the warps of a block are dealt out over all of them."""
    if not registers:
        return sm.blocks
    of_warp = _up(registers * WARP, REGISTER_UNIT)
    if of_warp * _up(warps, PARTITIONS) > sm.registers:
        return 0
    return sm.registers // PARTITIONS // of_warp * PARTITIONS // warps


def _by_shared(sm: Capability, shared: int) -> int:
    if shared > sm.shared_block:
        return 0
    of_block = _up(shared + sm.reserved, sm.shared_unit)
    return sm.shared // of_block if of_block else sm.blocks


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
