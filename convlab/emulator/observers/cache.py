"""A model of what L1, L2 and DRAM have to move, from the addresses that a kernel touches: never a measurement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from convlab.emulator.addresses import SPACING_BITS
from convlab.emulator.code import Site
from convlab.emulator.lanes import Lanes
from convlab.emulator.machine import Machine
from convlab.emulator.observers.lru import COUNTS, KINDS, LINE, dirty_sectors, empty, replay
from convlab.emulator.observers.requests import SECTOR

__all__ = ["CacheModel", "CacheSizes", "Traffic"]

ALIGNMENT = 256  # of the buffers, as an allocation on a GPU has it
WORD = 4  # bytes of local memory that lie together: the same word of all lanes of a warp is one line
ROWS = 1 << 24  # lines for each warp's local memory: more than its stack can grow

ORDER = """\
Order of accesses: blocks go to SMs in turn (number modulo SMs), and the warps of a chunk of blocks take each
instruction together, in the order of their numbers. A GPU lets each warp run ahead on its own, holds other and often
more blocks in an SM at a time, and hands the next block to whichever SM is free: its hits differ."""


@dataclass(frozen=True, kw_only=True)
class CacheSizes:
    """What the model needs to know of a GPU; the defaults are those of NVIDIA's A100.

    >>> CacheSizes().l1_sets, CacheSizes(l1_bytes=28 * 1024).l1_sets
    (96, 14)

    Parameters: ``l1_bytes`` is the L1 of one SM, without what the kernel takes of it as shared memory; ``l2_bytes`` is
    the L2 that all share; ``sms`` counts streaming multiprocessors. Sizes are rounded down to whole sets. The numbers
    of ways are the model's choice, since NVIDIA publishes none.

    Raises ``ValueError`` where a cache would have no set.
    """

    gpu: str = "A100"
    l1_bytes: int = 192 * 1024
    l2_bytes: int = 40 * 1024 * 1024
    sms: int = 108
    l1_ways: int = 16
    l2_ways: int = 16

    def __post_init__(self) -> None:
        if min(self.l1_ways, self.l2_ways, self.sms) < 1 or min(self.l1_sets, self.l2_sets) < 1:
            need = f"A cache needs an SM, a way, and {LINE} bytes for each way."
            raise ValueError(f"{need}\n  Given: {self}.\n  Fix: take larger sizes.")

    @property
    def l1_sets(self) -> int:
        """Sets of one L1."""
        return self.l1_bytes // (LINE * self.l1_ways)

    @property
    def l2_sets(self) -> int:
        """Sets of the L2."""
        return self.l2_bytes // (LINE * self.l2_ways)


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """What the model found, in sectors of 32 bytes: global and local memory, each request's distinct sectors once.

    >>> few = Traffic(sizes=CacheSizes(), l1_load_sectors=8, l1_hits=6, l2_load_sectors=2, dram_read_sectors=2)
    >>> few.l1_misses, few.l2_misses, few.dram_read_bytes
    (2, 2, 64)

    Every load asks L1 (``l1_load_sectors``); what is not there asks L2 (``l2_load_sectors``), as do all stores and
    atomics; what is not there either is read from DRAM, but for stores, which need no old bytes. Compulsory is what
    caches without limits would move: sectors of global memory that are read before anything is stored there, and those
    that are stored at all. ``dram_written_sectors`` counts those that left L2 and those, ``left_in_l2_sectors``, that
    were still to leave when the kernel ended.
    """

    sizes: CacheSizes
    l1_load_sectors: int = 0
    l1_hits: int = 0
    l2_load_sectors: int = 0
    l2_store_sectors: int = 0
    l2_atomic_sectors: int = 0
    l2_hits: int = 0
    dram_read_sectors: int = 0
    dram_written_sectors: int = 0
    left_in_l2_sectors: int = 0
    compulsory_read_sectors: int = 0
    compulsory_written_sectors: int = 0

    @property
    def l1_misses(self) -> int:
        """Sectors that loads did not find in L1."""
        return self.l1_load_sectors - self.l1_hits

    @property
    def l2_sectors(self) -> int:
        """Sectors that loads, stores and atomics asked L2 for."""
        return self.l2_load_sectors + self.l2_store_sectors + self.l2_atomic_sectors

    @property
    def l2_misses(self) -> int:
        """Sectors that were not in L2."""
        return self.l2_sectors - self.l2_hits

    @property
    def l2_bytes(self) -> int:
        """Bytes between the SMs and L2."""
        return SECTOR * self.l2_sectors

    @property
    def dram_read_bytes(self) -> int:
        """Bytes from DRAM."""
        return SECTOR * self.dram_read_sectors

    @property
    def dram_write_bytes(self) -> int:
        """Bytes to DRAM, with those that were still in L2 at the end."""
        return SECTOR * self.dram_written_sectors

    @property
    def compulsory_bytes(self) -> int:
        """Bytes that DRAM would move if no sector ever had to leave a cache."""
        return SECTOR * (self.compulsory_read_sectors + self.compulsory_written_sectors)

    def __repr__(self) -> str:
        sizes = self.sizes
        stored = f"stores {self.l2_store_sectors:,}, atomics {self.l2_atomic_sectors:,}"
        left = f"{SECTOR * self.left_in_l2_sectors:,} of them after the end"
        return "\n".join(
            (
                f"Traffic, modelled (not measured) for {sizes.gpu}: {sizes.sms} SMs with {_size(sizes.l1_bytes)} of L1 "
                f"each, {_size(sizes.l2_bytes)} of L2, cold.",
                f"L1    {_found(self.l1_load_sectors, self.l1_hits)}: loads",
                f"L2    {_found(self.l2_sectors, self.l2_hits)}: L1's misses {self.l2_load_sectors:,}, {stored}",
                f"DRAM  {self.dram_read_bytes:>14,} bytes read",
                f"      {self.dram_write_bytes:>14,} bytes written, {left}",
                f"      {self.compulsory_bytes:>14,} bytes compulsory: each sector read once, written once",
                ORDER,
            )
        )


class CacheModel:
    """The observer: global and local accesses go through an L1 for each SM and one L2, both replacing by age.

    L1 has lines of 128 bytes and sectors of 32; stores go through it to L2 and do not make room in it; atomics go to
    L2. L2 has the same lines and sectors; it keeps what is stored until the line leaves. The line ``n`` belongs to set
    ``(n + n // sets) % sets``. Buffers lie one after the other, as allocations on a GPU do. Cache hints of
    instructions, the constant cache and compression are left out.
    """

    def __init__(self, sizes: CacheSizes | None = None) -> None:
        self.sizes = sizes or CacheSizes()
        self.l1 = empty(self.sizes.sms * self.sizes.l1_sets, self.sizes.l1_ways)
        self.l2 = empty(self.sizes.l2_sets, self.sizes.l2_ways)
        self.counts = np.zeros(len(COUNTS), np.int64)
        self.touched = np.zeros(0, np.uint8)
        self.bytes = self.bases = np.zeros(0, np.int64)
        self.sms = np.zeros(0, np.int64)
        self.now = 0

    def attach(self, machine: Machine) -> None:
        """A launch begins: lay its buffers out."""
        self.bytes = np.array([data.size for data in machine.memory.everywhere.bytes], np.int64)
        ends = np.cumsum(-(-self.bytes // ALIGNMENT) * ALIGNMENT)
        self.bases = np.concatenate([[0], ends[:-1]])
        self.touched = np.zeros(int(ends[-1]) // SECTOR, np.uint8)

    def start(self, machine: Machine) -> None:
        """A chunk begins: learn where its blocks run."""
        self.sms = machine.residents.number % self.sizes.sms

    def access(self, site: Site, address: Any, lanes: Lanes, values: tuple[Any, ...]) -> None:
        """A memory instruction touches these addresses."""
        if site.space not in ("global", "local"):
            return
        address = address if address.ndim else np.full(lanes.size, address)
        warp, block = lanes.warp, lanes.block
        if site.space == "global":
            sectors = _global_sectors(address, self.bytes, self.bases, site.width)
        else:
            words = max(1, site.width // WORD)
            sectors = _local_sectors(address, warp, lanes.lane, words, self.touched.size)
            warp, block = np.repeat(warp, words), np.repeat(block, words)
        self.now = replay(
            KINDS[site.action],
            sectors,
            warp,
            self.sms[block],
            (self.l1, self.sizes.l1_sets, self.l2, self.touched, self.counts),
            self.now,
        )

    def traffic(self) -> Traffic:
        """What moved so far, as if the kernel ended now."""
        counts = dict(zip(COUNTS, self.counts.tolist(), strict=True))
        left = dirty_sectors(self.l2)
        counts["dram_written_sectors"] += left
        return Traffic(sizes=self.sizes, left_in_l2_sectors=left, **counts)


@njit(cache=True, nogil=True)
def _global_sectors(address: Any, sizes: Any, bases: Any, width: int) -> Any:
    """The sector of each lane, with the buffers close together; −1 for an access that is a fault."""
    out = np.empty(address.size, np.int64)
    for lane in range(address.size):
        index = (address[lane] >> SPACING_BITS) - 1
        offset = address[lane] & ((1 << SPACING_BITS) - 1)
        good = 0 <= index < sizes.size and offset % width == 0
        out[lane] = (bases[index] + offset) // SECTOR if good and offset + width <= sizes[index] else -1
    return out


def _local_sectors(
    address: NDArray[Any], warp: NDArray[np.intp], lane: NDArray[np.intp], words: int, first: int
) -> NDArray[np.int64]:
    """The sectors of each lane's words, which lie between those of its warp's other lanes, beyond global memory."""
    row = warp[:, None] * ROWS + address[:, None].astype(np.int64) // WORD + np.arange(words)
    sector = first + LINE // SECTOR * row + lane[:, None] // (SECTOR // WORD)
    return sector.reshape(-1)


def _size(size: int) -> str:
    """Bytes in units of 1024, as data sheets give on-chip memories."""
    return f"{size / 2**20:g} MB" if size >= 2**20 else f"{size / 2**10:g} KB"


def _found(sectors: int, hits: int) -> str:
    """How many sectors a level was asked for, and the share that it had."""
    share = f"{100 * hits / sectors:.1f} %" if sectors else "none"
    return f"{sectors:>14,} sectors, {share} found"
