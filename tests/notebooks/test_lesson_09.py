"""Lesson 09: it shows the rung as it is, its bug can be mended, and its words say what its cells compute."""

from __future__ import annotations

import re
from itertools import pairwise
from textwrap import indent

import nbformat
import numpy as np
import pytest

from convlab import course
from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.executors.machine_code import machine_code
from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.method import FOLDER
from convlab.ops.conv2d import conv2d
from convlab.spec import ConvSpec

from .running import executed, text_of

PATH = course.shipped("notebooks")["notebooks/09_implicit_gemm.ipynb"]
SOURCES = {cell.id: cell.source for cell in nbformat.read(PATH, as_version=4).cells}
RUNG = "".join((FOLDER / name).read_text(encoding="utf-8") for name in ("implicit_gemm.cu", "column.cuh"))
UNEVEN = ConvSpec(n=2, c=3, h=9, w=14, k=16, r=2, s=5, stride=(2, 1), padding=(1, 0, 2, 1))


@pytest.fixture(scope="module")
def book():
    return executed(PATH)


def found(book, cell, pattern):
    """The numbers that a pattern's groups find in what a cell shows."""
    match = re.search(pattern, text_of(book, cell), re.M)
    assert match, (cell, pattern, text_of(book, cell))
    return [float(text.replace(",", "")) for text in match.groups()]


@pytest.mark.parametrize("cell", ["weighed-explain", "column", "pipeline-explain"])
def test_the_pieces_are_those_of_the_rung(cell):
    pieces = re.findall(r"```cpp\n(.*?)```", SOURCES[cell], re.S)
    assert pieces
    for piece in pieces:
        assert any(indent(piece, " " * depth) in RUNG for depth in (4, 8))


def test_two_numbers_are_an_address(book):
    assert "c, r, s = (11, 0, 1)" in text_of(book, "channel-run")
    assert "every element the same: True" in text_of(book, "all-run")


def test_nothing_of_the_matrix_is_stored(book):
    assert text_of(book, "divided-run").count("0 outputs wrong, 0 faults") == 2
    assert "{'x': 0, 'w': 0, 'y': 65536}" in text_of(book, "divided-run")
    assert 4 * 16 * 32 * 32 == 65536  # the outputs alone


def test_the_compiler_hoists_what_it_can(book):
    text = text_of(book, "lines-run")
    assert re.search(r"^ +[\d.]+ +3 +int c = k", text, re.M)
    assert "int image" not in text
    assert text.count(" divisions have no line") == 1
    assert "says “once”" in text
    written = SOURCES["divided"]
    assert len(re.findall(r"[/%] ?[v(]", written[written.index("int c") : written.index("int h")])) == 8


def test_counting_costs_more_by_the_counter_and_less_on_the_machine(book):
    assert "wrong on the uneven layer: 0" in text_of(book, "counted-run")
    (dividing,), (counting,) = (found(book, cell, r"([\d.]+) instructions") for cell in ("lines-run", "counted-run"))
    assert counting > dividing
    (extra,) = found(book, "machine-run", r"takes (\d+) machine instructions more")
    assert extra == int(re.search(r"extra = (\d+)$", SOURCES["machine-run"], re.M)[1])
    assert 18 <= extra <= 25  # "some twenty"
    before, inside, after = found(
        book, "weighed-run", r"divided: (\d+) instructions, (\d+) of them divisions: (\d+) on"
    )
    assert inside == 3
    assert 0.45 < (after - before) / after < 0.5  # "nearly half of the work"
    assert found(book, "weighed-run", r"counted: (\d+) instructions, 0 of them divisions: \1 on") == [round(counting)]


def compiled(cell, *changes, options=()):
    """A kernel of the lesson with some of its text changed."""
    source = SOURCES[cell].partition("\n")[2]
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return compile(source, name="lesson.cu", options=options).kernels["product"]


def test_no_gpu_divides_integers_and_constants_need_not_be():
    """The machine code has no division; of "Try it", the divisions that are left stand outside of the loop."""
    names = {text.split()[0].partition(".")[0] for text in machine_code(compiled("divided"), "sm_80")}
    assert not any("DIV" in name for name in names)
    ptx = compile(SOURCES["divided"].partition("\n")[2], name="lesson.cu", options=("-DFILTER=3",)).ptx
    lines = [line for line in ptx.splitlines() if re.match(r"\s+(div|rem|\.loc)", line)]
    places = [last for last, line in pairwise(lines) if re.match(r"\s+(div|rem)", line)]
    divided = SOURCES["divided"].splitlines()
    number = next(at for at, line in enumerate(divided) if "int c = k" in line)  # the first line is no CUDA C
    assert not any(re.search(rf"\.loc\s+1 {number} ", place) for place in places)


def test_addresses_are_shared_by_all_filters(book):
    costs = [found(book, "often-run", rf"{k} filters: ([\d.]+)")[0] for k in (16, 32, 64)]
    assert costs == sorted(costs, reverse=True)
    assert costs[2] < 2
    assert found(book, "often-run", r"naive: +([\d.]+)")[0] > 7


def test_the_traffic_is_as_the_words_say(book):
    assert "says 10 times" in text_of(book, "traffic-run")
    stored = {name: found(book, "traffic-run", rf"^{name} +([\d,]+) ")[0] for name in ("im2col_gemm", "implicit_gemm")}
    assert stored["im2col_gemm"] == 10 * stored["implicit_gemm"]  # nine times the output for the matrix, and the output
    loads = [found(book, "arrays-run", rf"^{name} .*'x': (\d+)")[0] for name in stored]
    assert loads[0] == loads[1]
    assert 2.5 < found(book, "arrays-run", r"im2col_gemm moves ([\d.]+) times")[0] < 3
    dram = {name: found(book, "dram-run", rf"^{name} .* (\d+) MB DRAM, modelled; +(\d+) MB comp") for name in stored}
    assert dram["implicit_gemm"][0] == dram["implicit_gemm"][1]
    assert 9 < dram["im2col_gemm"][0] / dram["implicit_gemm"][0] < 12  # "ten times as much"
    gemm, whole = (
        found(book, "time-run", rf"{name} +([\d.]+) ms, modelled")[0] for name in ("batched", "conv_implicit_gemm")
    )
    assert gemm == pytest.approx(whole, rel=0.1)  # "about as long"


def test_two_stages_hide_the_loads_with_one_barrier(book):
    (one, all_one), (two, all_two) = (
        found(book, "pipeline-run", rf"{name}: waits ([\d,]+) of ([\d,]+)") for name in ("one stage", "two stages")
    )
    assert one / all_one > 2 * two / all_two
    assert "says 1." in text_of(book, "barriers-run")


TWO_STAGES = (
    ("A[T][T], B[T][T]", "A[2][T][T], B[2][T][T]"),
    ("    float sum = 0.0f;", "    float sum = 0.0f;\n    int stage = 0;"),
    ("first += T)", "first += T, stage ^= 1)"),
    ("A[i][j] =", "A[stage][i][j] ="),
    ("B[i][j] =", "B[stage][i][j] ="),
    ("A[i][t] * B[t][j]", "A[stage][i][t] * B[stage][t][j]"),
)
TWO_BARRIERS = (("* B[t][j];\n", "* B[t][j];\n        __syncthreads();\n"),)


@pytest.mark.parametrize(
    ("changes", "races"), [((), 2), (TWO_STAGES, 0), (TWO_BARRIERS, 0)], ids=["as it is", "two stages", "two barriers"]
)
def test_the_bug_is_a_race_and_both_ways_mend_it(changes, races):
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(shape, dtype=np.float32) for shape in (UNEVEN.input_shape, UNEVEN.weight_shape))
    y = np.full(UNEVEN.output_shape, np.nan, np.float32)
    grid = -(-UNEVEN.gemm_shape.gemm_n // 16), -(-UNEVEN.k // 16)
    kernel = compiled("bug", *changes)
    run = launch(kernel, grid, (16, 16), [x, w, y, conv_struct(UNEVEN)], device="emulator", faults="record")
    assert [fault.kind for fault in run.faults] == ["race"] * races
    assert all("WAR" in fault.message for fault in run.faults)
    assert np.allclose(y, conv2d(x, w, stride=UNEVEN.stride, padding=UNEVEN.padding), atol=1e-4)


def test_the_bug_s_outputs_are_right(book):
    assert text_of(book, "bug-run").count("0 outputs wrong") == 2
    assert "somebody overwrites too early" in text_of(book, "bug-run")
