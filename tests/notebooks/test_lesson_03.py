"""Lesson 03: it shows the kernels as they are, and its words say what its cells compute."""

from __future__ import annotations

import re

import nbformat
import pytest

from convlab import course
from convlab.kernels.method import FOLDER

from .running import executed, text_of

PATH = course.shipped("notebooks")["notebooks/03_one_thread_one_output.ipynb"]


@pytest.fixture(scope="module")
def book():
    return executed(PATH)


def sectors(book, cell, name):
    """The sectors per request of x, w and y that a cell shows under a name."""
    line = re.search(rf"^{re.escape(name)} +x +([\d.]+) +w +([\d.]+) +y +([\d.]+) .* right$", text_of(book, cell), re.M)
    return [float(number) for number in line.groups()]


@pytest.mark.parametrize(("cell", "source"), [("kernel", "naive.cu"), ("rectangles", "mappings/naive_2d.cu")])
def test_the_kernels_are_those_of_the_package(cell, source):
    shown = next(each.source for each in nbformat.read(PATH, as_version=4).cells if each.id == cell)
    text = (FOLDER / source).read_text(encoding="utf-8")
    assert shown.partition("\n")[2] == text[text.index("#include") :].strip()


def test_the_mappings_cost_what_the_lesson_says(book):
    assert sectors(book, "rows-run", "along rows") == [4, 1, 4]
    x, w, y = sectors(book, "filters-run", "down columns")
    assert (x > 31, w, y) == (True, 1, 32)
    x, w, y = sectors(book, "filters-run", "along filters")
    assert (x < 2, w, y) == (True, 16, 16)  # "the trouble has moved from x to w and y"


def test_a_dilation_costs_no_sectors_and_a_stride_nearly_doubles_them(book):
    plain, dilated = (sectors(book, "steps-run", f"stride 1, dil. {dilation}") for dilation in (1, 2))
    assert plain == dilated
    assert 1.9 < sectors(book, "steps-run", "stride 2, dil. 1")[0] / plain[0] < 2
    instructions = text_of(book, "steps-run").split("multiply-add:")[1].split()
    assert float(instructions[1]) <= float(instructions[0])  # "nor is the arithmetic of addresses any harder"
    assert "8 sectors (4 would do), 256 bytes, 128 of them for nothing" in text_of(book, "strided-picture")
    assert "4 sectors, 128 bytes, none for nothing" in text_of(book, "dilated-picture")
    plain, dilated, strided = map(float, re.findall(r"([\d.]+) ns for 1000", text_of(book, "steps-time")))
    if "modelled" in text_of(book, "steps-time"):  # what a GPU measures is its own affair
        assert dilated == pytest.approx(plain, rel=0.1)
        assert strided > 1.2 * plain
    strides = text_of(book, "strides-run").splitlines()[1].split()[1:]
    assert [int(each) for each in strides] == [*range(4, 33, 4), 32, 32]


def test_wider_warps_take_fewer_sectors(book):
    x = [sectors(book, "shapes-run", name)[0] for name in ("32 × 8", "16 × 16", "8 × 32", "4 × 64")]
    assert x == sorted(x)
    assert x[1] < 5
    inputs = [int(each) for each in re.findall(r"= (\d+) inputs", text_of(book, "halo"))]
    assert inputs[1] < inputs[0]  # the square has the shorter border
    busy = re.findall(r"1-D (\d+)%", text_of(book, "halo"))
    others = re.findall(r"(?:32 × 8|16 × 16) (\d+)%", text_of(book, "halo"))
    assert all(int(flat) >= int(other) for flat, other in zip(busy * 2, others[::2] + others[1::2], strict=True))


def test_small_planes_are_all_edge_and_surplus_threads_are_cheap(book):
    shares = [int(each) for each in re.findall(r"(\d+) % of the warps", text_of(book, "edges-run"))]
    assert shares == [100, 100, 50, 25]
    lanes = [float(each) for each in re.findall(r"lanes at work: ([\d.]+)", text_of(book, "edges-run"))]
    assert min(lanes) > 31
    counts = [int(each.replace(",", "")) for each in re.findall(r"([\d,]+) instructions", text_of(book, "return-run"))]
    assert max(counts) < 1.01 * min(counts)


def test_the_bug_shows_on_the_uneven_layer_only(book):
    text = text_of(book, "bug-run")
    assert "32 × 32 outputs a plane: 0 wrong, 0 faults" in text
    assert "5 × 7 outputs a plane: 0 wrong, 1 faults" in text
    assert "y[n=1, k=3, p=5, q=0], which lies after the end of y" in text


def test_who_computes_how_much(book):
    outputs = dict(re.findall(r"^(\w+) +(\d+) a thread", text_of(book, "others"), re.M))
    assert outputs["naive"] == "1" < outputs["tensor_core"]
    assert "1 time" in text_of(book, "reuse")
    assert "in between: 0" in text_of(book, "reuse")
