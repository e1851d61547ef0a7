from __future__ import annotations

import numpy as np
import pytest

from convlab.executors.compile import compile
from convlab.executors.empty import empty
from convlab.executors.launch import launch


def run(body, *args, parameters="float* y", block=32, grid=1, head="", **options):
    """The faults of a kernel; line 1 is the first of its body."""
    source = f'{head}\nextern "C" __global__ void f({parameters}) {{ int t = threadIdx.x;\n#line 1\n{body}\n}}'
    kernel = compile(source, "w.cu").kernels["f"]
    result = launch(kernel, grid, block, list(args), device="emulator", faults="record", **options)
    return [fault for fault in result.faults if fault.kind in ("uninitialized", "unwritten")]


def brief(faults):
    return [(fault.kind, fault.line, fault.message, fault.count) for fault in faults]


def test_shared_memory_that_nobody_wrote():
    y = np.zeros(64, "f4")
    (fault,) = run(
        """__shared__ float first[3], tile[64];
        if (t == 0) first[t] = y[3];
        if (t < 30) tile[t] = 2;
        __syncthreads();
        y[t] = tile[t + 1] + first[0];""",
        y,
    )
    assert (fault.kind, fault.severity, fault.space, fault.file, fault.line) == (
        ("uninitialized", "error", "shared", "w.cu", 5)
    )
    assert (fault.block, fault.thread, fault.count) == ((0, 0, 0), (29, 0, 0), 3)
    assert fault.message == "reads tile[30], which nobody has written yet."


def test_every_block_and_every_chunk_has_fresh_shared_memory():
    blocks = 16384 // 32 + 7
    body = """__shared__ float s[32];
        if (blockIdx.x != {}) s[t] = y[t];
        __syncthreads();
        y[t] = s[31 - t];"""
    for odd in (0, 1, blocks - 2):
        (fault,) = run(body.format(odd), np.zeros(32, "f4"), grid=blocks)
        assert (fault.block, fault.count, fault.line) == ((odd, 0, 0), 32, 4)


def test_part_of_a_word_is_not_the_word():
    body = """__shared__ __align__(16) short s[64];
        s[2 * t] = 1;
        __syncthreads();
        y[t] = s[2 * t];
        y[t] += ((int*)s)[t];"""
    assert brief(run(body, np.zeros(32, "f4"))) == [
        ("uninitialized", 5, "reads s[0], which nobody has written yet.", 32)
    ]


def test_a_vector_names_the_element_that_is_missing():
    body = """__shared__ float4 s[32];
        s[t].x = y[t]; s[t].y = 1; s[t].w = 2;
        __syncthreads();
        float4 v = s[31 - t]; y[t] = v.x + v.y + v.z + v.w;"""
    (fault,) = run(body, np.zeros(32, "f4"))
    assert (fault.line, fault.count) == (4, 32)
    assert fault.message == "reads s[126], which nobody has written yet."  # float 2 of the last float4


def test_a_vector_that_is_written_whole_may_be_read_in_parts():
    body = """__shared__ float4 s[32];
        s[t] = make_float4(y[t], 1, 2, 3);
        __syncthreads();
        y[t] = ((float*)s)[127 - t];"""
    assert run(body, np.zeros(32, "f4")) == []


def test_an_atomic_reads_what_nobody_wrote_once():
    body = """__shared__ int s[2];
        if (t == 0) s[0] = 0;
        __syncthreads();
        atomicAdd(s + 0, 1);
        atomicAdd(s + 1, 1);
        __syncthreads();
        y[t] = s[0] + s[1];"""
    (fault,) = run(body, np.zeros(32, "f4"))
    assert (fault.line, fault.message) == (5, "reads s[1], which nobody has written yet.")


def test_an_asynchronous_copy_writes():
    body = """__shared__ float s[64];
        __pipeline_memcpy_async(s + t, y + t, 4); __pipeline_commit(); __pipeline_wait_prior(0);
        __syncthreads();
        y[t] = s[t + 4];"""
    (fault,) = run(body, np.zeros(32, "f4"), head="#include <cuda_pipeline.h>")
    assert (fault.thread, fault.count) == ((28, 0, 0), 4)


LOCAL = """float a[8];
        #pragma unroll 1
        for (int i = 0; i < n; ++i) a[i] = i;
        y[t] = a[t % 8];"""


def test_local_arrays():
    assert run(LOCAL, np.zeros(40, "f4"), 8, parameters="float* y, int n", block=40) == []
    (fault,) = run(LOCAL, np.zeros(40, "f4"), 6, parameters="float* y, int n", block=40)
    assert (fault.space, fault.line, fault.thread, fault.count) == ("local", 4, (6, 0, 0), 10)
    assert fault.message == "reads its local arrays[6], which nobody has written yet."


def test_the_padding_of_a_struct_may_be_copied():
    body = """Pair a[4];
        #pragma unroll 1
        for (int i = 0; i < 4; ++i) { a[i].small = i; a[i].big = y[i]; }
        Pair b[4];
        #pragma unroll 1
        for (int i = 0; i < 4; ++i) b[i] = a[n - i];
        y[t] = b[t % 4].big + b[t % 4].small;"""
    head = "struct Pair { char small; int big; };"
    assert run(body, np.ones(32, "f4"), 3, parameters="float* y, int n", head=head) == []


RECURSION = """
__device__ __noinline__ float sum(const float* y, int n) {
    float a[3];
    a[n % 3] = y[n];
    a[(n + 1) % 3] = 1;
    float rest = n > 0 ? sum(y, n - 1) : 0;
    return a[n % 3] + a[(n + WHICH) % 3] + rest; }"""


def test_calls_make_local_memory_longer_and_keep_what_was_written():
    y = np.ones(64, "f4")
    assert run("y[32 + t] = sum(y, t % 9);", y, head=RECURSION.replace("WHICH", "1")) == []
    assert y[32:].tolist() == [2 * (t % 9 + 1) for t in range(32)]
    (fault,) = run("y[32 + t] = sum(y, t % 9);", np.ones(64, "f4"), head=RECURSION.replace("WHICH", "2"))
    assert (fault.space, fault.count) == ("local", sum(t % 9 + 1 for t in range(32)))


def test_a_buffer_of_cl_empty():
    y, x = empty((3, 20)), empty(40, "i4")
    faults = run(
        """if (t < 9) x[t] = 4;
        if (t < 20) y[t + 20] = x[t];""",
        y,
        x,
        parameters="float* y, int* x",
        axes={"y": "hw"},
    )
    assert brief(faults) == [
        ("uninitialized", 2, "reads x[9], which nobody has written yet.", 11),
        ("unwritten", 0, "y[h=0, w=0] was never written: 40 of 60 elements were not.", 40),
        ("unwritten", 0, "x[9] was never written: 31 of 40 elements were not.", 31),
    ]
    assert {(f.severity, f.space, f.file) for f in faults if f.kind == "unwritten"} == {("warning", "global", "")}


def test_an_atomic_on_a_buffer_of_cl_empty():
    (fault,) = run("atomicAdd(y + t % 4, 1.0f);", empty(4))  # the lanes of one instruction do not help each other
    assert (fault.kind, fault.message, fault.count) == (
        "uninitialized",
        "reads y[0], which nobody has written yet.",
        32,
    )


def test_wide_and_narrow_stores_fill_a_buffer():
    body = """if (t < 4) ((float4*)y)[t] = make_float4(1, 2, 3, 4);
        else if (t < 8) ((short*)y)[2 * t + 25] = 5;
        else y[t + 12] = 6;"""  # floats 0 … 15, the upper halves of 16 … 19, 20 … 43
    (fault,) = run(body, empty(44))
    assert fault.message == "y[16] was never written: 4 of 44 elements were not."


def test_a_store_outside_marks_nothing():
    faults = run("y[t - 3] = 1;", empty(29), block=32)
    assert faults == []
    (fault,) = run("y[t + 3] = 1;", empty(29), block=32)
    assert fault.message == "y[0] was never written: 3 of 29 elements were not."


def test_an_array_of_nothing_but_nan_must_be_written_and_may_be_read():
    y = np.full(40, np.nan, "f4")
    (fault,) = run("y[t] = y[t + 8];", y)
    assert (fault.kind, fault.message) == ("unwritten", "y[32] was never written: 8 of 40 elements were not.")
    assert run("y[t] = y[t + 8];", np.append(y, 1).astype("f4")) == []


@pytest.mark.parametrize("make", [np.zeros, lambda n, d: np.full(n, -1, d)])
def test_ordinary_arrays_count_as_written(make):
    assert run("y[t] = y[t + 8];", make(40, "i4"), parameters="int* y") == []


def test_what_stops_early_or_is_a_sample_reports_nothing_unwritten():
    assert run("if (t == 3) __trap(); y[t] = 1;", empty(99)) == []
    assert run("y[blockIdx.x * 32 + t] = 1;", empty(320), grid=10, sample=2) == []


def test_without_observers_nothing_is_said():
    assert run("y[t] = y[t + 8];", empty(99), observe=False) == []


def test_of_a_wide_load_only_what_is_used_must_be_written():
    body = """__shared__ __align__(16) float s[32][4];
        if (t % 2 == 0) s[t][0] = s[t][1] = s[t][3] = 1;
        __syncthreads();
        y[t] = s[t][{}] + s[t][3];"""
    every_second = [("uninitialized", 4, "reads s[4], which nobody has written yet.", 16)]
    assert brief(run(body.format("0] + s[t][1"), np.zeros(32, "f4"))) == every_second
    all_of_them = [("uninitialized", 4, "reads s[4], which nobody has written yet.", 32)]
    assert brief(run(body.format("0] + s[t][2"), np.zeros(32, "f4"))) == all_of_them
