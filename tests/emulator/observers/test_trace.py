from __future__ import annotations

import numpy as np
import pytest

from convlab.emulator.addresses import buffer_address
from convlab.emulator.observers import trace as module
from convlab.executors.compile import compile
from convlab.executors.launch import launch


def traced(source, grid, block, args, trace, **options):
    (kernel,) = compile(source, "t.cu").kernels.values()
    return launch(kernel, grid, block, args, device="emulator", trace=trace, **options).trace


def by_line(trace, line):
    return [step for step in trace.steps if step.line == line]


def accesses(trace, line):
    return [access for step in by_line(trace, line) for access in step.accesses]


# Each line reads or writes one place; N = 2, C = 3, H = 5, W = 7.
SHIFT = """extern "C" __global__ void f(const float* x, float* y) {
    __shared__ float first[5];
    __shared__ float tile[64];
    int i = threadIdx.x + blockIdx.x * 40;
    float v = x[209 - i];
    tile[threadIdx.x] = v;
    if (threadIdx.x % 3 == 1)
        first[blockIdx.x] = v;
    __syncthreads();
    float u = tile[39 - threadIdx.x] + first[blockIdx.x];
    atomicAdd(y + i, u);
    y[3] = 1;
}"""


def shift(trace, blocks=2, **options):
    x = np.random.default_rng(0).random((2, 3, 5, 7), "f4")
    return traced(SHIFT, blocks, 40, [x, np.zeros(40 * blocks, "f4")], trace, faults="record", **options)


@pytest.mark.parametrize(("block", "warp", "lanes"), [(0, 0, range(32)), (1, 0, range(32)), (1, 1, range(8))])
def test_steps_have_the_lines_and_the_lanes_of_the_warp(block, warp, lanes):
    trace = shift((block, warp))
    assert (trace.block, trace.warp, trace.left_out) == (block, warp, 0)
    busy = [step for step in trace.steps if step.accesses]
    assert list(dict.fromkeys(step.line for step in busy)) == [5, 6, 8, 10, 11, 12]
    assert {7, 9, 13} <= {step.line for step in trace.steps}
    assert {step.file for step in trace.steps} == {"t.cu"}
    assert min(step.instructions for step in trace.steps) > 0
    for step in busy:
        some = tuple(lane for lane in lanes if step.line != 8 or (lane + 32 * warp) % 3 == 1)
        assert {step.lanes, *(access.lanes for access in step.accesses)} == {some}


def test_accesses_have_addresses_and_places():
    trace = shift((1, 1))
    thread = np.arange(32, 40)
    i = thread + 40
    (load,) = accesses(trace, 5)
    assert (load.action, load.space, load.width, load.count, load.name) == ("load", "global", 4, 1, "x")
    assert load.lanes == tuple(range(8))
    assert (load.index == 209 - i).all()
    assert np.ptp(load.address - 4 * (209 - i)) == 0
    assert int(load.address[0]) // buffer_address(0) >= 1
    (store,) = accesses(trace, 6)
    assert (store.action, store.space, store.name) == ("store", "shared", "tile")
    assert (store.index == thread).all()
    (narrow,) = accesses(trace, 8)
    assert (narrow.lanes, narrow.name, narrow.index.tolist()) == ((2, 5), "first", [1, 1])  # threads 34 and 37
    found = {access.name: (access.action, access.index.tolist()) for access in accesses(trace, 10)}
    assert found == {"tile": ("load", (39 - thread).tolist()), "first": ("load", [1] * 8)}
    (atomic,) = accesses(trace, 11)
    assert (atomic.action, atomic.name, atomic.index.tolist()) == ("atomic", "y", i.tolist())
    (same,) = accesses(trace, 12)
    assert (same.name, same.index.tolist()) == ("y", [3] * 8)  # one address, spelled out for every lane


def test_axes_turn_places_into_tensor_indices():
    (load,) = accesses(shift((0, 1), axes={"x": "nchw"}), 5)
    assert load.index.tolist() == np.argwhere(np.ones((2, 3, 5, 7)))[209 - np.arange(32, 40)].tolist()


def test_places_outside_of_a_tensor_stay_plain_numbers():
    source = 'extern "C" __global__ void f(const float* x, float* y) { y[threadIdx.x] = x[(int)threadIdx.x - 2]; }'
    x = np.ones((3, 5), "f4")
    trace = traced(source, 1, 4, [x, np.zeros(4, "f4")], (0, 0), axes={"x": "hw"}, faults="record")
    load, store = accesses(trace, 1)
    assert load.index.tolist() == [-2, -1, 0, 1]
    assert store.index.tolist() == [0, 1, 2, 3]


def test_a_wide_access_counts_in_elements_of_the_array():
    source = """extern "C" __global__ void f(const float4* x, float* y) {
        float4 v = x[threadIdx.x + 1];
        y[threadIdx.x] = v.x + v.y + v.z + v.w; }"""
    trace = traced(source, 1, 3, [np.ones((5, 4), "f4"), np.zeros(3, "f4")], (0, 0), axes={"x": "nc"})
    (load,) = accesses(trace, 2)
    assert (load.width, load.count, load.index.tolist()) == (16, 4, [[1, 0], [2, 0], [3, 0]])


def test_local_memory_is_traced_by_offset():
    source = """extern "C" __global__ void f(const int* w, float* y) {
        float a[16];
        #pragma unroll 1
        for (int i = 0; i < 16; ++i)
            a[i] = y[i] + 1;
        y[threadIdx.x + 16] = a[w[threadIdx.x]];
    }"""
    trace = traced(source, 1, 3, [np.array([9, 2, 5], "i4"), np.zeros(20, "f4")], (0, 0))
    local = [access for access in accesses(trace, 6) if access.space == "local"]
    assert [(access.action, access.index.tolist()) for access in local] == [("load", [9, 2, 5])]
    assert [a.index.tolist() for a in accesses(trace, 5) if a.space == "local"] == [[i] * 3 for i in range(16)]


def test_a_warp_of_a_later_chunk_is_found():
    blocks = 16384 // 40 + 30
    trace = shift((blocks - 3, 1), blocks)
    assert len(by_line(trace, 9)) == 1
    (atomic,) = accesses(trace, 11)
    assert atomic.index.tolist() == [40 * (blocks - 3) + n for n in range(32, 40)]


def test_a_block_that_the_sample_leaves_out_has_no_steps():
    assert shift((2, 0), 5, sample=2).steps == []
    assert len(shift((3, 0), 5, sample=2).steps) > 0


LOOP = """extern "C" __global__ void f(volatile float* y, int n) {
    #pragma unroll 1
    for (int i = 0; i < n; ++i)
        y[threadIdx.x] *= 2;
}"""


def test_a_loop_is_traced_turn_by_turn():
    trace = traced(LOOP, 1, 40, [np.ones(40, "f4"), 5], (0, 1))
    assert [len(step.accesses) for step in by_line(trace, 4) if step.accesses] == [2] * 5
    assert [access.action for access in accesses(trace, 4)] == ["load", "store"] * 5


def test_a_long_trace_is_cut_and_says_by_how_much(monkeypatch):
    whole = traced(LOOP, 1, 40, [np.ones(40, "f4"), 5], (0, 1))
    monkeypatch.setattr(module, "LIMIT", 6)
    cut = traced(LOOP, 1, 40, [np.ones(40, "f4"), 5], (0, 1))
    assert repr(cut.steps) == repr(whole.steps[:6])
    assert cut.left_out == len(whole.steps) - 6 > 0
    assert repr(cut) == f"trace of block 0, warp 1: 6 steps, and {cut.left_out} more"
    assert repr(whole) == f"trace of block 0, warp 1: {len(whole.steps)} steps"


def test_an_inlined_line_has_its_callers():
    source = """__device__ float inner(const float* x, int i) {
        return x[i] * 2; }
    __device__ float outer(const float* x, int i) {
        return inner(x, i + 1); }
    extern "C" __global__ void f(const float* x, float* y) {
        y[threadIdx.x] = outer(x, threadIdx.x); }"""
    trace = traced(source, 1, 4, [np.ones(5, "f4"), np.zeros(4, "f4")], (0, 0))
    (step,) = [step for step in trace.steps if any(access.name == "x" for access in step.accesses)]
    assert (step.line, step.callers) == (2, (("t.cu", 4), ("t.cu", 6)))


def test_without_the_option_there_is_no_trace():
    assert traced(LOOP, 1, 40, [np.ones(40, "f4"), 5], None) is None
