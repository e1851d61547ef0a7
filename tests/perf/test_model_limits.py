"""The model on kernels of known limits, and on ladders whose speeds others have published."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from convlab.executors.empty import empty
from convlab.executors.plans import run_plan
from convlab.kernels.method import Launch, Plan
from convlab.perf import model
from convlab.perf.gpus import gpu
from convlab.perf.model import LIMITS, predict
from convlab.perf.work import Work, work_of_plan

from .published import HGEMM, LADDERS, SGEMM, STEPS, counted, plan, tensors

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="NVIDIA makes no compiler for macOS")


@pytest.mark.parametrize("name", [*SGEMM, *HGEMM])
def test_kernels_of_the_ladders_are_right(name):
    m, n, k = 128, 256, 192
    given = tensors(name, m, n, k, empty((m, n)))
    (run,) = run_plan(plan(name, m, n, k), given, device="emulator", faults="record")
    a, b = given["a"].astype("f8"), given["b"].astype("f8")
    b = b.T if name in STEPS else b
    assert list(run.faults) == []
    assert (np.abs(np.asarray(given["y"]) - a @ b) <= k * 2**-24 * (np.abs(a) @ np.abs(b))).all()


@pytest.fixture(scope="module", params=LADDERS)
def ladder(request):
    """Published per cent of cuBLAS, and modelled milliseconds, of each rung."""
    published, chip, (m, n, k) = LADDERS[request.param]
    y = np.empty((m, n), "float32")
    return published, {name: predict(counted(name, m, n, k, y), chip) for name in published}


def test_ladders_have_the_published_order(ladder):
    _, predicted = ladder
    times = [prediction.milliseconds for prediction in predicted.values()]
    assert all(slower > faster for slower, faster in pairwise(times)), predicted


def test_ladders_have_the_published_ratios_within_a_factor_of_two(ladder):
    published, predicted = ladder
    best = list(published)[-1]
    for name, prediction in predicted.items():
        expected = published[best] / published[name]
        assert expected / 2 < prediction.milliseconds / predicted[best].milliseconds < expected * 2, name


def test_ladders_wait_for_what_their_authors_say(ladder):
    _, predicted = ladder
    expected = {
        "gemm_naive": "memory",
        "sgemm_column": "memory",
        "plain": "memory",
        "ldmatrix": "memory",
    }
    found = {name: predicted[name].waits_for for name in expected if name in predicted}
    assert found == {name: LIMITS[expected[name]] for name in found}


def of(tmp_path, source, grid, block, arrays, dtype="float32", shared=0):
    """The work of a kernel `f` of these arrays."""
    file = tmp_path / "kernel.cu"
    file.write_text(source)
    step = Launch(str(file), "f", (grid, 1, 1), (block, 1, 1), tuple(arrays), shared)
    return Work(None, "f", work_of_plan(Plan((step,)), arrays, dtype))


COPY = (
    'extern "C" __global__ void f(const float4* x, float4* y) { int i = blockIdx.x * 256 + threadIdx.x; y[i] = x[i]; }'
)


@pytest.mark.parametrize("name", ["RTX 3060", "A100", "H200"])
def test_a_copy_takes_its_bytes_by_the_bandwidth(tmp_path, name):
    x = np.ones(1 << 25, "f4")
    prediction = predict(of(tmp_path, COPY, (1 << 25) // 1024, 256, {"x": x, "y": np.empty_like(x)}), gpu(name))
    bare = 2 * x.nbytes / (0.9 * gpu(name).dram_gbs * 1e6)
    assert prediction.waits_for == "DRAM bandwidth"
    assert bare < prediction.milliseconds < 1.1 * bare + model.LAUNCH_MS


MULTIPLY = """
extern "C" __global__ void f(float* y) {
    float c[8][4] = {};
    for (int i = 0; i < 24; ++i)
        for (int j = 0; j < 8; ++j)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, "
                "{%4, %4}, {%0, %1, %2, %3};"
                : "+f"(c[j][0]), "+f"(c[j][1]), "+f"(c[j][2]), "+f"(c[j][3]) : "r"(0x3c003c00));
    for (int j = 0; j < 8; ++j) y[threadIdx.x] += c[j][0];
}"""


WAVES = 108 * 170 * 132  # blocks that no SM of these GPUs has more of than another


@pytest.fixture(scope="module")
def products(tmp_path_factory):
    """Blocks of eight warps that do nothing but multiply on Tensor Cores."""
    return of(tmp_path_factory.mktemp("mma"), MULTIPLY, WAVES, 256, {"y": np.zeros(256, "f4")}, "float16")


@pytest.mark.parametrize(("name", "share"), [("A100", 1.0), ("RTX 5090", 1.0), ("H200", 0.63)])
def test_a_loop_of_products_takes_what_tensor_cores_take(products, name, share):
    prediction = predict(products, gpu(name))
    assert products.counters.tensor_flop == WAVES * 8 * 24 * 8 * 4096
    bare = products.counters.tensor_flop / (share * gpu(name).peak_tflops("float16") * 1e9)
    assert prediction.waits_for == "Tensor Cores"
    assert prediction.launches[0].limits["tensor"] == pytest.approx(bare)
    assert bare < prediction.milliseconds < 1.25 * bare


FUSED = """
extern "C" __global__ void f(float* y) {
    float c[16], b = y[threadIdx.x];
    for (int j = 0; j < 16; ++j) c[j] = j;
    #pragma unroll 8
    for (int i = 0; i < 512; ++i)
        for (int j = 0; j < 16; ++j) c[j] = c[j] * b + b;
    for (int j = 0; j < 16; ++j) y[threadIdx.x] += c[j];
}"""


def test_fused_multiply_adds_wait_for_lanes_where_there_are_half_as_many_as_slots(tmp_path):
    done = of(tmp_path, FUSED, 108 * 8, 256, {"y": np.zeros(256, "f4")})
    prediction = predict(done, gpu("A100"))
    bare = done.counters.flop / (gpu("A100").peak_tflops("float32") * 1e9)
    assert prediction.waits_for == "floating-point lanes"
    assert bare < prediction.milliseconds < 1.1 * bare + model.LAUNCH_MS


def test_an_empty_kernel_takes_its_launch(tmp_path):
    prediction = predict(of(tmp_path, 'extern "C" __global__ void f() {}', 1, 32, {}), gpu("A100"))
    assert prediction.waits_for == "the launch itself"
    assert prediction.milliseconds == pytest.approx(model.LAUNCH_MS, rel=0.01)


CHASE = """
extern "C" __global__ void f(int* x) {
    int at = threadIdx.x;
    #pragma unroll 1
    for (int i = 0; i < 800; ++i) at = x[at];
    x[threadIdx.x] = at;
}"""


def test_one_warp_waits_for_its_loads(tmp_path):
    prediction = predict(of(tmp_path, CHASE, 1, 32, {"x": np.arange(32, dtype="i4")}), gpu("A100"))
    assert prediction.waits_for == "latency: too few warps to hide it"
    assert prediction.launches[0].limits["latency"] > 800 / model.IN_FLIGHT * 23 / 1410e3


STEPWISE = """
extern "C" __global__ void f(const float* x, float* y) {
    __shared__ float tile[32];
    float sum = 0.0f;
    #pragma unroll 1
    for (int i = 0; i < 200; ++i) {
        tile[threadIdx.x] = x[32 * i + threadIdx.x];
        __syncthreads();
        sum += tile[31 - threadIdx.x];
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}"""


def test_a_pair_of_barriers_waits_for_a_trip_to_memory(tmp_path):
    done = of(tmp_path, STEPWISE, 1, 32, {"x": np.ones(6400, "f4"), "y": np.zeros(32, "f4")})
    dram = sum(gpu("A100").waits.dram) / 2
    assert predict(done, gpu("A100")).waits_for == "latency: too few warps to hide it"
    assert predict(done, gpu("A100")).launches[0].limits["latency"] > 200 * dram / 1410e3


STRIDED = """
extern "C" __global__ void f(float* y) {
    __shared__ float tile[32 * 32];
    for (int i = 0; i < 200; ++i) { tile[threadIdx.x % 32 * STRIDE] += i; __syncwarp(); }
    y[threadIdx.x] = tile[threadIdx.x];
}"""


def test_bank_conflicts_cost_turns(tmp_path):
    good, bad = (
        predict(
            of(tmp_path, STRIDED.replace("STRIDE", stride), 864, 128, {"y": np.zeros(128, "f4")}), gpu("A100")
        ).launches[0]
        for stride in ("1", "32")
    )
    assert bad.limits["memory"] > 20 * good.limits["memory"]
    assert bad.milliseconds > 4 * good.milliseconds


def test_a_block_more_than_a_wave_takes_another(tmp_path):
    full, more = (
        predict(of(tmp_path, FUSED, blocks, 1024, {"y": np.zeros(1024, "f4")}), gpu("A100")).launches[0]
        for blocks in (108, 109)
    )
    assert more.limits["fp32"] == pytest.approx(2 * full.limits["fp32"])
    assert more.milliseconds - model.LAUNCH_MS > 1.7 * (full.milliseconds - model.LAUNCH_MS)


def test_arrays_larger_than_l2_are_read_again():
    done = counted("gemm_register", 4096, 4096, 128, np.empty((4096, 4096), "f4"))
    chip = LADDERS["sgemm"][1]
    small, large = (predict(done, replace(chip, l2_mb=size)).launches[0].dram_bytes for size in (0.5, 100))
    factors, product = 2 * 4096 * 128 * 4, 4096 * 4096 * 4
    assert large == factors + product
    assert small > 4 * factors + product


def test_blocks_that_do_not_fit_are_refused(tmp_path):
    source = 'extern "C" __global__ void f(float* y) { extern __shared__ float s[]; y[0] = s[threadIdx.x]; }'
    done = of(tmp_path, source, 1, 32, {"y": np.zeros(1, "f4")}, shared=120 * 1024)
    with pytest.raises(ValueError, match=r"^No block of f fits an SM of the RTX 3060: too much shared memory\.$"):
        predict(done, gpu("RTX 3060"))
    assert predict(done, gpu("H200")).milliseconds > 0
