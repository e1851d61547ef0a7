from __future__ import annotations

import numpy as np
import pytest

from convlab.emulator import UNOBSERVED, Counters
from convlab.emulator.classes import CLASSES
from convlab.emulator.observers.counters import METRICS
from convlab.executors.compile import compile
from convlab.executors.launch import launch as launch_kernel

from ..conftest import kernel, launch


def cuda(source: str, grid, block, *args, **options):
    """Run the only kernel of a CUDA C source."""
    (chosen,) = compile(source, "a.cu").kernels.values()
    return launch_kernel(chosen, grid, block, list(args), device="emulator", **options)


def line(result, number: int) -> Counters:
    return result.lines["a.cu", number]


# out[tid] = in[map(tid)]: the map gives the index of the element, of 4 bytes
GATHER = """
    mul.wide.u32 %rd10, %r0, 4; add.s64 %rd12, %rd2, %rd10; ld.global.u32 %r1, [%rd12];
    mul.wide.s32 %rd13, %r1, 4; add.s64 %rd14, %rd1, %rd13; ld.global.f32 %f1, [%rd14];
    add.s64 %rd15, %rd0, %rd10; st.global.f32 [%rd15], %f1;"""


def test_a_gather_counts_what_its_warps_touch():
    rng = np.random.default_rng(8)
    x, index = rng.random(501, "f4"), rng.integers(0, 501, 77).astype("i4")
    out = np.zeros(77, "f4")
    counters = launch(kernel(GATHER, 3), out, x, index).counters
    warps = np.split(index, [32, 64])
    assert (out == x[index]).all()
    assert (counters.requests_global_load, counters.requests_global_store) == (6, 3)
    assert counters.sectors_global_load == 4 + 4 + 2 + sum(len(set((w // 8).tolist())) for w in warps)
    assert counters.sectors_ideal_global_load == 10 + sum(-(-len(set(w.tolist())) // 8) for w in warps)
    assert counters.bytes_global_load == 4 * (77 + sum(len(set(w.tolist())) for w in warps))
    assert (counters.sectors_global_store, counters.sectors_ideal_global_store) == (10, 10)
    assert counters.bytes_global_store == 4 * 77


def test_a_wide_load_is_one_request():
    text = kernel(
        """
        mul.wide.u32 %rd10, %r0, 16; add.s64 %rd11, %rd1, %rd10; ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd11];
        add.s64 %rd12, %rd0, %rd10; st.global.v4.f32 [%rd12], {%f3, %f2, %f1, %f0};""",
        2,
    )
    x = np.arange(256, dtype="f4").reshape(64, 4)
    out = np.zeros_like(x)
    counters = launch(text, out, x, block=(64, 1, 1)).counters
    assert (out == x[:, ::-1]).all()
    for action in ("load", "store"):
        names = ("requests_global", "sectors_global", "sectors_ideal_global", "bytes_global")
        found = [counters[f"{name}_{action}"] for name in names]
        assert found == [2, 32, 32, 1024]


def test_an_address_that_is_the_same_for_all_is_a_sector_for_each_warp():
    text = kernel("ld.global.f32 %f1, [%rd0]; ld.global.v2.f32 {%f2, %f3}, [%rd0];")
    counters = launch(text, np.zeros(8, "f4"), block=(70, 1, 1)).counters
    assert (counters.requests_global_load, counters.sectors_global_load) == (6, 6)
    assert (counters.sectors_ideal_global_load, counters.bytes_global_load) == (6, 3 * (4 + 8))


def test_instructions_count_warps_that_are_there_and_lanes_that_are_active():
    # 70 threads: 3 warps. Then only threads 0 … 9 (one warp) execute one instruction more.
    text = kernel(".loc 1 3 1\nsetp.ge.u32 %p1, %r0, 10; @%p1 bra END;\n.loc 1 4 1\nmov.u32 %r1, 1;\n.loc 1 5 1\nEND:")
    result = launch(text + '.file 1 "a.cu"\n', np.zeros(70, "i4"))
    assert (line(result, 3).instructions, line(result, 3).thread_instructions) == (2 * 3, 2 * 70)
    four = line(result, 4)
    assert (four.instructions, four.thread_instructions, four.active_lanes) == (1, 10, 10.0)
    # Threads end one by one: those that jump there do not wait for the ten, whose warp ends in two parts.
    assert (line(result, 5).instructions, line(result, 5).thread_instructions) == (4, 70)


@pytest.mark.parametrize(
    ("condition", "branches", "divergent"),
    [
        ("threadIdx.x >= 64", 5, 0),  # whole warps part from each other: none diverges
        ("threadIdx.x % 32 < 16", 5, 5),
        ("threadIdx.x < 40", 5, 1),  # the second warp alone
        ("(threadIdx.x * 7 + 3) % 5 < 2", 5, 5),
        ("n > 3", 5, 0),
    ],
)
def test_a_branch_diverges_in_the_warps_whose_lanes_part(condition, branches, divergent):
    source = f"""extern "C" __global__ void f(volatile int* y, int n) {{
        if ({condition})
            y[threadIdx.x] = 3;
        else
            y[threadIdx.x + n] = 4;
    }}"""
    result = cuda(source, 1, 150, np.zeros(200, "i4"), 10)
    assert (line(result, 2).branches, line(result, 2).divergent_branches) == (branches, divergent)
    assert (result.counters.branches, result.counters.divergent_branches) == (branches, divergent)


def test_lanes_that_leave_a_loop_one_by_one_diverge_at_every_turn_but_the_last():
    source = """extern "C" __global__ void f(volatile int* y) {
        int i = 0;
        #pragma unroll 1
        do { y[threadIdx.x] = i;
        } while (++i <= threadIdx.x);
    }"""
    result = cuda(source, 1, 32, np.zeros(32, "i4"))
    counts = result.counters
    assert (counts.branches, counts.divergent_branches) == (32, 31)
    assert counts.requests_global_store == 32
    assert counts.bytes_global_store == 4 * sum(range(1, 33))


def test_flop_counts_additions_and_products_once_and_fused_ones_twice():
    text = kernel("""
        mov.f32 %f1, 0f3F800000; add.f32 %f2, %f1, %f1; mul.f32 %f3, %f2, %f2; fma.rn.f32 %f4, %f3, %f3, %f1;
        sqrt.rn.f32 %f5, %f4; add.s32 %r1, %r0, 1; cvt.f64.f32 %d1, %f4; fma.rn.f64 %d2, %d1, %d1, %d1;
        cvt.rn.f16.f32 %h1, %f1; sub.f16 %h2, %h1, %h1; mov.b32 %r2, {%h1, %h2}; fma.rn.f16x2 %r3, %r2, %r2, %r2;
        min.f32 %f6, %f1, %f2; neg.f32 %f7, %f1; mad.lo.s32 %r4, %r1, %r1, %r1;""")
    counters = launch(text, np.zeros(10, "i4")).counters
    assert (counters.flop_fp32, counters.flop_fp64, counters.flop_fp16) == (10 * 4, 10 * 2, 10 * (1 + 4))
    assert counters.flop == 10 * (4 + 2 + 5)


def test_flop_of_a_line_are_those_of_its_own_instructions():
    text = kernel(
        ".loc 1 3 1\nadd.s32 %r1, %r0, 1;\n.loc 1 4 1\nmov.f32 %f1, 0f3F800000; fma.rn.f32 %f2, %f1, %f1, %f1;"
    )
    result = launch(text + '.file 1 "a.cu"\n', np.zeros(10, "i4"))
    assert [line(result, n).flop for n in (3, 4)] == [0, 20]
    assert [line(result, n).flop_fp32 for n in (3, 4)] == [0, 20]


def test_instructions_by_class():
    text = kernel("""
        add.s32 %r1, %r0, 1; add.s32 %r2, %r1, 2; cvt.rn.f32.s32 %f1, %r1; add.f32 %f2, %f1, %f1;
        cvt.f64.f32 %d1, %f2; mul.f64 %d2, %d1, %d1; cvt.rn.f16.f32 %h1, %f1; add.f16 %h2, %h1, %h1;
        vote.sync.any.pred %p1, 1, -1; bar.sync 0; ld.global.f32 %f3, [%rd0]; selp.f32 %f4, %f1, %f2, 1;""")
    counters = launch(text, np.zeros(33, "i4")).counters
    counted = {name: counters[f"thread_instructions_{name}"] // 33 for name in CLASSES}
    # ld.param and ld.global; bar and ret; mov %tid and selp
    expected = {"integer": 2, "conversion": 3, "fp32": 1, "fp64": 1, "fp16": 1, "communication": 1}
    assert counted == {**dict.fromkeys(CLASSES, 0), **expected, "memory": 2, "control": 2, "other": 2}
    assert counters.thread_instructions == 33 * sum(counted.values())


def test_shared_memory_counts_requests_wavefronts_and_conflicts_at_their_lines():
    source = """extern "C" __global__ void f(const float* x, float* y) {
        __shared__ float tile[32][33], flat[32][32];
        int i = threadIdx.x, j = threadIdx.y;
        tile[j][i] = x[j * 32 + i];
        flat[j][i] = x[j * 32 + i];
        __syncthreads();
        float a = tile[i][j];
        float b = flat[i][j];
        float c = flat[0][5];
        y[j * 32 + i] = a + b + c;
    }"""
    x, y = np.random.default_rng(1).random((32, 32), "f4"), np.zeros((32, 32), "f4")
    result = cuda(source, 1, (32, 32), x, y)
    assert (y == x.T + x.T + x[0, 5]).all()

    def shared(n, action):
        return [line(result, n)[f"{name}_shared_{action}"] for name in ("requests", "wavefronts", "conflicts")]

    assert shared(4, "store") == shared(5, "store") == [32, 32, 0]
    assert shared(7, "load") == [32, 32, 0]
    assert shared(8, "load") == [32, 32 * 32, 32 * 31]
    assert shared(9, "load") == [32, 32, 0]
    assert result.counters.conflicts_shared_load == 32 * 31
    assert line(result, 6).barriers == 32


def test_wide_shared_accesses_need_more_wavefronts_without_a_conflict():
    body = """.shared .align 16 .b8 s[2048]; mul.lo.u32 %r1, %r0, {bytes}; mov.u32 %r2, s; add.u32 %r2, %r2, %r1;
        st.shared.v4.f32 [%r2], {{%f0, %f0, %f0, %f0}}; ld.shared.v2.f32 {{%f1, %f2}}, [%r2];"""
    counters = launch(kernel(body.format(bytes=16)), np.zeros(64, "i4")).counters
    assert (counters.wavefronts_shared_store, counters.conflicts_shared_store) == (8, 0)
    assert (counters.wavefronts_shared_load, counters.conflicts_shared_load) == (8, 4)
    assert counters.requests_shared_load == 2


def test_barriers_count_the_warps_that_meet_where_they_stand():
    source = """extern "C" __global__ void f(int* y) {
        if (threadIdx.x >= 64)
            return;
        y[threadIdx.x] = 1;
        __syncthreads();
        y[threadIdx.x] = 2;
        __syncthreads();
        y[threadIdx.x] = 3;
        __syncwarp();
        y[threadIdx.x] = 4;
        if (threadIdx.x < 32)
            asm volatile("bar.sync 2, 32;" ::: "memory");
    }"""
    result = cuda(source, 2, 100, np.zeros(64, "i4"), faults="record")
    assert {n: c.barriers for (_, n), c in result.lines.items() if c.barriers} == {5: 4, 7: 4, 12: 2}
    assert result.counters.barriers == 10


def test_local_memory_interleaves_the_words_of_a_warp():
    # Each word of all lanes lies in 128 bytes: 4 sectors for a full warp at one offset, one for each other offset.
    words = np.random.default_rng(3).integers(0, 16, 41).astype("i4")
    source = """extern "C" __global__ void f(const int* w, float* y) {
        float a[16];
        #pragma unroll 1
        for (int i = 0; i < 16; ++i)
            a[i] = y[i] + 1;
        y[threadIdx.x + 16] = a[w[threadIdx.x]];
    }"""
    y = np.arange(100, dtype="f4")
    result = cuda(source, 1, 41, words, y)
    assert (y[16:57] == words + 1).all()
    stores, loads = line(result, 5), line(result, 6)
    assert (stores.requests_local_store, stores.sectors_local_store) == (16 * 2, 16 * (4 + 2))
    sectors = {(warp, word, lane // 8) for n, word in enumerate(words.tolist()) for warp, lane in [divmod(n, 32)]}
    assert (loads.requests_local_load, loads.sectors_local_load) == (2, len(sectors))


def test_wide_local_accesses_take_the_sectors_of_each_of_their_words():
    text = kernel("""
        .local .align 16 .b8 a[64]; mov.u64 %rd8, a;
        st.local.v4.f32 [%rd8], {%f1, %f1, %f1, %f1};
        st.local.b8 [%rd8+16], %h1; ld.local.v2.f32 {%f2, %f3}, [%rd8];""")
    counters = launch(text, np.zeros(32, "i4")).counters
    assert (counters.requests_local_store, counters.sectors_local_store) == (2, 16 + 4)
    assert (counters.requests_local_load, counters.sectors_local_load) == (1, 8)


def test_atomics_count_warps_and_are_neither_loads_nor_stores():
    source = """extern "C" __global__ void f(int* y) {
        __shared__ int s;
        if (threadIdx.x == 0) s = 0;
        __syncthreads();
        if (threadIdx.x % 3 == 0) atomicAdd(&s, 1);
        __syncthreads();
        if (threadIdx.x < 40) atomicMax(y, s);
    }"""
    y = np.zeros(1, "i4")
    result = cuda(source, 3, 70, y)
    assert y[0] == 24
    assert (line(result, 5).atomics_shared, line(result, 7).atomics_global) == (3 * 3, 3 * 2)
    assert (result.counters.requests_global_load, result.counters.requests_global_store) == (0, 0)
    assert result.counters.requests_shared_store == 3


WMMA = """#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void f(const __half* a, const __half* b, float* c, int steps) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    #pragma unroll 1
    for (int k = 0; k < steps; ++k) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> y;
        wmma::load_matrix_sync(x, a + 16 * k, 16 * steps);
        wmma::load_matrix_sync(y, b + 256 * k, 16);
        wmma::mma_sync(sum, x, y, sum);
    }
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}"""


def test_tensor_core_products_count_all_operations_and_those_without_a_zero():
    rng = np.random.default_rng(4)
    a, b = rng.uniform(1, 2, (16, 48)).astype("f2"), rng.uniform(1, 2, (48, 16)).astype("f2")
    a[:, 27:] = 0  # 27 of 48 taps: the rest pads
    b[27:] = 0
    b[:, 13:] = 0  # 13 of 16 filters
    b[5, 2] = 0
    c = np.zeros((16, 16), "f4")
    result = cuda(WMMA, 2, 32, a, b, c, 3)
    assert np.allclose(c, a.astype("f8") @ b.astype("f8"), rtol=1e-5)
    useful = 2 * 16 * 13 * 27 - 2 * 16
    counts = result.counters
    assert (counts.tensor_instructions, counts.tensor_flop) == (2 * 3, 2 * 3 * 2 * 16**3)
    assert counts.tensor_flop_useful == 2 * useful
    assert counts.flop == 0
    (where,) = [key for key, each in result.lines.items() if each.tensor_flop]
    tensor = result.lines[where]
    assert tensor.thread_instructions_tensor == 2 * 3 * 32


def test_products_of_one_step_are_counted_each_at_its_line():
    half = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
    text = kernel(f"""
        mov.b32 %r1, 0x3C003C00; mov.b32 %r2, 0; mov.f32 %f0, 0f00000000;
        .loc 1 3 1\n{half} {{%f0, %f1, %f2, %f3}}, {{%r1, %r1}}, {{%r1}}, {{%f0, %f0, %f0, %f0}};
        .loc 1 4 1\n{half} {{%f4, %f5, %f6, %f7}}, {{%r1, %r2}}, {{%r1}}, {{%f0, %f0, %f0, %f0}};""")
    result = launch(text + '.file 1 "a.cu"\n', np.zeros(64, "i4"))
    assert [line(result, n).tensor_flop for n in (3, 4)] == [2 * 2048] * 2
    assert [line(result, n).tensor_flop_useful for n in (3, 4)] == [2 * 2048, 2048]


def test_lines_add_up_to_the_total_over_chunks():
    source = """extern "C" __global__ void f(const float* x, float* y, int n) {
        __shared__ float s[300];
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        s[threadIdx.x] = i < n ? x[i] : 0.0f;
        __syncthreads();
        for (int k = threadIdx.x % 5; k < 9; ++k)
            if (s[(threadIdx.x * k) % 300] > 0.3f)
                atomicAdd(y + k, x[k] * 2);
    }"""
    x, y = np.random.default_rng(0).random(30000, "f4"), np.zeros(16, "f4")
    result = cuda(source, 100, 300, x, y, 29950)
    for name in METRICS:
        assert result.counters[name] == sum(each[name] for each in result.lines.values()), name
    assert line(result, 4).requests_global_load == 998  # the last block has 250 threads with a pixel: 8 warps of 10
    assert line(result, 5).barriers == 1000
    assert {file for file, _ in result.lines} == {"a.cu"}


SAMPLED = """extern "C" __global__ void f(const float* x, float* y) {
    y[blockIdx.x * blockDim.x + threadIdx.x] = x[threadIdx.x] * 2;
}"""


def test_a_sample_scales_totals_and_lines_and_says_so():
    x, whole, part = np.ones(96, "f4"), np.zeros(96 * 50, "f4"), np.zeros(96 * 50, "f4")
    all_of_it = cuda(SAMPLED, 50, 96, x, whole)
    some = cuda(SAMPLED, 50, 96, x, part, sample=4)
    assert (whole == 2).all()
    assert np.flatnonzero(part.reshape(50, 96).all(axis=1)).tolist() == [6, 18, 31, 43]
    assert dict(some.counters) == dict(all_of_it.counters)
    assert {key: dict(c) for key, c in some.lines.items()} == {key: dict(c) for key, c in all_of_it.lines.items()}
    assert all_of_it.counters.sampled is None
    assert some.counters.sampled == line(some, 2).sampled == (4, 50)
    assert repr(some.counters).endswith("scaled from 4 of 50 blocks")
    assert "scaled" not in repr(all_of_it.counters)


def test_a_sample_of_all_blocks_is_none():
    y = np.zeros(96 * 3, "f4")
    assert cuda(SAMPLED, 3, 96, np.ones(96, "f4"), y, sample=7).counters.sampled is None
    assert (y == 2).all()


def test_scaled_counts_are_rounded():
    assert Counters({"instructions": 10}).scaled(3, 8).instructions == 27


def test_counters_answer_by_attribute_and_key_and_name_what_exists():
    counters = Counters({"instructions": 3})
    assert counters.instructions == counters["instructions"] == 3
    assert counters.sectors_global_load == 0
    with pytest.raises(AttributeError, match=r"no counter 'sectors' here. The counters are: instructions, "):
        _ = counters.sectors
    assert list(counters) == list(METRICS)


def test_a_listing_shows_what_was_counted():
    text = repr(Counters({"flop": 12345, "barriers": 0}))
    assert [row.split() for row in text.splitlines()] == [
        ["instructions", "0"],
        ["thread_instructions", "0"],
        ["flop", "12,345"],
    ]


def test_a_run_without_observers_says_so():
    result = launch(kernel("mov.u32 %r1, 0;"), np.zeros(4, "i4"), observe=False)
    assert result.counters is UNOBSERVED
    assert result.lines == {}
    with pytest.raises(AttributeError, match="This run was not observed: launch with device='emulator'"):
        _ = result.counters.instructions
    assert repr(UNOBSERVED).startswith("Counters: none. This run was not observed")


def test_ratios_are_those_of_their_counts():
    counters = Counters({"requests_global_load": 4, "sectors_global_load": 10, "sectors_global_store": 3})
    assert (counters.sectors_per_request_load, counters.sectors_per_request_store) == (2.5, 0.0)
    assert Counters({"instructions": 4, "thread_instructions": 96}).active_lanes == 24.0


def test_global_memory_is_counted_by_array_too():
    source = """__global__ void f(const float* a, const float4* b, float* y) {
        __shared__ float s[32];
        s[threadIdx.x % 32] = a[0];
        float4 v = b[threadIdx.x];
        if (threadIdx.x < 40) y[2 * threadIdx.x] = v.x + v.y + v.z + v.w + s[threadIdx.x / 2];
    }"""
    a, b, y = np.ones(1, "f4"), np.ones((48, 4), "f4"), np.zeros(80, "f4")
    run = cuda(source, 1, 48, a, b, y, faults="record")
    assert set(run.arrays) == {"a", "b", "y"}
    found = run.arrays["a"]
    assert (found.requests_global_load, found.sectors_global_load, found.thread_bytes_global_load) == (2, 2, 4 * 48)
    found = run.arrays["b"]
    assert (found.requests_global_load, found.sectors_global_load, found.thread_bytes_global_load) == (2, 20, 16 * 40)
    found = run.arrays["y"]
    assert (found.requests_global_store, found.sectors_global_store, found.thread_bytes_global_store) == (2, 10, 160)
    assert found.requests_global_load == 0
    assert run.counters.thread_bytes_shared_load == 4 * 40
    for name in ("requests_global_load", "sectors_global_load", "bytes_global_load", "sectors_global_store"):
        assert run.counters[name] == sum(counters[name] for counters in run.arrays.values())


def test_counts_by_array_are_scaled_with_a_sample():
    source = "__global__ void f(float* y) { y[blockIdx.x * 64 + threadIdx.x] = 1.0f; }"
    run = cuda(source, 8, 64, np.zeros(512, "f4"), sample=2)
    assert run.arrays["y"].sectors_global_store == 64 == run.counters.sectors_global_store
    assert run.arrays["y"].sampled == (2, 8)
