"""Lesson 04: it shows the kernel as it is, its bug can be mended, and its words say what its cells compute."""

from __future__ import annotations

import re

import nbformat
import numpy as np
import pytest

from convlab import course
from convlab.executors.compile import compile
from convlab.executors.empty import empty
from convlab.executors.launch import launch
from convlab.kernels.ladder import method
from convlab.kernels.method import FOLDER
from convlab.ops.conv2d import conv2d
from convlab.spec import ConvSpec

from .running import executed, text_of

PATH = course.shipped("notebooks")["notebooks/04_reuse_and_the_roofline.ipynb"]
SOURCES = {cell.id: cell.source for cell in nbformat.read(PATH, as_version=4).cells}


@pytest.fixture(scope="module")
def book():
    return executed(PATH)


def share(book, cell, number=0):
    """The percentage of the peak that a cell shows, the first or a later one."""
    return float(re.findall(r"([\d.]+)% of the peak, modelled", text_of(book, cell))[number])


def cuda(cell):
    """The kernel of a cell."""
    source = SOURCES[cell].partition("\n")[2]
    (kernel,) = compile(source, name=f"{cell}.cu").kernels.values()
    return kernel


def run_on(kernel, spec, arguments):
    step = method("naive").plan(spec).launches[0]
    return launch(kernel, step.grid, step.block, [*arguments, step.arguments[-1]], device="emulator", faults="record")


def test_the_kernel_is_that_of_the_package():
    text = (FOLDER / "naive.cu").read_text(encoding="utf-8")
    assert SOURCES["kernel"].partition("\n")[2] == text[text.index("#include") :].strip()


@pytest.mark.parametrize("stride", [1, 2])
def test_uses_are_counted_as_a_sum_over_windows_says(stride):
    spec = ConvSpec(n=1, c=3, h=9, w=12, k=5, r=3, s=2, padding=1, stride=stride)
    x_uses, w_uses = np.zeros(spec.input_shape[1:], np.int32), np.zeros(spec.weight_shape, np.int32)
    assert not run_on(cuda("count-kernel"), spec, [x_uses, w_uses]).faults
    padded, taps = np.zeros((spec.h + 2, spec.w + 2), int), np.zeros((spec.r, spec.s), int)
    inside = np.pad(np.ones((spec.h, spec.w), int), 1)
    for p, q in np.ndindex(spec.p, spec.q):
        window = np.s_[stride * p : stride * p + spec.r, stride * q : stride * q + spec.s]
        padded[window] += spec.k
        taps += inside[window]
    assert (x_uses == padded[1:-1, 1:-1]).all()
    assert (w_uses == taps).all()


def test_with_stride_2_pixels_are_used_once_twice_or_four_times_by_each_filter():
    spec = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1, stride=2)
    x_uses, w_uses = np.zeros(spec.input_shape[1:], np.int32), np.zeros(spec.weight_shape, np.int32)
    run_on(cuda("count-kernel"), spec, [x_uses, w_uses])
    assert [*np.unique(x_uses)] == [16, 32, 64]
    along = np.array([1, 2] * 15 + [1, 1])  # even, odd; row 31 has no window behind it
    assert (x_uses == 16 * np.outer(along, along)).all()


def test_the_bug_is_what_the_answer_says_and_the_line_mends_it():
    spec = ConvSpec(n=1, c=4, h=7, w=9, k=3, r=3, s=2, padding=1)
    rng = np.random.default_rng(4)
    x = rng.standard_normal(spec.input_shape, dtype=np.float32)
    w = rng.standard_normal(spec.weight_shape, dtype=np.float32)
    broken = SOURCES["in-memory-kernel"].partition("\n")[2]
    mended = broken.replace("    for (int c", "    *sum = 0.0f;\n    for (int c", 1)
    expected, found = conv2d(x, w, padding=1), {}
    for name, source in {"broken": broken, "mended": mended}.items():
        y = empty(spec.output_shape)
        run = run_on(compile(source, name="m.cu").kernels["conv_in_memory"], spec, [x, w, None, y])
        found[name] = run.faults
    assert np.abs(y - expected).max() < 1e-4
    assert run.arrays["y"].requests_global_load == 0  # the compiler knows the sum from the line on
    assert run.arrays["y"].requests_global_store > spec.c * spec.r * spec.s
    assert [fault.kind for fault in found["broken"]] == ["uninitialized"]
    assert not found["mended"]
    y = np.zeros(spec.output_shape, np.float32)  # the author's test, and a second call
    for times in (1, 2):
        run_on(compile(broken, name="m.cu").kernels["conv_in_memory"], spec, [x, w, None, y])
        assert np.abs(y - times * expected).max() < 1e-4


def test_the_sum_in_memory_costs_what_the_lesson_says(book):
    assert "requests to y: 0 loads, 512 stores" in text_of(book, "launcher")
    assert "the run says 282 times" in text_of(book, "in-memory-run")
    assert "uninitialized" in text_of(book, "bug-report")


def test_bytes_get_fewer_from_level_to_level(book):
    counts = [int(each.replace(",", "")) for each in re.findall(r"([\d,]+) bytes", text_of(book, "levels-run"))]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 4 * (2 * 2_262_016 + 16_384)  # two loads for each multiply-add, one store for each output
    assert counts[-1] == ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1).traffic("float32").total


def test_the_pointwise_layer_changes_sides_with_the_type(book):
    assert "3 × 3 depthwise" in text_of(book, "intensity-run").rpartition("says")[2]
    full, half = text_of(book, "bounds").split("float16")
    assert re.findall(r"by (\w+)", full) == ["arithmetic", "arithmetic", "memory"]
    assert re.findall(r"by (\w+)", half) == ["arithmetic", "memory", "memory"]


def test_the_naive_kernel_hangs_under_the_roof_of_l1_alone(book):
    roofs = [float(each.replace(",", "")) for each in re.findall(r"at most ([\d,]+)", text_of(book, "levels-roofs"))]
    peak = roofs[0]
    assert roofs == [peak, peak, roofs[2], peak, peak, peak]
    speed = float(re.search(r"naive: ([\d,]+)", text_of(book, "levels-roofs"))[1].replace(",", ""))
    assert speed < roofs[2] < peak / 2
    intensity = float(re.search(r"l1 +([\d.]+)", text_of(book, "levels-roofs"))[1])
    assert 2.5 < 1 / intensity < 3  # "almost three bytes for each FLOP"
    assert "waits for load and store units" in text_of(book, "naive-waits")


def test_each_reason_leaves_little_of_the_peak(book):
    assert share(book, "why") > 80
    assert share(book, "small-run") < 5
    assert share(book, "batch-run") == pytest.approx(12, abs=0.5)
    assert share(book, "channels-run", 1) < share(book, "channels-run", 0) < share(book, "why")
    assert share(book, "depthwise-run") < 18
    assert "would allow 18%" in text_of(book, "depthwise-run")
    assert "waits for DRAM" in text_of(book, "depthwise-run")
    assert "would allow 72%" in text_of(book, "channels-run")
    assert share(book, "launch-run") > 3 * share(book, "small-run")
    assert "“naive”" in text_of(book, "launch-run")
