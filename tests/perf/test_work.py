"""Work is what the emulator counts: exactly where all blocks run, and nearly where a few stand for all."""

from __future__ import annotations

import re
import sys
from math import gcd, prod

import numpy as np
import pytest

import convlab.perf.work as module
from convlab.executors.empty import empty
from convlab.executors.plans import run_plan
from convlab.kernels.ladder import method
from convlab.kernels.layers import LAYERS
from convlab.kernels.method import Launch, Plan
from convlab.kernels.ops import OPS
from convlab.perf.work import work, work_of_plan
from convlab.spec import ConvSpec, GemmSpec

STANDARD = LAYERS["conv2d"]["standard"]
ODD = ConvSpec(n=2, c=6, h=19, w=14, k=10, r=3, s=2, stride=(2, 1), padding=1)
COMPARED = (
    "instructions",
    "thread_instructions",
    "flop",
    "tensor_flop",
    "sectors_global_load",
    "sectors_global_store",
    "requests_global_load",
    "wavefronts_shared_load",
    "wavefronts_shared_store",
    "barriers",
)


@pytest.fixture
def small_budget(monkeypatch):
    """Sizes that tests can afford to run in full are sampled."""
    monkeypatch.setattr(module, "BUDGET", 45_000_000)
    module._work.cache_clear()
    yield
    module._work.cache_clear()


EXACT = [("winograd", STANDARD), *((name, ODD) for name in ("naive", "constant_weights", "im2col_gemm", "tensor_core"))]


@pytest.mark.parametrize(("name", "spec"), EXACT)
def test_all_blocks_count_what_a_launch_counts(name, spec):
    record, op = method(name), OPS["conv2d"]
    shapes = op.shapes_in(spec, record.layout)
    y = empty(shapes.pop("y"), record.output_dtype)
    needed = {tensor: shape for tensor, shape in shapes.items() if tensor != "bias"}
    given = {tensor: np.full(shape, 0.5, op.dtype(tensor, record)) for tensor, shape in needed.items()}
    runs = run_plan(record.plan(spec), {**given, "bias": None, "y": y}, "emulator", faults="record")
    done = work(spec, name, sample=False)
    assert not done.sampled
    assert [launch.entry for launch in done] == [run.kernel for run in runs]
    for launch, run in zip(done, runs, strict=True):
        assert dict(launch.counters) == dict(run.counters)
        assert {array: dict(counts) for array, counts in launch.arrays.items()} == {
            array: dict(counts) for array, counts in run.arrays.items()
        }
    assert done.counters.instructions == sum(run.counters.instructions for run in runs)


def test_a_small_product_by_hand():
    (launch,) = work(GemmSpec(gemm_m=16, gemm_n=32, gemm_k=8), "gemm_naive")
    assert (launch.source, launch.entry, launch.shared, launch.options) == ("gemm_naive.cu", "gemm_naive", 0, ())
    assert (launch.grid, launch.block, launch.blocks, launch.threads) == ((1, 2, 1), (32, 8, 1), 2, 256)
    assert launch.counters.requests_global_load == 16 * 8 * 2  # a warp is a row: k steps of two loads
    assert {name: counts.sectors_global_load for name, counts in launch.arrays.items()} == {
        "a": 16 * 8,
        "b": 16 * 8 * 4,
        "y": 0,
    }
    assert launch.sizes == {"a": 16 * 8 * 4, "b": 8 * 32 * 4, "y": 16 * 32 * 4}
    assert (launch.loaded_bytes, launch.stored_bytes) == (16 * 8 * 4 + 8 * 32 * 4, 16 * 32 * 4)
    assert launch.l2_load_bytes == 16 * 8 * 4 + 2 * 8 * 32 * 4  # either block brings its rows of a, and all of b
    assert launch.dtype == "float32"


@pytest.mark.skipif(sys.platform == "darwin", reason="NVIDIA makes no assembler for macOS")
def test_a_launch_has_its_kernels_resources():
    (launch,) = work(GemmSpec(8, 16, 8), "gemm_naive")
    assert launch.resources["sm_80"].registers > 0


@pytest.mark.skipif(sys.platform == "darwin", reason="NVIDIA makes no compiler for macOS")
def test_each_block_brings_what_it_reads(tmp_path):
    file = tmp_path / "same.cu"
    file.write_text('extern "C" __global__ void same(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }')
    plan = Plan((Launch(str(file), "same", (3000, 1, 1), (32, 1, 1), ("x", "y")),))
    tensors = {name: np.zeros(32, "float32") for name in "xy"}
    (launch,) = work_of_plan(plan, tensors, "float32", sample=False)
    assert launch.l2_load_bytes == 3000 * 128
    assert (launch.loaded_bytes, launch.stored_bytes) == (128, 128)


def test_only_what_is_touched_is_compulsory_for_a_launch():
    sparse = ConvSpec(n=1, c=1, h=1, w=512, k=1, r=1, s=1, stride=(1, 64))
    (launch,) = work(sparse, "naive")
    assert launch.arrays["x"].sectors_global_load == 8
    assert launch.loaded_bytes == 8 * 32 + 4  # of x a sector for each pixel; and w


def test_tensors_are_compulsory_by_their_shapes():
    assert work(ODD, "naive").compulsory == {
        "x": 4 * 2 * 6 * 19 * 14,
        "w": 4 * 10 * 6 * 3 * 2,
        "y": 4 * 2 * 10 * ODD.p * ODD.q,
    }
    half = work(STANDARD, "tensor_core_mma").compulsory
    assert (half["x"], half["y"]) == (2 * 16 * 32 * 32, 4 * 16 * 32 * 32)


MIDDLE = ConvSpec(n=2, c=24, h=45, w=37, k=40, r=3, s=3, padding=1)
LARGER = ConvSpec(n=6, c=16, h=45, w=37, k=40, r=3, s=3, padding=1)
SAMPLED = [
    *((name, MIDDLE) for name in ("naive", "tiled", "grouped", "tensor_core")),
    ("implicit_gemm", LARGER),
    ("tensor_core_tf32", ConvSpec(n=60, c=16, h=45, w=37, k=40, r=3, s=3, padding=1)),
    ("depthwise", ConvSpec(n=3, c=64, h=61, w=75, k=64, r=3, s=3, padding=1, groups=64)),
    ("gemm_naive", GemmSpec(350, 450, 150)),
    ("gemm_warp", GemmSpec(700, 900, 100)),
]


@pytest.mark.parametrize(("name", "spec"), SAMPLED)
def test_a_sample_counts_what_all_blocks_count(small_budget, name, spec):
    some, every = work(spec, name), work(spec, name, sample=False)
    assert some.sampled
    assert not every.sampled
    for launch, exact in zip(some, every, strict=True):
        for count in COMPARED:
            assert launch.counters[count] == pytest.approx(exact.counters[count], rel=0.02), count
        for array, counts in exact.arrays.items():
            assert launch.arrays[array].sectors_global_load == pytest.approx(counts.sectors_global_load, rel=0.02)
        assert launch.l2_load_bytes == pytest.approx(exact.l2_load_bytes, rel=0.02)


def test_large_products_are_counted_from_few_blocks():
    (launch,) = work(GemmSpec(4096, 4096, 512), "gemm_naive")
    ran, of = launch.counters.sampled
    assert of == launch.blocks == prod(launch.grid) == 65536
    assert 1 < ran <= module.MOST
    assert launch.counters.flop == 2 * 4096 * 4096 * 512
    assert ran * launch.counters.thread_instructions / of <= module.BUDGET


def test_pieces_of_one_work_are_sampled_once_and_counted_alike():
    spec = ConvSpec(n=1, c=512, h=3, w=3, k=8, r=3, s=3)
    some, every = work(spec, "constant_weights"), work(spec, "constant_weights", sample=False)
    first, second, rest = some
    assert first is second
    assert rest is not first
    assert [dict(launch.counters) for launch in some] == [dict(launch.counters) for launch in every]


def test_a_number_of_blocks_can_be_asked_for():
    assert work(STANDARD, "naive", sample=5).launches[0].counters.sampled == (5, 64)
    assert work(STANDARD, "naive", sample=1000).launches[0].counters.sampled is None


@pytest.mark.parametrize(("most", "grid"), [(127, (7, 112, 1)), (9, (5, 6, 3)), (3, (128, 512, 1))])
def test_samples_have_no_period_in_common_with_the_grid(most, grid):
    chosen = module._spread(most, grid)
    assert most // 2 < chosen <= most
    assert gcd(chosen, prod(grid)) == 1


def test_samples_give_edges_their_share():
    grid = (3, 8, 5)
    chosen = module._spread(31, grid)
    numbers = (2 * np.arange(chosen) + 1) * 120 // (2 * chosen)
    for at, size in zip((numbers % 3, numbers // 3 % 8, numbers // 24), grid, strict=True):
        assert (at == size - 1).mean() == pytest.approx(1 / size, abs=0.03)


def test_work_is_counted_once():
    assert work(STANDARD, "naive") is work(ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1), "naive")


def test_a_work_says_what_it_is_scaled_from():
    text = repr(work(STANDARD, "naive", sample=5))
    assert text.startswith("work of naive on ConvSpec(")
    assert "conv_naive<<<(4, 16, 1), (256, 1, 1)>>>: " in text
    assert "(from 5 of 64 blocks)" in text
    assert "from" not in repr(work(STANDARD, "naive")).splitlines()[1]


@pytest.mark.parametrize("sample", [0, -3, True, "all"])
def test_other_samples_are_refused(sample):
    with pytest.raises(ValueError, match=f"^sample={sample!r} is neither 'auto', nor False, nor a number of blocks"):
        work(STANDARD, "naive", sample=sample)


@pytest.mark.parametrize(
    ("name", "spec", "message"),
    [
        ("direct", STANDARD, "'direct' is a reference method: it has no kernels to count."),
        (
            "im2col_cublas",
            STANDARD,
            "A step of 'im2col_cublas' is cuBLAS's, which runs on a GPU only.",
        ),
        ("depthwise", STANDARD, "Method 'depthwise' does not support this conv2d: "),
    ],
)
def test_what_has_no_kernels_to_count_is_refused(name, spec, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        work(spec, name)
