from __future__ import annotations

from collections import OrderedDict
from types import SimpleNamespace

import numpy as np
import pytest

from convlab.emulator.addresses import buffer_address
from convlab.emulator.code import Site
from convlab.emulator.lanes import Residents
from convlab.emulator.observers.cache import CacheModel, CacheSizes, Traffic
from convlab.emulator.program import Place

from ..conftest import kernel, launch

PLACE = Place("a.cu", 1)
SMALL = CacheSizes(gpu="a toy", l1_bytes=1024, l2_bytes=8192, sms=2, l1_ways=2, l2_ways=4)  # 4 sets of 2, 16 of 4
ONE_SET = CacheSizes(gpu="a toy", l1_bytes=512, l2_bytes=1024, sms=2, l1_ways=4, l2_ways=8)  # 4 lines, 8 lines


def site(action="load", dtype="f4", count=1, space="global") -> Site:
    return Site(0, PLACE, action, space, np.dtype(dtype), count)


class ByHand:
    """A launch by hand: buffers of given sizes, and accesses by element."""

    def __init__(self, sizes: CacheSizes, *nbytes: int, threads: int = 32) -> None:
        self.model = CacheModel(sizes)
        self.threads = threads
        memory = SimpleNamespace(everywhere=SimpleNamespace(bytes=[np.zeros(n, np.uint8) for n in nbytes]))
        self.model.attach(SimpleNamespace(memory=memory))

    def blocks(self, *numbers: int) -> ByHand:
        residents = Residents(np.array(numbers), self.threads)
        self.model.start(SimpleNamespace(residents=residents))
        self.lanes = residents.everybody
        return self

    def do(self, site: Site, offset, buffer: int = 0, lanes=None) -> ByHand:
        lanes = self.lanes if lanes is None else self.lanes.part(np.asarray(lanes))
        address = np.asarray(offset, np.int64)[()] + np.int64(0 if site.space == "local" else buffer_address(buffer))
        self.model.access(site, address, lanes, ())
        return self

    def line(self, number: int, action: str = "load") -> ByHand:
        """All lanes of one warp, over one line."""
        return self.do(site(action), 128 * number + 4 * np.arange(32), lanes=range(32))

    @property
    def traffic(self) -> Traffic:
        return self.model.traffic()


def test_a_stream_misses_everywhere_once():
    kernel = ByHand(SMALL, 1 << 16).blocks(0)
    for n in range(100):
        kernel.line(n)
    seen = kernel.traffic
    assert (seen.l1_load_sectors, seen.l1_hits, seen.l2_sectors, seen.l2_hits) == (400, 0, 400, 0)
    assert seen.dram_read_bytes == seen.compulsory_bytes == 100 * 128
    assert seen.dram_write_bytes == 0


def test_what_was_just_loaded_is_in_l1():
    seen = ByHand(ONE_SET, 4096).blocks(0).line(0).line(1).line(2).line(3).line(0).line(3).traffic
    assert (seen.l1_load_sectors, seen.l1_hits, seen.l1_misses, seen.l2_load_sectors) == (24, 8, 16, 16)


def test_one_line_more_than_l1_holds_thrashes_it_and_l2_has_them():
    kernel = ByHand(ONE_SET, 4096).blocks(0)
    for _ in range(3):
        for n in range(5):
            kernel.line(n)
    seen = kernel.traffic
    assert (seen.l1_hits, seen.l2_hits, seen.l2_misses) == (0, 2 * 20, 20)


def test_the_line_unused_for_longest_leaves():
    kernel = ByHand(ONE_SET, 4096).blocks(0).line(0).line(1).line(2).line(3)
    kernel.line(0).line(4)  # 1 is the oldest now, and leaves
    before = kernel.traffic.l1_hits
    assert kernel.line(0).line(2).line(3).line(4).traffic.l1_hits == before + 16
    assert kernel.line(1).traffic.l1_hits == before + 16


def test_sectors_of_a_line_come_one_by_one():
    kernel = ByHand(SMALL, 4096).blocks(0)
    kernel.do(site(), 0).do(site(), 32).do(site(), 4)
    seen = kernel.traffic
    assert (seen.l1_load_sectors, seen.l1_hits, seen.dram_read_bytes) == (3, 1, 64)


def test_a_stride_of_two_moves_twice_the_bytes_that_are_used():
    seen = ByHand(SMALL, 4096).blocks(0).do(site(), 8 * np.arange(32)).traffic
    assert seen.l1_load_sectors == 8
    assert seen.dram_read_bytes == 2 * 32 * 4


def test_a_stride_of_all_sets_does_not_fall_on_one_set():
    kernel = ByHand(SMALL, 1 << 16).blocks(0)
    for n in (0, 4, 8, 12) * 2:  # four lines, apart by the number of sets, with two ways each
        kernel.line(n)
    assert kernel.traffic.l1_hits == 16


def test_stores_go_through_l1_and_stay_in_l2_until_the_end():
    kernel = ByHand(ONE_SET, 4096).blocks(0).line(3, "store")
    seen = kernel.traffic
    assert (seen.l2_store_sectors, seen.l2_hits, seen.dram_read_bytes) == (4, 0, 0)
    assert (seen.dram_write_bytes, seen.left_in_l2_sectors, seen.compulsory_bytes) == (128, 4, 128)
    assert kernel.line(3, "store").traffic.l2_hits == 4
    seen = kernel.line(3).traffic
    assert (seen.l1_hits, seen.l2_load_sectors, seen.l2_hits, seen.dram_read_bytes) == (0, 4, 8, 0)


def test_written_lines_leave_l2_when_it_is_full():
    kernel = ByHand(ONE_SET, 1 << 16).blocks(0)
    for n in range(9):
        kernel.line(n, "store")
    seen = kernel.traffic
    assert (seen.dram_written_sectors, seen.left_in_l2_sectors) == (36, 32)
    assert kernel.line(0, "store").traffic.dram_written_sectors == 40  # once more: it had left


def test_a_store_does_not_make_room_in_l1_for_itself():
    kernel = ByHand(ONE_SET, 4096).blocks(0).line(0).line(1).line(2).line(3)
    for n in (4, 5, 6):
        kernel.line(n, "store")
    assert kernel.line(0).line(1).line(2).line(3).traffic.l1_hits == 16


def test_atomics_read_and_write_in_l2():
    kernel = ByHand(SMALL, 4096).blocks(0)
    kernel.do(site("atomic", "i4"), 0).do(site("atomic", "i4"), 4)
    seen = kernel.traffic
    assert (seen.l2_atomic_sectors, seen.l2_hits, seen.l1_load_sectors) == (2, 1, 0)
    assert (seen.dram_read_bytes, seen.dram_write_bytes, seen.compulsory_bytes) == (32, 32, 64)


def test_two_sms_share_through_l2():
    kernel = ByHand(SMALL, 4096, threads=32).blocks(4, 7)  # block 4 runs on SM 0, block 7 on SM 1
    seen = kernel.do(site(), np.tile(4 * np.arange(32), 2)).traffic
    assert (seen.l1_load_sectors, seen.l1_hits, seen.l2_load_sectors, seen.l2_hits) == (8, 0, 8, 4)
    assert seen.dram_read_bytes == 128
    seen = kernel.blocks(6).line(0).traffic  # later, on SM 0 again
    assert seen.l1_hits == 4


def test_lanes_of_a_warp_share_a_sector_and_warps_do_not():
    kernel = ByHand(SMALL, 4096, threads=64).blocks(0)
    assert kernel.do(site(), 64).traffic.l1_load_sectors == 2  # a scalar address: all lanes, of two warps
    assert kernel.do(site(), np.arange(64)[::-1] % 2 * 32).traffic.l1_load_sectors == 6
    assert kernel.do(site(), [0, 4, 0, 40, 4], lanes=[0, 1, 40, 41, 42]).traffic.l1_load_sectors == 9


def test_buffers_share_no_sector_and_faults_move_nothing():
    kernel = ByHand(SMALL, 40, 100).blocks(0)
    kernel.do(site(), 0, buffer=0).do(site(), 0, buffer=1)
    assert kernel.traffic.dram_read_bytes == 64
    for buffer, offset in ((0, 40), (0, -4), (1, 97), (2, 0), (-1, 0), (1, 98)):
        kernel.do(site(), offset, buffer)
    assert kernel.traffic.l1_load_sectors == 2


def test_shared_and_constant_memory_are_not_counted():
    kernel = ByHand(SMALL, 4096).blocks(0)
    for space in ("shared", "const"):
        kernel.do(site(space=space), 4 * np.arange(32))
    assert kernel.traffic.l1_load_sectors == 0


def test_the_same_word_of_local_memory_is_one_line_for_a_warp():
    kernel = ByHand(SMALL, 4096, threads=40).blocks(0)
    seen = kernel.do(site(space="local"), 8).traffic  # 32 lanes and 8
    assert seen.l1_load_sectors == 4 + 1
    seen = kernel.do(site(space="local", count=2), 8 + 8 * np.arange(40) * 0).traffic
    assert (seen.l1_load_sectors, seen.l1_hits) == (5 + 10, 5)
    assert seen.compulsory_bytes == 0  # with more registers there would be none of it
    assert kernel.do(site(space="local", dtype="u1"), 9).traffic.l1_hits == 5 + 5


class Slow:
    """The same caches as dictionaries in the order of use."""

    def __init__(self, lines: int, ways: int) -> None:
        self.ways, self.sets = ways, [OrderedDict() for _ in range(lines // ways)]

    def use(self, sector: int, dirty: bool) -> tuple[bool, int]:
        line = sector // 4
        ways = self.sets[(line + line // len(self.sets)) % len(self.sets)]
        left = 0
        if line not in ways:
            if len(ways) == self.ways:
                left = sum(ways.popitem(last=False)[1].values())
            ways[line] = {}
        ways.move_to_end(line)
        hit = sector in ways[line]
        ways[line][sector] = ways[line].get(sector, False) or dirty
        return hit, left

    def dirty(self) -> int:
        return sum(sum(line.values()) for ways in self.sets for line in ways.values())


class SlowModel:
    """L1s, L2 and DRAM over `Slow`; takes sets of sectors, a request each."""

    def __init__(self, sizes: CacheSizes) -> None:
        self.l1 = [Slow(sizes.l1_bytes // 128, sizes.l1_ways) for _ in range(sizes.sms)]
        self.l2 = Slow(sizes.l2_bytes // 128, sizes.l2_ways)
        self.n = dict.fromkeys(("load", "l1", "l2", "store", "atomic", "hit", "read", "written"), 0)
        self.loaded, self.stored = set(), set()

    def request(self, action: str, sectors: list[int], sm: int) -> None:
        for sector in sectors:
            if action == "load":
                self.n["load"] += 1
                if self.l1[sm].use(sector, False)[0]:
                    self.n["l1"] += 1
                    self.loaded |= {sector} - self.stored
                    continue
            hit, left = self.l2.use(sector, action != "load")
            self.n["l2" if action == "load" else action] += 1
            self.n["hit"] += hit
            self.n["written"] += left
            self.n["read"] += not hit and action != "store"
            self.loaded |= {sector} - self.stored if action != "store" else set()
            self.stored |= {sector} if action != "load" else set()


@pytest.mark.parametrize(
    "sizes", [SMALL, ONE_SET, CacheSizes(l1_bytes=3 * 384, l2_bytes=5 * 640, sms=3, l1_ways=3, l2_ways=5)]
)
@pytest.mark.parametrize("span", [64, 3000])
def test_a_slow_model_counts_the_same_on_random_traces(sizes, span):
    rng = np.random.default_rng(span)
    kernel, slow = ByHand(sizes, 4 * span, 4 * 300, threads=48), SlowModel(sizes)
    start = [0, -(-4 * span // 256) * 8]  # the second buffer's first sector
    for first in range(0, 12, 4):
        kernel.blocks(*range(first, first + 4))
        for _ in range(40):
            action, buffer = str(rng.choice(["load", "load", "store", "atomic"])), int(rng.integers(2))
            chosen = np.sort(rng.permutation(4 * 48)[: rng.integers(1, 4 * 48)])
            scattered = rng.integers(0, (span, 300)[buffer], chosen.size)
            element = scattered if rng.random() < 0.5 else (int(scattered[0]) + chosen) % (span, 300)[buffer]
            kernel.do(site(action), 4 * element, buffer, chosen)
            for warp in range(8):  # two for each block, the second of 16 lanes
                mine = (chosen // 48 == warp // 2) & (chosen % 48 // 32 == warp % 2)
                sectors = dict.fromkeys((start[buffer] + element[mine] * 4 // 32).tolist())
                slow.request(action, list(sectors), (first + warp // 2) % sizes.sms)
    seen, n = kernel.traffic, slow.n
    assert seen.l1_load_sectors == n["load"]
    assert seen.l1_hits == n["l1"]
    assert (seen.l2_load_sectors, seen.l2_store_sectors, seen.l2_atomic_sectors) == (n["l2"], n["store"], n["atomic"])
    assert seen.l2_hits == n["hit"]
    assert seen.dram_read_sectors == n["read"]
    assert seen.left_in_l2_sectors == slow.l2.dirty()
    assert seen.dram_written_sectors == n["written"] + slow.l2.dirty()
    assert seen.compulsory_read_sectors == len(slow.loaded)
    assert seen.compulsory_written_sectors == len(slow.stored)
    assert min(n["l1"], n["hit"], n["written"] if span > 64 else 1)  # the trace exercises what it is to test


def test_with_room_for_all_only_compulsory_bytes_move():
    rng = np.random.default_rng(3)
    kernel = ByHand(CacheSizes(), 1 << 14).blocks(0, 1)
    for action in ("load", "store", "load", "store"):
        kernel.do(site(action), 4 * rng.integers(0, 1 << 12, 64))
    seen = kernel.traffic
    assert seen.dram_read_bytes + seen.dram_write_bytes == seen.compulsory_bytes > 0


def test_the_text_says_that_it_is_a_model_of_which_gpu_and_in_which_order():
    text = repr(ByHand(CacheSizes(), 4096).blocks(0).line(0).line(0).traffic)
    first, l1, l2, *_ = text.splitlines()
    assert first == "Traffic, modelled (not measured) for A100: 108 SMs with 192 KB of L1 each, 40 MB of L2, cold."
    assert l1.split() == ["L1", "8", "sectors,", "50.0", "%", "found:", "loads"]
    assert l2.split()[:5] == ["L2", "4", "sectors,", "0.0", "%"]
    assert "Order of accesses" in text
    assert "none found" in repr(Traffic(sizes=SMALL))


@pytest.mark.parametrize("wrong", [{"l1_bytes": 100}, {"l2_bytes": 0}, {"sms": 0}, {"l1_ways": 0}])
def test_a_cache_without_a_line_is_refused(wrong):
    with pytest.raises(ValueError, match=r"(?s)128 bytes for each way.*Given: CacheSizes\(.*Fix: take larger"):
        CacheSizes(**wrong)


def test_a_real_launch_is_observed():
    rows = 64  # each thread walks down a row of eight floats: the first touch of a sector fetches what the others need
    body = """
        mad.wide.u32 %rd3, %r0, 32, %rd1; mul.wide.u32 %rd4, %r0, 4; add.s64 %rd4, %rd4, %rd0; mov.f32 %f1, 0f00000000;
        mov.u32 %r1, 0;
        LOOP: ld.global.f32 %f2, [%rd3]; add.f32 %f1, %f1, %f2; add.s64 %rd3, %rd3, 4; add.u32 %r1, %r1, 1;
        setp.lt.u32 %p1, %r1, 8; @%p1 bra LOOP;
        st.global.f32 [%rd4], %f1;"""
    x = np.random.default_rng(1).random((rows, 8), "f4")
    out, model = np.zeros(rows, "f4"), CacheModel()
    launch(kernel(body, 2), out, x, observers=[model])
    np.testing.assert_allclose(out, x.sum(axis=1), rtol=1e-6)
    seen = model.traffic()
    assert (seen.l1_load_sectors, seen.l1_hits) == (8 * rows, 7 * rows)
    assert (seen.dram_read_bytes, seen.dram_write_bytes) == (x.nbytes, out.nbytes)
    assert seen.compulsory_bytes == x.nbytes + out.nbytes
