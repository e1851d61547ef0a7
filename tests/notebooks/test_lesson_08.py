"""Lesson 08: it shows the rungs as they are, and its words say what its cells compute."""

from __future__ import annotations

import re

import nbformat
import numpy as np
import pytest

from convlab import course
from convlab.executors.compile import compile
from convlab.executors.compiler import why_not
from convlab.executors.launch import launch
from convlab.kernels.method import FOLDER
from convlab.reference.cpu_gemm import CPU_GEMM

from .running import executed, text_of

PATH = course.shipped("notebooks")["notebooks/08_gemm.ipynb"]
SOURCES = {cell.id: cell.source for cell in nbformat.read(PATH, as_version=4).cells}
SHOWN = r"^{} +([\d,]+) +([\d,]+) +([\d,]+) +([\d.]+) +([\d,]+) +(\d+)$"
M, N, K = 64, 128, 96
WARPS = M * N // 32  # with an output for each lane


@pytest.fixture(scope="module")
def book():
    return executed(PATH)


def shown(book, cell, name):
    """Load requests, sectors, reads of shared memory a multiply-add, barriers, conflicts, requests to shared memory."""
    found = re.search(SHOWN.format(re.escape(name)), text_of(book, cell), re.M)
    requests, sectors, near, *rest = (float(number.replace(",", "")) for number in found.groups())
    return [requests, sectors, *rest, near]


def changed(cell, *changes):
    """A cell's CUDA C, compiled after the reader's changes."""
    source = SOURCES[cell].partition("\n")[2]
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new)
    return next(iter(compile(source).kernels.values()))


def product(kernel, tile, block, sizes=(M, N, K), **options):
    """The run, and how many outputs are wrong."""
    m, n, k = sizes
    rng = np.random.default_rng(8)
    a, b = rng.standard_normal((m, k), dtype=np.float32), rng.standard_normal((k, n), dtype=np.float32)
    y = np.full((m, n), np.nan, np.float32)
    grid = (-(-n // tile[1]), -(-m // tile[0]))
    run = launch(kernel, grid, block, [a, b, y, m, n, k], device="emulator", **options)
    return run, int((~(np.abs(y - a @ b) < 1e-3)).sum())


@pytest.mark.parametrize(
    ("cell", "name", "first"), [("naive", "gemm_naive", "extern"), ("tiled", "gemm_tiled", "#ifndef")]
)
def test_the_rungs_are_those_of_the_package(cell, name, first):
    rung = (FOLDER / f"{name}.cu").read_text(encoding="utf-8")
    assert SOURCES[cell].partition("\n")[2] == rung[rung.index(first) :].rstrip()


def test_the_main_loop_shown_is_that_of_gemm_warp(book):
    heart = text_of(book, "warp-source").rstrip()
    assert heart in (FOLDER / "gemm_warp.cu").read_text(encoding="utf-8")
    assert heart.count("__syncthreads();") == 1
    assert heart.endswith("}")


def test_the_layer_of_the_article_has_these_sizes(book):
    text = text_of(book, "macs-run")
    assert "W is 256 × 1152, X_col is 1152 × 12544" in text
    assert "3,699,376,128" in text


def test_the_cpu_ladder_is_measured_rung_by_rung(book):
    text = text_of(book, "cpu-run")
    for name in (*CPU_GEMM, "NumPy's BLAS"):
        assert re.search(rf"^{name} +[\d.]+ times +[\d.]+ +[\d.]+ ms$", text, re.M), name
    assert "measured on this machine" in text
    assert re.search(r"i, k, j +[\d.]+ times", text)
    assert "2048 bytes" in text_of(book, "power")
    assert "def _memory_tile" in text_of(book, "inside")
    assert "the article's gain: 13.3 times" in text_of(book, "story")


def test_a_warp_of_the_naive_kernel_takes_five_sectors(book):
    assert "the run says 5 sectors" in text_of(book, "naive-run")
    assert "wrong outputs: 0" in text_of(book, "naive-run")
    requests, sectors, *_ = shown(book, "naive-run", "naive")
    assert (requests, sectors) == (2 * WARPS * K, 5 * WARPS * K)


def test_tiles_save_loads_and_no_reads(book):
    naive, tiled = (shown(book, "tiled-run", name) for name in ("naive", "tiled"))
    assert "the run says 32 times fewer" in text_of(book, "tiled-run")
    assert naive[1] == 20 * tiled[1]
    assert tiled[2] == 2
    assert tiled[4] == 0
    assert tiled[5] == naive[0]


def test_outputs_in_registers_halve_the_reads_with_each_doubling(book):
    rows = {t: shown(book, "registers-run", f"{t} × {t}") for t in (1, 2, 4, 8)}
    assert [rows[t][2] for t in rows] == [2 / t for t in rows]
    for measure in (0, 1):
        counts = [row[measure] for row in rows.values()]
        assert counts == [counts[0] / t for t in rows]
    assert rows[8] == shown(book, "warp-run", "register")  # the rung itself
    assert rows[8][0] < shown(book, "tiled-run", "tiled")[0]


def test_warp_tiles_take_fewer_requests_and_half_the_barriers(book):
    register, warp = (shown(book, "warp-run", name) for name in ("register", "warp"))
    assert register[0] / warp[0] == pytest.approx(5.3, abs=0.1)
    assert (register[2], warp[2]) == (0.25, 0.25)
    assert register[5] == 4 * warp[5]
    assert register[3] == 4 * 24  # two blocks of two warps
    assert "the run says 12 barriers" in text_of(book, "warp-run")
    assert warp[4] == 0


def test_each_rung_removes_what_the_one_before_waits_for(book):
    rows = re.findall(
        r"^(gemm_\w+) +([\d.]+) issued, ([\d.]+) times as fast\n.*; waits for (.*)$", text_of(book, "ladder"), re.M
    )
    names, instructions, times, waits = zip(*rows, strict=True)
    assert names == ("gemm_naive", "gemm_tiled", "gemm_register", "gemm_warp")
    assert [float(each) for each in instructions] == sorted(map(float, instructions), reverse=True)
    assert [float(each) for each in times] == sorted(map(float, times))
    assert [each.partition(" (")[0] for each in waits] == [
        *["load and store units"] * 2,
        "issue slots",
        "floating-point lanes",
    ]


def test_a_low_matrix_leaves_most_of_a_tile_idle(book):
    rows = dict(re.findall(r"^(gemm_\w+) +([\d.]+) multiply-adds for each one", text_of(book, "shape-run"), re.M))
    assert (float(rows["gemm_naive"]), float(rows["gemm_warp"])) == (1, 4)
    assert re.search(r"gemm_warp .* 8 blocks of 128 threads", text_of(book, "shape-run"))


def test_the_bugs_are_a_race_and_an_early_return(book):
    first, second = text_of(book, "bug-run").split("37 × 50")
    assert "64 × 128: 0 of 8192 outputs are wrong" in first
    assert "race" in first
    assert "barrier" in first
    assert "skipped" not in first
    assert "skipped" in second
    assert "which nobody has written yet" in second
    assert "those of the second" in second
    wrong = [int(each) for each in re.findall(r": (\d+) wrong", text_of(book, "bug-seeds"))]
    assert len(wrong) == 4
    assert min(wrong) > 0


@pytest.mark.skipif(bool(why_not()), reason="the reader's changes have to be compiled")
def test_what_the_reader_is_asked_to_try_does_what_the_text_says():
    exchange = (("threadIdx.x", "@"), ("threadIdx.y", "threadIdx.x"), ("@", "threadIdx.y"))
    swap = exchange + tuple(
        (old.replace("threadIdx", "blockDim"), new.replace("threadIdx", "blockDim")) for old, new in exchange
    )
    run, wrong = product(changed("naive", *swap), (32, 8), (32, 8))
    assert (wrong, run.counters.sectors_global_load) == (0, 33 * WARPS * K)
    run, wrong = product(changed("tiled", ("#define TILE 32", "#define TILE 16")), (16, 16), (16, 16))
    assert (wrong, run.counters.requests_global_load, run.counters.sectors_global_load) == (0, 2 * 1536, 2 * 6144)
    mended = changed(
        "bug",
        ("    if (m >= M || n >= N) return;\n", ""),
        (
            "if (tx < steps) As[ty][tx] = a[m * K + k0 + tx]",
            "As[ty][tx] = m < M && tx < steps ? a[m * K + k0 + tx] : 0",
        ),
        (
            "if (ty < steps) Bs[ty][tx] = b[(k0 + ty) * N + n]",
            "Bs[ty][tx] = n < N && ty < steps ? b[(k0 + ty) * N + n] : 0",
        ),
        ("Bs[k][tx];\n", "Bs[k][tx];\n        __syncthreads();\n"),
        ("    y[m * N + n]", "    if (m < M && n < N) y[m * N + n]"),
    )
    for seed in (None, 0, 1):
        run, wrong = product(mended, (16, 16), (16, 16), (37, 50, 61), faults="record", seed=seed)
        assert (wrong, run.faults) == (0, [])
