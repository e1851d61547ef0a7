"""Lesson 10: its words say what its cells compute, and it shows the kernels as they are."""

from __future__ import annotations

import re

import nbformat
import numpy as np
import pytest

from convlab import course
from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.kernels.method import FOLDER

from .running import executed, text_of

PATH = course.shipped("notebooks")["notebooks/10_tensor_cores.ipynb"]


@pytest.fixture(scope="module")
def book():
    return executed(PATH)


def counts(book, cell, name):
    """The two numbers of a row of a table."""
    line = re.search(rf"^{re.escape(name)} +([\d,.]+) +([\d,.]+)$", text_of(book, cell), re.MULTILINE)
    return [float(number.replace(",", "")) for number in line.groups()]


@pytest.mark.parametrize(("cell", "source"), [("rung", "tensor_core.cu"), ("heart", "mma_tile.cuh")])
def test_the_pieces_are_those_of_the_package(book, cell, source):
    shown = text_of(book, cell).strip()
    assert shown in (FOLDER / source).read_text(encoding="utf-8")
    assert shown.count("\n") > 10


def test_the_kernels_of_the_lesson_are_right(book):
    assert "and 0 of 16,384 outputs are wrong" in text_of(book, "wmma-run")
    assert text_of(book, "hand-run").startswith("0 of 128 sums are wrong\n1 of ")
    assert "the same output: True" in text_of(book, "per-tap-run")
    assert text_of(book, "bug-run").startswith("0 of 16,384 outputs are wrong")


def test_half_a_warp_is_an_error(book):
    assert "works on a matrix with 16 lanes of its warp: this instruction takes all 32" in text_of(book, "half-run")
    assert "the run says “an error”" in text_of(book, "half-run")


def test_the_naive_port_is_slower_by_the_model_and_needs_more_instructions(book):
    found = re.findall(r"(\d\.\d+) instructions", text_of(book, "floor-run"))
    _, ordinary = map(float, found)
    ported = float(re.search(r"says (\d\.\d+)", text_of(book, "rung-run"))[1])
    assert 1 < ordinary < ported
    if text_of(book, "rung-run").count("modelled") == 2:  # what a GPU measures is its own affair
        slow, fast = map(float, re.findall(r"([\d.]+) ms", text_of(book, "rung-run"))[::-1])
        assert fast < slow
    assert float(re.search(r"([\d.]+)% multiply matrices", text_of(book, "rung-run"))[1]) < 1


def test_a_larger_tile_saves_loads_and_instructions_but_not_enough(book):
    rows = re.findall(r"BM = \d+: ([\d.]+) instructions, +([\d,]+) sectors", text_of(book, "tile-run"))
    (few, few_sectors), (many, many_sectors) = ((float(a), int(b.replace(",", ""))) for a, b in rows)
    assert few_sectors == 4 * many_sectors
    assert many == pytest.approx(few / 2, rel=0.1)
    ordinary = float(re.findall(r"(\d\.\d+) instructions", text_of(book, "floor-run"))[1])
    assert many >= ordinary  # "no less than implicit_gemm needs"


def test_feeding_by_hand_takes_fewer_of_everything(book):
    for name, factor in (("instructions", 10), ("requests_global_load", 50), ("sectors_global_load", 10)):
        before, after = counts(book, "feed-run", name)
        assert before > factor * after
    assert counts(book, "feed-run", "conflicts_shared_load") == [0, 0]
    if text_of(book, "times").count("modelled") == 4:
        times = [float(each) for each in re.findall(r"([\d.]+) ms", text_of(book, "times"))]
        assert times[2] > 10 * times[3]  # "a factor of ten and more"
    assert "says 4 wavefronts" in text_of(book, "banks-swizzle")
    assert "in 32 wavefronts" in text_of(book, "banks-plain")


def test_useful_shares_are_what_the_lesson_says(book):
    assert "useful: flattened 36.9%, per tap 8.2%" in text_of(book, "per-tap-run")
    shares = re.findall(r"(\d+) +(\d+) +([\d.]+)%", text_of(book, "idle-table"))
    found = {(int(c), int(k)): float(share) for c, k, share in shares}
    assert found[16, 16] == found[64, 128] == 100
    assert found[20, 20] < found[16, 16]  # "20 does worse than 16"


def test_sums_in_half_lose_more_the_longer_they_are(book):
    rows = re.findall(r"FP16 ([\d.]+)%, FP32 ([\d.]+)%", text_of(book, "accumulators-run"))
    half, single = ([float(row[i]) for row in rows] for i in (0, 1))
    assert half == sorted(half)
    assert all(a > 1000 * b for a, b in zip(half, single, strict=True))
    assert "error in FP16: inf" in text_of(book, "accumulators-run")
    same, double = re.findall(r"FP16 +(\d+), in FP32 +(\d+)", text_of(book, "acc-price"))
    assert same[0] == same[1]
    assert int(double[0]) == pytest.approx(2 * int(double[1]), abs=1)


def test_the_bug_is_two_races_within_a_warp(book):
    text = text_of(book, "bug-run")
    assert text.count("no __syncwarp() stands between") == 2
    assert "(RAW)" in text
    assert "(WAR)" in text


def test_the_two_barriers_of_the_folded_answer_mend_it():
    (source,) = (cell.source for cell in nbformat.read(PATH, as_version=4).cells if cell.id == "bug")
    source = source.partition("\n")[2]
    for line in ("wmma::load_matrix_sync(a, w + k, depth);", "wmma::mma_sync(sum, a, b, sum);"):
        assert source.count(line) == 1
        source = source.replace(line, f"__syncwarp(); {line}")
    rng = np.random.default_rng(1)
    w, columns = rng.random((16, 48)).astype(np.float16), rng.random((48, 64)).astype(np.float16)
    y = np.full((16, 64), np.nan, np.float32)
    arguments = [w, columns, y, 48, 64]
    run = launch(compile(source).kernels["multiply"], 1, 128, arguments, device="emulator", faults="record")
    assert run.faults == []
    assert y == pytest.approx(w.astype(np.float32) @ columns.astype(np.float32), rel=1e-5)
