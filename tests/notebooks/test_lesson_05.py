"""Lesson 05: its kernels differ where they say so, and its words say what its cells compute."""

from __future__ import annotations

import difflib
import re

import nbformat
import pytest

from convlab import course
from convlab.kernels.method import FOLDER

from .running import executed, text_of

PATH = course.shipped("notebooks")["notebooks/05_tiles_and_halos.ipynb"]


@pytest.fixture(scope="module")
def book():
    return executed(PATH)


def kernel(name):
    (source,) = (cell.source for cell in nbformat.read(PATH, as_version=4).cells if cell.id == name)
    return source.splitlines()[1:]


def changes(name):
    """The lines that a kernel has less, and more, than the lesson's own."""
    lines = [line for line in difflib.ndiff(kernel("kernel"), kernel(name)) if line[0] in "-+"]
    return [line[2:].strip() for line in lines if line[0] == "-"], [
        line[2:].strip() for line in lines if line[0] == "+"
    ]


def numbers(text):
    return [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*\.?\d*", text)]


def test_the_broken_kernels_have_one_mistake_each():
    less, more = changes("hasty-kernel")
    assert (len(less), more) == (1, [])
    assert less[0].startswith("__syncthreads();  // or a fast warp reads")
    less, more = changes("bug-kernel")
    assert (len(less), len(more)) == (1, 1)
    assert less[0].replace("j < cols", "j <= B") == more[0]


def test_the_rung_is_shown_from_loading_to_products(book):
    shown = text_of(book, "rung").strip()
    assert shown in (FOLDER / "tiled.cu").read_text(encoding="utf-8")
    assert shown.count("__syncthreads()") == 2
    assert "filter[tap] = taps[tap]" in shown
    assert "sum +=" in shown


def test_the_tile_saves_loads_and_fewer_sectors(book):
    assert "7.64 times" in text_of(book, "tiled-run")
    assert "wrong outputs: 0" in text_of(book, "tiled-run")
    assert "0 wrong outputs" in text_of(book, "uneven-run")
    assert "4.1 times fewer" in text_of(book, "sectors-run")
    sectors = re.findall(r"(\d) sectors", text_of(book, "aligned"))
    assert sectors == ["4", *"3333333", "4"]  # from column −1, one before a sector begins, to 7


def test_without_the_barrier_the_output_is_right_until_the_order_changes(book):
    assert "says “right”" in text_of(book, "hasty-run")
    reports = text_of(book, "hasty-faults")
    assert reports.count("race") == reports.count("(RAW)") == 2
    assert "no __syncwarp() stands between" in reports.partition("\n\n")[0]
    orders = re.findall(
        r"order \d: +(\d+) of 1024 outputs wrong; with both barriers (\d+)", text_of(book, "hasty-seeds")
    )
    assert len(orders) == 5
    assert any(int(wrong) for wrong, _ in orders)
    assert {fine for _, fine in orders} == {"0"}


def test_one_word_more_changes_nothing_and_48_cures(book):
    assert "says 2 wavefronts" in text_of(book, "plus-one-run")
    pitches, counts = (re.findall(r"\d+", line) for line in text_of(book, "pitch-run").splitlines()[:2])
    assert [pitch for pitch, count in zip(pitches, counts, strict=True) if count == "1"] == ["48"]
    assert {"18", "19", "32", "33"} < {*pitches}
    before, after = text_of(book, "pitch-price").splitlines()
    assert numbers(before) == [18, 73728, 9216, 1296]
    assert numbers(after) == [48, 0, 0, 3456]


def test_each_thing_that_the_rung_adds_lowers_a_counter(book):
    lines = text_of(book, "rung-run").splitlines()
    rows = [numbers(line) for line in lines if re.match(r"instructions|sectors|requests|conflicts", line)]
    naive, ours, rung = zip(*rows, strict=True)
    assert ours[0] == max(naive[0], ours[0], rung[0])  # instructions
    assert rung[0] < naive[0]
    assert rung[1] < ours[1] < naive[1]  # sectors
    assert rung[3] == 0  # conflicts


def test_the_time_falls_far_less_than_the_loads_because_reads_remain(book):
    assert numbers(text_of(book, "time-run").partition("says ")[2])[0] < 2
    _, levels = text_of(book, "profiles").split("compulsory", 1)
    size = r"([\d.]+) ([kMG])B"
    bytes_of = {
        name: [float(count) * {"k": 1e3, "M": 1e6, "G": 1e9}[unit] for count, unit in re.findall(size, line)]
        for name, line in re.findall(r"^(naive|tiled) +(.*)$", levels, re.MULTILINE)
    }
    (_, dram, l2, l1), (_, less_dram, less_l2, less_l1) = bytes_of["naive"], bytes_of["tiled"]
    assert less_dram == pytest.approx(dram, rel=0.01)
    assert less_l2 > l2  # "somewhat more"
    assert less_l1 < l1 / 5
    assert text_of(book, "reads").startswith("the rung: 2.0 words")


def test_the_bug_is_seen_by_the_sanitizer_and_not_by_a_small_image(book):
    small, large, report = text_of(book, "bug-run").splitlines()[:3]
    assert small == "12 × 12: 0 of 144 outputs wrong"
    assert large == "32 × 32: 64 of 1024 outputs wrong"  # two columns of 32
    assert "thread (15, 0, 0) reads tile[17], which nobody has written yet" in report
