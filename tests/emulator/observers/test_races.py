from __future__ import annotations

import numpy as np
import pytest

from convlab.executors.compile import compile
from convlab.executors.launch import launch

from .happens_before import BLOCKS, FIRST_LINE, THREADS, races, random_lines, some_threads, source


def reported(lines, active):
    kernel = compile(source(lines), "r.cu").kernels["f"]
    args = [active.astype("u1"), np.zeros(len(lines), "i4"), np.zeros(BLOCKS * THREADS, "i4")]
    run = launch(kernel, BLOCKS, THREADS, args, device="emulator", faults="record")
    faults = [fault for fault in run.faults if fault.kind == "race"]
    return {(fault.message[-5:-2], fault.line, fault.other_line, fault.severity) for fault in faults}


def by_word(lines, found, severities):
    """The words that have a race, with the stretch between barriers of the block in which its later access lies."""
    stretch = np.cumsum([what == "block" for what, _ in lines])
    return {
        (lines[n - FIRST_LINE][1], int(stretch[n - FIRST_LINE]))
        for _, n, _, severity in found
        if severity in severities
    }


@pytest.mark.parametrize("meetings", [("block",), ("block", "warp"), ("block", "warp", "pair", "others")])
@pytest.mark.parametrize("seed", range(8))
def test_random_kernels_race_where_pairs_of_accesses_collide(meetings, seed):
    rng = np.random.default_rng(seed)
    lines = random_lines(rng, meetings)
    for _ in range(8):
        active = some_threads(rng, lines)
        expected = {race for block in active for race in races(lines, block)}
        found = reported(lines, active)
        assert found <= expected
        for severities in (("error",), ("error", "warning")):
            assert by_word(lines, found, severities) == by_word(lines, expected, severities)


def races_of(body, block=64, grid=1, parameters="int* y", args=None, head=""):
    """Races as (kind, line, other line, severity, count), and as faults; line 1 is the first of the body."""
    thread = "int t = threadIdx.x + blockDim.x * threadIdx.y;"
    source = f'{head}extern "C" __global__ void f({parameters}) {{ {thread}\n#line 1\n{body}\n}}'
    args = [np.zeros(4 * grid * block, "i4")] if args is None else args
    run = launch(compile(source, "r.cu").kernels["f"], grid, block, args, device="emulator", faults="record")
    faults = [fault for fault in run.faults if fault.kind == "race"]
    return [(f.message[-5:-2], f.line, f.other_line, f.severity, f.count) for f in faults], faults


# Each kernel uses what it wrote, lest the compiler leave it out; `y[t]` is where it goes.
CLEAN = {
    "bytes side by side": """__shared__ char s[64];
        s[t] = y[t];
        y[t] = s[t];""",
    "half-words side by side": """__shared__ short s[64];
        s[t] = y[t];
        y[t] = s[t];""",
    "bytes beside a word": """__shared__ char s[64 * 8];
        if (t & 1) s[4 * t + y[t]] = 1; else *(int*)(s + 4 * t + 8) = 2;
        y[t] = s[t & 1 ? 4 * t + y[t] : 4 * t + 8];""",
    "vectors side by side": """__shared__ int4 s[64];
        s[t] = make_int4(y[t], t, t + 1, t + 2);
        int4 v = s[t]; y[t] = v.x + v.y + v.z + v.w;""",
    "doubles side by side": """__shared__ double s[64];
        s[t] = y[t];
        y[t] = s[t];""",
    "one value by all": """__shared__ int s;
        s = 5;
        __syncthreads();
        y[t] = s;""",
    "reads by all": """__shared__ int s;
        if (t == 3) s = y[t];
        __syncthreads();
        y[t] = s;
        y[t] += s;""",
    "atomics": """__shared__ int s;
        if (t == 0) s = 0;
        __syncthreads();
        atomicAdd(&s, t); atomicMax(&s, t);
        __syncthreads();
        y[t] = s;""",
    "a volatile read of an atomic counter": """__shared__ int s;
        if (t == 0) s = 0;
        __syncthreads();
        if (t == 40) atomicAdd(&s, 1); else y[t] = *(volatile int*)&s;
        __syncthreads();
        y[t] = s;""",
    "the other warp after a barrier": """__shared__ int s[64];
        s[t] = y[t];
        __syncthreads();
        y[t] = s[63 - t];
        __syncthreads();
        s[63 - t] = t;
        y[t] += s[63 - t];""",
    "the same warp after __syncwarp": """__shared__ int s[64];
        s[t] = y[t];
        __syncwarp();
        y[t] = s[t ^ 5];""",
    "two warps at a barrier of their own": """__shared__ int s[128];
        s[t] = y[t];
        asm volatile("bar.sync %0, 64;" :: "r"(1 + t / 64) : "memory");
        y[t] = s[t ^ 63];""",
    "a producer that arrives": """__shared__ int s[32];
        if (t < 32) { s[t] = y[t]; asm volatile("bar.arrive 1, 64;" ::: "memory"); }
        else { asm volatile("bar.sync 1, 64;" ::: "memory"); y[t] = s[63 - t]; }""",
    "the same shared memory in every block": """__shared__ int s[64];
        s[(t + blockIdx.x) % 64] = y[t] + blockIdx.x;
        __syncthreads();
        y[blockIdx.x * 64 + t] = s[t];""",
}


@pytest.mark.parametrize("body", CLEAN.values(), ids=CLEAN)
def test_no_race(body):
    block = 128 if "own" in body or "128" in body else 64
    assert races_of(body, block, grid=3 if "blockIdx" in body else 1)[0] == []


RACY = {
    "bytes of one place": (
        """__shared__ char s[64];
        s[t / 2] = y[t] + t;
        y[t] = s[t];""",
        [("RAW", 3, 2, "error", 16), ("RAW", 3, 2, "warning", 16), ("WAW", 2, 2, "error", 32)],
    ),
    "a byte of a word": (
        """__shared__ int s[64];
        s[t] = y[t];
        y[t] = ((volatile char*)s)[4 * t + 5 - 8 * (t == 63)];""",
        [("RAW", 3, 2, "error", 1), ("RAW", 3, 2, "warning", 63)],
    ),
    "one float of a vector": (
        """__shared__ int4 s[64];
        s[t] = make_int4(y[t], t, t + 1, t + 2);
        y[t] = ((int*)s)[(4 * t + 7) % 256];""",
        [("RAW", 3, 2, "error", 2), ("RAW", 3, 2, "warning", 62)],
    ),
    "the last thread reads what all added": (
        """__shared__ int s;
        s = 0; __syncthreads();
        atomicAdd(&s, y[t]);
        if (t == 63) y[t] = s;""",
        [("RAW", 4, 3, "error", 1)],
    ),
    "a plain store among atomics": (
        """__shared__ int s;
        s = 0; __syncthreads();
        atomicAdd(&s, y[t]);
        if (t == 40) s = 7;
        __syncthreads(); y[t] = s;""",
        [("WAW", 4, 3, "error", 1)],
    ),
    "a plain store by one that then adds": (
        """__shared__ int s;
        s = 0; __syncthreads();
        if (t == 0) s = y[t] + 1;
        if (t == 0) atomicAdd(&s, 1);
        if (t == 40) atomicAdd(&s, 1);
        __syncthreads(); y[t] = s;""",
        [("WAW", 5, 3, "error", 1)],
    ),
    "one of the first warp reads what both warps added": (
        """__shared__ int s;
        s = 0; __syncthreads();
        atomicAdd(&s, y[t]);
        if (t == 5) y[t] = s;""",
        [("RAW", 4, 3, "error", 1)],
    ),
    "a zero stored among atomics": (
        """__shared__ int s;
        s = 1; __syncthreads();
        if (t == 3) atomicAdd(&s, y[t]);
        if (t == 40) s = 0;
        __syncthreads(); y[t] = s;""",
        [("WAW", 4, 3, "error", 1)],
    ),
    "a barrier that others have used before": (
        """__shared__ int s[128];
        if (t < 64) { s[t] = y[t]; asm volatile("bar.sync 1, 64;" ::: "memory"); }
        else { asm volatile("bar.sync 1, 64;" ::: "memory");
            y[t] = s[t - 64]; }""",
        [("RAW", 4, 2, "error", 64)],
    ),
    "one of the first warp writes what both warps read": (
        """__shared__ int s;
        s = 1; __syncthreads();
        y[t] = s;
        __syncwarp();
        if (t == 5) s = y[t];
        __syncthreads(); y[t] = s;""",
        [("WAR", 5, 3, "error", 1)],
    ),
    "equal stores of two warps after an atomic": (
        """__shared__ int s;
        s = 0; __syncthreads();
        if (t == 7) atomicAdd(&s, y[t]);
        if (t == 2 || t == 3 || t == 40) s = 7;
        __syncthreads(); y[t] = s;""",
        [("WAW", 4, 3, "error", 1), ("WAW", 4, 3, "warning", 2)],
    ),
    "two volatile accesses": (
        """__shared__ int s;
        if (t == 0) *(volatile int*)&s = y[t];
        if (t == 40) y[t] = *(volatile int*)&s;""",
        [("RAW", 3, 2, "error", 1)],
    ),
    "the end of a loop without a barrier": (
        """__shared__ int s[64]; int sum = 0;
        #pragma unroll 1
        for (int k = 0; k < 3; ++k) {
            s[t] = y[t] + k;
            __syncthreads();
            sum += s[63 - t];
        }
        y[t] = sum;""",
        [("WAR", 4, 6, "error", 128)],
    ),
    "a barrier of other warps": (
        """__shared__ int s[128];
        s[t] = y[t];
        asm volatile("bar.sync %0, 64;" :: "r"(1 + t / 64) : "memory");
        y[t] = s[127 - t];""",
        [("RAW", 4, 2, "error", 128)],
    ),
    "a producer that writes after it arrived": (
        """__shared__ int s[32];
        if (t < 32) { s[t] = y[t]; asm volatile("bar.arrive 1, 64;" ::: "memory"); }
        if (t < 32) { s[t] = y[t] + 1; }
        else { asm volatile("bar.sync 1, 64;" ::: "memory");
            y[t] = s[63 - t]; }""",
        [("RAW", 5, 3, "error", 32)],
    ),
    "a group that syncs without the other": (
        """__shared__ int s[32];
        if (t < 32) { s[t] = y[t];
        __syncwarp(t < 16 ? 0xffff : 0xffff0000);
        y[t] = s[t ^ 16]; }""",
        [("RAW", 4, 2, "warning", 32)],
    ),
}


@pytest.mark.parametrize(("body", "expected"), RACY.values(), ids=RACY)
def test_race(body, expected):
    assert sorted(races_of(body, 128 if "[128]" in body else 64)[0]) == expected


def test_the_message_names_the_element_both_threads_and_what_is_missing():
    body = """__shared__ float tile[5][9]; int i = t % 8, j = t / 8;
        tile[j][i] = y[t];
        y[t] = tile[j][7 - i];
        if (t == 39) tile[2][3] = 1;
        y[t] += tile[2][3];"""
    _, faults = races_of(body, (8, 5))
    read = next(fault for fault in faults if (fault.line, fault.severity) == (3, "warning"))
    (write,) = [fault for fault in faults if fault.line == 4]
    assert read.message == (
        "reads tile[7], which thread (7, 0, 0) wrote in line 2: no __syncwarp() stands between (RAW)."
    )
    assert (read.thread, read.block, read.space, read.count) == ((0, 0, 0), (0, 0, 0), "shared", 40)
    assert write.message == "writes tile[21], which thread (3, 2, 0) wrote in line 2: no barrier stands between (WAW)."
    assert (write.thread, write.other_line) == ((7, 4, 0), 2)


ASYNC = """#include <cuda_pipeline.h>
"""
COPY = """__shared__ __align__(16) float s[256];
        __pipeline_memcpy_async(s + 4 * t, x + 4 * t, 16);
        __pipeline_commit();
        __pipeline_memcpy_async(s + 128 + 4 * t, x + 128 + 4 * t, 16);
        __pipeline_commit();
        {wait}
        y[t] = s[{index}];"""


@pytest.mark.parametrize(
    ("wait", "index", "expected"),
    [
        ("__pipeline_wait_prior(0);", "4 * t", []),
        ("__pipeline_wait_prior(1);", "4 * t", []),
        ("__pipeline_wait_prior(1);", "128 + 4 * t", [("RAW", 7, 4, "error", 32)]),
        ("", "4 * t + 1", [("RAW", 7, 2, "error", 32)]),  # even one's own copy
        ("__syncthreads();", "4 * t", [("RAW", 7, 2, "error", 32)]),  # a barrier does not wait for copies
        ("__pipeline_wait_prior(0);", "(4 * t + 4) % 128", [("RAW", 7, 2, "warning", 32)]),  # one's neighbour's
        ("__pipeline_wait_prior(0); __syncthreads();", "(4 * t + 4) % 128", []),
        ("__syncthreads(); __pipeline_wait_prior(0);", "(4 * t + 4) % 128", [("RAW", 7, 2, "warning", 32)]),
        ('asm volatile("cp.async.wait_all;" ::: "memory");', "128 + 4 * t", []),
    ],
)
def test_asynchronous_copies_count_once_they_are_waited_for(wait, index, expected):
    args = [np.zeros(32, "f4"), np.ones(256, "f4")]
    body = COPY.format(wait=wait, index=index)
    assert races_of(body, 32, parameters="float* y, const float* x", args=args, head=ASYNC)[0] == expected


def test_wait_all_waits_for_copies_that_nobody_committed():
    body = """__shared__ __align__(16) float s[128];
        __pipeline_memcpy_async(s + 4 * t, x + 4 * t, 16);
        asm volatile("cp.async.wait_all;" ::: "memory");
        y[t] = s[4 * t];"""
    args = [np.zeros(32, "f4"), np.ones(128, "f4")]
    assert races_of(body, 32, parameters="float* y, const float* x", args=args, head=ASYNC)[0] == []


def test_a_copy_over_what_others_still_read_is_a_race():
    body = """__shared__ __align__(16) float s[256];
        s[t] = x[t]; __syncthreads();
        y[t] = s[63 - t];
        __pipeline_memcpy_async(s + 4 * (t % 16), x + 4 * t, 16 * (t < 16));
        __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();
        y[t] += s[t];"""
    body = body.replace("__pipeline_memcpy", "if (t < 16) __pipeline_memcpy").replace("16 * (t < 16)", "16")
    args = [np.zeros(64, "f4"), np.ones(256, "f4")]
    found, _ = races_of(body, 64, parameters="float* y, const float* x", args=args, head=ASYNC)
    assert {(kind, line, other) for kind, line, other, *_ in found} == {("WAR", 4, 3)}


def test_a_second_chunk_starts_afresh_and_counts_on():
    blocks = 2 * 16384 // 64 + 5
    clean = """__shared__ int s[64];
        if (blockIdx.x % 2) s[t] = y[t]; else s[63 - t] = y[t];
        __syncthreads(); y[blockIdx.x * 64 + t] = s[t];"""
    assert races_of(clean, 64, blocks)[0] == []
    racy = """__shared__ int s[64]; s[t] = t; __syncthreads();
        if (t == 5) s[40] = y[t] + 9;
        y[blockIdx.x * 64 + t] = s[t];"""
    found, (fault,) = races_of(racy, 64, blocks)
    assert found == [("RAW", 3, 2, "error", blocks)]
    assert (fault.block, fault.thread) == ((0, 0, 0), (40, 0, 0))
