"""Lesson 06: it shows the kernels as they are, and its words say what its cells compute."""

from __future__ import annotations

import re
from textwrap import indent

import nbformat
import pytest

from convlab import course
from convlab.executors.compiler import why_not
from convlab.kernels.method import FOLDER

from .running import executed, text_of

PATH = course.shipped("notebooks")["notebooks/06_more_outputs_per_thread.ipynb"]
SHOWN = r"^{}\s+x ([\d.]+) \+ w ([\d.]+) = ([\d.]+) loads,\s+([\d.]+) instructions; ([\d,]+) sectors"


@pytest.fixture(scope="module")
def book():
    return executed(PATH)


def shown(book, cell, kernel):
    """Loads of x, of w and of both and instructions for a multiply-add, and sectors, as a cell shows them."""
    found = re.search(SHOWN.format(kernel), text_of(book, cell), re.M)
    return [float(number.replace(",", "")) for number in found.groups()]


def text(lines):
    return [line for line in lines.splitlines() if line.strip()]


def test_the_rungs_are_those_of_the_package(book):
    source = next(each.source for each in nbformat.read(PATH, as_version=4).cells if each.id == "constant")
    rung = (FOLDER / "constant_weights.cu").read_text(encoding="utf-8")
    assert text(source)[1:] == text(rung[rung.index("#include") :])
    heart = indent(text_of(book, "rung").rstrip(), 16 * " ")
    assert heart in (FOLDER / "multi_output.cu").read_text(encoding="utf-8")
    assert heart.endswith("sum[m][t] += weight[m] * pixel[t];")


def test_filters_save_pixels_and_images_save_weights(book):
    for outputs in (1, 2, 4, 8):
        x, w, both, *_ = shown(book, "filters-run", f"filters{outputs}")
        assert (x, w, both) == (1 / outputs, 1, 1 + 1 / outputs)
    assert shown(book, "tile-run", "images8")[:3] == [1, 0.125, 1.125]
    assert [shown(book, "tile-run", f"tile{n}x{n}")[2] for n in (2, 4, 8)] == [1, 0.5, 0.25]
    work = [shown(book, "filters-run", f"filters{outputs}")[3] for outputs in (1, 2, 4, 8)]
    assert work == sorted(work, reverse=True)


def test_neighbouring_pixels_ask_for_less_and_move_more(book):
    found = [shown(book, "pixels-run", f"pixels{outputs}") for outputs in (1, 2, 4, 8)]
    asked, work, moved = ([each[i] for each in found] for i in (2, 3, 4))
    assert asked == sorted(asked, reverse=True)
    assert moved == sorted(moved)
    assert work == sorted(work, reverse=True)
    assert "the run says 15.7 sectors" in text_of(book, "pixels-run")
    assert "16 sectors (4 would do)" in text_of(book, "pixels-picture")


def test_the_rung_reads_least(book):
    far, near = zip(
        *re.findall(r"([\d.]+) loads from global, ([\d.]+) from shared", text_of(book, "rung-run")), strict=True
    )
    assert far == tuple(sorted(far, reverse=True))
    assert float(far[1]) == pytest.approx(float(far[0]) / 2, abs=0.001)
    assert float(near[3]) < float(near[2]) / 4


def test_the_split_of_the_work_is_that_of_the_text(book):
    rows = re.findall(r"^(\w+) +(\d+) outputs a thread, +(\d+) a warp", text_of(book, "split"), re.M)
    outputs = {name: (int(thread), int(warp)) for name, thread, warp in rows}
    assert outputs["naive"] == (1, 32)
    assert outputs["multi_output"][0] == 8 * 8
    assert outputs["tensor_core"][1] == 16 * 16


@pytest.mark.skipif(bool(why_not()), reason="registers are counted by NVIDIA's assembler")
def test_the_registers_written_down_are_those_counted(book):
    hidden = executed(PATH, hidden=True)
    for cell in ("registers", "price-run"):
        assert text(text_of(book, cell)) == text(text_of(hidden, cell))
    assert [re.search(r"\d+ of 64 warps", text_of(each, "speed-run"))[0] for each in (book, hidden)] == [
        "48 of 64 warps"
    ] * 2


def test_fewer_warps_are_faster_until_there_are_too_few_blocks(book):
    price = dict(re.findall(r"^(\w+): \d+ registers, (\d+) of 64", text_of(book, "price-run"), re.M))
    assert (price["filters4"], price["pixels4"], price["tile8x8"]) == ("64", "64", "16")
    times = dict(re.findall(r"^(\w+) .*: ([\d.]+) ms, modelled", text_of(book, "speed-run"), re.M))
    assert float(times["multi_output"]) < float(times["naive"]) / 2
    single = re.findall(r"N = +1 +(\w+) .*  ([\d.]+) ms", text_of(book, "batch-run"))
    assert float(dict(single)["naive"]) < float(dict(single)["multi_output"])
    assert "25 % of the scheduler's time" in text_of(book, "latency-few")
    assert "100 % of the scheduler's time" in text_of(book, "latency-many")


def test_an_index_at_run_time_puts_the_sums_into_local_memory(book):
    local = re.findall(r"([\d,]+) accesses of local", text_of(book, "local-run"))
    assert local[0] == "0"
    assert int(local[1].replace(",", "")) > 0


def test_weights_live_where_the_text_says(book):
    numbers = [int(each.replace(",", "")) for each in re.findall(r"([\d,]{3,}) bytes", text_of(book, "weights-run"))]
    _, asked, moved, read, once = numbers
    assert asked > moved > read == once
    assert "the run says 72,192 requests" in text_of(book, "constant-run")
    assert float(re.search(r"difference: (\S+)", text_of(book, "constant-run"))[1]) < 1e-4
    assert "holds 65,536 bytes, and the values have 147,456" in text_of(book, "fits-run")
    assert "the run says 3 launches" in text_of(book, "fits-run")
    fits = [line.rpartition(": ")[2].count(",") + 1 for line in text(text_of(book, "homes"))]
    assert fits == [4, 3, 1, 1, 4]
    times = [float(each) for each in re.findall(r"([\d.]+) ms", text_of(book, "times"))]
    assert times == sorted(times, reverse=True)


def test_the_bug_needs_sixteen_channels(book):
    text = text_of(book, "bug-run")
    assert re.search(r"8 channels, 144 weights a block: wrong outputs of each filter \[0(, 0){15}\]", text)
    assert re.search(r"16 channels, 288 weights a block: .* \[0, 1024(, 0, 1024){7}\]", text)
    assert "reads weights[256], which nobody has written yet" in text
