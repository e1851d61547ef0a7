from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from convlab.errors import CompileError, LaunchError
from convlab.executors.compile import compile
from convlab.executors.empty import empty
from convlab.executors.launch import launch
from convlab.executors.plans import run_plan
from convlab.kernels.ladder import method
from convlab.kernels.layers import LAYERS
from convlab.kernels.method import FOLDER, Matmul, Plan
from convlab.kernels.rungs import gemm as rungs
from convlab.ops.conv2d import conv2d
from convlab.ops.gemm import gemm
from convlab.perf.measures import measure
from convlab.reference.direct import oracle
from convlab.spec import ConvSpec, GemmSpec

from .rungs import check_rung
from .specs import nonzero, random_tensors

GEMMS = ("gemm_naive", "gemm_tiled", "gemm_register", "gemm_warp")
SQUARE = LAYERS["gemm"]["square"]
STANDARD = LAYERS["conv2d"]["standard"]
POINTWISE = LAYERS["conv2d"]["pointwise"]
SPEC = ConvSpec(n=5, c=4, h=9, w=7, k=6, r=3, s=2, stride=(2, 1), padding=(1, 0, 2, 1), dilation=(1, 2), groups=2)


def factors(m, n, k, seed=0):
    rng = np.random.default_rng(seed)
    return nonzero(rng, (m, k)).astype("f4"), nonzero(rng, (k, n)).astype("f4")


def assert_product(y, a, b):
    """Every sum of K terms rounds K times; |A|·|B| bounds what is rounded."""
    error = np.abs(y - a.astype("f8") @ b)
    assert (error <= a.shape[1] * np.finfo("f4").eps / 2 * (np.abs(a).astype("f8") @ np.abs(b))).all()


def launched(source, entry, grid, block, m, n, k, options=()):
    """Run a GEMM kernel of some source, and hold its output against NumPy's."""
    a, b = factors(m, n, k)
    y = empty((m, n), "f4")
    kernel = compile(source, f"{entry}.cu", options=options).kernels[entry]
    run = launch(kernel, grid, block, [a, b, y, m, n, k], device="emulator", faults="record")
    assert run.faults == []
    assert_product(np.asarray(y), a, b)
    return run


# What the rungs decline


@pytest.mark.parametrize(
    ("name", "tile"), [("gemm_naive", 8), ("gemm_tiled", 32), ("gemm_register", 64), ("gemm_warp", 64)]
)
def test_a_gemm_declines_more_rows_than_its_grid_has_blocks(name, tile):
    supports = method(name).supports
    assert supports(GemmSpec(65535 * tile, 3, 5)) is None
    reason = f"⌈M / {tile}⌉=65536 tiles of rows are more than the 65535 blocks that a grid can have there."
    assert supports(GemmSpec(65535 * tile + 1, 3, 5)) == reason
    a, b = np.ones((65535 * tile + 1, 1), "f4"), np.ones((1, 1), "f4")
    with pytest.raises(
        ValueError, match=rf"Method '{name}' does not support this gemm: ⌈M / {tile}⌉=65536 tiles of rows"
    ):
        gemm(a, b, method=name, device="emulator")


@pytest.mark.parametrize("name", GEMMS)
def test_a_gemm_declines_sizes_beyond_an_int(name):
    supports = method(name).supports
    assert "2147483648 columns of b are too many for the 32-bit int" in supports(GemmSpec(1, 2**31, 1))
    assert "2147483648 columns of a are too many for the 32-bit int" in supports(GemmSpec(1, 1, 2**31))


@pytest.mark.parametrize(
    ("name", "sizes", "reason"),
    [
        ("im2col_gemm", {"c": 70000}, "C=70000 channels are more than the 65535 blocks"),
        ("im2col_gemm", {"k": 64 * 65536}, "⌈K/G / 64⌉=65536 tiles of filters are more than the 65535 blocks"),
        (
            "im2col_gemm",
            {"c": 128, "h": 512, "w": 512, "r": 7, "s": 7, "padding": 3},
            "The im2col matrix of one image takes 6272.0 MiB, and it may take 256 MiB.",
        ),
        (
            "im2col_gemm",
            {"n": 4096 * 65535 + 1, "c": 1},
            "The im2col matrix comes in 4097 pieces of N=65535 images, and it may come in 4096.",
        ),
        (
            "im2col_gemm",
            {"c": 60000, "h": 200, "w": 250, "r": 200, "s": 250},
            "3000000000 rows of the im2col matrix are too many for the 32-bit int",
        ),
        ("im2col_cublas", {"n": 70000}, "N=70000 images are more than the 65535 blocks"),
        ("im2col_cublas", {"k": 70000}, "K=70000 filters are more than the 65535 blocks"),
        (
            "im2col_cublas",
            {"n": 64, "c": 64, "h": 112, "w": 112, "r": 5, "s": 5, "padding": 2},
            "The im2col matrix of all images takes 4900.0 MiB, and it may take 4096 MiB.",
        ),
        ("pointwise", {"r": 3, "s": 1}, "It computes filters of 1×1 only, and this is 3×1."),
        ("pointwise", {"c": 6, "groups": 2, "k": 4}, "It computes convolutions without groups only, and this is"),
        ("pointwise", {"padding": (0, 1)}, "without padding only, and this is one with padding=(0, 0, 1, 1)."),
        ("pointwise", {"n": 70000}, "N=70000 images are more than the 65535 blocks"),
        ("pointwise", {"k": 64 * 65536}, "⌈K / 64⌉=65536 tiles of filters are more than the 65535 blocks"),
    ],
)
def test_a_convolution_declines_what_it_cannot_with_the_reason(name, sizes, reason):
    spec = ConvSpec(**{"n": 1, "c": 3, "h": 4, "w": 5, "k": 2, "r": 1, "s": 1, **sizes})
    assert reason in method(name).supports(spec)


def test_calling_what_is_declined_raises_the_reason():
    x, w = np.ones((1, 3, 5, 6), "f4"), np.ones((2, 3, 3, 1), "f4")
    with pytest.raises(ValueError, match="'pointwise' does not support this conv2d: It computes filters of 1×1 only"):
        conv2d(x, w, method="pointwise", device="emulator")
    x, w = np.ones((1, 70000, 1, 1), "f4"), np.ones((2, 70000, 1, 1), "f4")
    with pytest.raises(ValueError, match="'im2col_gemm' does not support this conv2d: C=70000 channels are more"):
        conv2d(x, w, method="im2col_gemm", device="emulator")


# The products


@pytest.mark.parametrize("name", ["blas", *GEMMS])
def test_the_operation_multiplies_by_every_method(name):
    a, b = factors(37, 21, 11)
    assert_product(gemm(a, b, method=name), a, b)


@pytest.mark.parametrize("name", [*GEMMS, "im2col_gemm", "pointwise"])
def test_no_rung_has_bank_conflicts_or_stores_parts_of_sectors(name):
    spec = {"im2col_gemm": STANDARD, "pointwise": POINTWISE}.get(name, SQUARE)
    runs = check_rung(name, spec)
    assert measure("bank conflicts", runs, spec) == 0
    assert all(run.counters.sectors_global_store == run.counters.sectors_ideal_global_store for run in runs)


def test_a_warp_of_the_naive_product_loads_five_sectors_for_32_multiply_adds():
    (run,) = check_rung("gemm_naive", SQUARE)
    assert run.counters.sectors_global_load == 5 * SQUARE.macs // 32


@pytest.mark.parametrize(
    ("name", "options", "grid", "block"),
    [
        ("gemm_tiled", ("-DTILE=8",), (12, 9), (8, 8)),
        ("gemm_register", ("-DBM=16", "-DBN=32", "-DBK=4", "-DTM=2", "-DTN=4"), (3, 5), (8, 8)),
        ("gemm_register", ("-DBM=32", "-DBN=16", "-DBK=5"), (6, 3), (2, 4)),
        ("gemm_warp", ("-DBM=32", "-DBN=64"), (2, 3), (32, 1)),
        ("gemm_warp", ("-DBM=32", "-DBN=64", "-DBK=16", "-DTM=4", "-DTN=4"), (2, 3), (128, 1)),
        ("gemm_warp", ("-DBM=128",), (1, 1), (256, 1)),
    ],
)
@pytest.mark.parametrize(("n", "k"), [(91, 23), (92, 24)])
def test_other_tiles_multiply_as_well(name, options, grid, block, n, k):
    launched((FOLDER / f"{name}.cu").read_text(encoding="utf-8"), name, grid, block, 65, n, k, options)


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("gemm_tiled", ("-DTILE=33",), "a block has one thread for each element of the tile, and at most 1024"),
        ("gemm_register", ("-DBM=60",), "the threads' tiles have to fill the block's tile"),
        ("gemm_warp", ("-DBK=2",), "16 bytes are four elements"),
        ("gemm_warp", ("-DBN=96",), "the warps' tiles have to fill the block's tile"),
        ("gemm_warp", ("-DBK=4",), "every thread has to load as much as the others"),
        ("gemm_warp", ("-DBK=64",), "a block has at most 48 KB of static shared memory"),
        ("pointwise", ("-DBM=20",), "8x8 threads have to fill the tile"),
        ("pointwise", ("-DBN=128",), "a thread loads one pixel, in every channel"),
    ],
)
def test_a_tile_that_does_not_fit_is_refused_with_the_reason(name, options, reason):
    with pytest.raises(CompileError, match=reason):
        compile((FOLDER / f"{name}.cu").read_text(encoding="utf-8"), f"{name}.cu", options=options)


@pytest.mark.parametrize("options", [("-DBM=128",), ("-DBM=32", "-DBN=64")])
def test_a_larger_block_is_left_its_registers(options):
    """64 sums a thread do not fit where three blocks of 256 threads have to share an SM."""
    text = (FOLDER / "gemm_warp.cu").read_text(encoding="utf-8")
    found = compile(text, "gemm_warp.cu", options=options).kernels["gemm_warp"].resources
    assert [found[arch].spill_stores for arch in ("sm_75", "sm_90")] == [0, 0]


# A kernel of the same file that gives the product matrices which start in the middle of 16 bytes.
SHIFTED = """
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
shifted(const float* a, const float* b, float* y, int M, int N, int K, int by_a, int by_b, int by_y) {
    multiply(a + by_a, b + by_b, nullptr, y + by_y, M, N, K);
}
"""


@pytest.mark.parametrize("by", [(0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 3), (3, 1, 2)])
def test_matrices_that_start_anywhere_are_multiplied_without_16_byte_access(by):
    a, b = factors(20, 36, 12)
    before_a, before_b, before_y = (np.full(shift, np.nan, "f4") for shift in by)
    y = np.concatenate([before_y, np.full(20 * 36, np.nan, "f4")])
    arrays = [np.concatenate([before_a, a.ravel()]), np.concatenate([before_b, b.ravel()]), y]
    kernel = compile((FOLDER / "gemm_warp.cu").read_text(encoding="utf-8") + SHIFTED, "shifted.cu").kernels["shifted"]
    run = launch(kernel, 1, 128, [*arrays, 20, 36, 12, *by], device="emulator", faults="record")
    assert [fault for fault in run.faults if fault.kind != "unwritten"] == []
    assert_product(y[by[2] :].reshape(20, 36), a, b)
    assert np.isnan(y[: by[2]]).all()


@pytest.mark.parametrize(
    ("k", "requests"),
    [
        (64, (1 + 2) * 4 * 8),  # a thread loads 16 bytes of A and twice 16 of B; 4 warps, 8 steps
        (63, (4 + 2) * 4 * 8 - 1),  # A's elements one by one; and B's row 63, which one warp loads, is not there
    ],
)
def test_rows_of_no_multiple_of_four_cost_four_times_the_requests(k, requests):
    run = launched((FOLDER / "gemm_warp.cu").read_text(encoding="utf-8"), "gemm_warp", 1, 128, 64, 128, k)
    assert run.counters.requests_global_load == requests


# im2col


def columns_of(spec, x):
    """The im2col matrix that the kernel makes of all images."""
    columns = empty((spec.n, spec.c * spec.r * spec.s, spec.p * spec.q), "f4")
    (step, *_) = method("im2col_cublas").plan(spec).launches
    kernel = compile(step.text(), step.source).kernels[step.entry]
    run = launch(kernel, step.grid, step.block, [x, columns, *step.arguments[2:]], device="emulator")
    return np.asarray(columns), run


def test_a_column_is_a_window():
    x, _, _ = random_tensors(SPEC)
    columns, _ = columns_of(SPEC, x)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 0), (2, 1)))
    (u, v), (d, e) = SPEC.stride, SPEC.dilation
    for p in range(SPEC.p):
        for q in range(SPEC.q):
            window = padded[:, :, p * u : p * u + 2 * d + 1 : d, q * v : q * v + e + 1 : e]
            assert (columns[:, :, p * SPEC.q + q] == window.reshape(SPEC.n, -1)).all()


def test_the_matrix_is_stored_in_whole_sectors_and_nine_times_the_input():
    x, _, _ = random_tensors(STANDARD)
    _, run = columns_of(STANDARD, x)
    assert run.counters.sectors_global_store * 32 == 9 * x.nbytes


def test_images_go_piece_by_piece_where_memory_is_short(monkeypatch):
    monkeypatch.setattr(rungs, "PIECE", 2 * 4 * SPEC.c * SPEC.r * SPEC.s * SPEC.p * SPEC.q + 1)
    plan = method("im2col_gemm").plan(SPEC)
    assert [step.grid[2] for step in plan.launches] == [2, 4, 2, 4, 1, 2]
    assert plan.scratch == {"columns": ((2, 24, SPEC.p * SPEC.q), "float32")}
    assert len(check_rung("im2col_gemm", SPEC, optional=True)) == 6


def test_a_piece_has_no_more_groups_than_a_grid_has_blocks():
    plan = method("im2col_gemm").plan(ConvSpec(n=5, c=30000, h=2, w=3, k=30000, r=1, s=1, groups=30000))
    assert [step.grid[2] for step in plan.launches] == [2, 60000, 2, 60000, 1, 30000]


def test_a_plan_has_at_most_4096_pieces():
    spec = ConvSpec(n=2 * 4096, c=30000, h=2, w=1, k=60000, r=2, s=1, groups=30000)
    assert method("im2col_gemm").supports(spec) is None
    assert len(method("im2col_gemm").plan(spec).launches) == 2 * 4096
    more = replace(spec, n=spec.n + 1)
    assert method("im2col_gemm").supports(more) == (
        "The im2col matrix comes in 4097 pieces of N=2 images, and it may come in 4096."
    )


def test_cublas_is_declined_on_the_emulator_with_the_fix():
    x, w, bias = random_tensors(SPEC)
    with pytest.raises(
        LaunchError, match=r"on a GPU only\.\n  Fix: use method='im2col_gemm', whose kernels run on the"
    ):
        conv2d(x, w, bias, (2, 1), (1, 0, 2, 1), (1, 2), groups=2, method="im2col_cublas", device="emulator")


@pytest.mark.parametrize("with_bias", [True, False])
def test_cublas_is_given_matrices_whose_product_is_the_convolution(with_bias):
    """NumPy's matmul stands for CuPy's, which has the same rules."""
    x, w, bias = random_tensors(SPEC, bias=with_bias)
    plan = method("im2col_cublas").plan(SPEC)
    y = np.full(SPEC.output_shape, np.nan, "f4")
    scratch = {name: np.full(shape, np.nan, dtype) for name, (shape, dtype) in plan.scratch.items()}
    arrays = {"x": x, "w": w, "bias": bias, "y": y, **scratch}
    for step in plan.steps:
        if isinstance(step, Matmul):
            a, b, out = (arrays[name].reshape(shape) for name, shape in (step.a, step.b, step.out))
            np.matmul(a, b, out=out)
        else:
            run_plan(Plan((step,)), arrays, "emulator")
    assert np.abs(y - oracle(x, w, bias, SPEC)).max() < 1e-5


# pointwise


@pytest.mark.parametrize(("k", "bm"), [(1, 16), (16, 16), (17, 32), (32, 32), (33, 64), (200, 64)])
def test_a_block_has_as_few_filters_as_hold_all(k, bm):
    (step,) = method("pointwise").plan(ConvSpec(n=2, c=3, h=9, w=15, k=k, r=1, s=1)).launches
    assert step.options == (f"-DBM={bm}",)
    assert step.grid == (3, -(-k // bm), 2)


def test_a_full_tile_multiplies_nothing_in_vain():
    (run,) = check_rung("pointwise", POINTWISE)
    assert run.counters.flop == POINTWISE.flops + POINTWISE.n * POINTWISE.k * POINTWISE.p * POINTWISE.q  # and the bias
