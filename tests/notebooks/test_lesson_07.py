"""Lesson 07: it shows the kernel as it is, and its words say what its cells compute."""

from __future__ import annotations

import re

import nbformat
import pytest

from convlab import course
from convlab.kernels.method import FOLDER

from .running import executed, text_of

PATH = course.shipped("notebooks")["notebooks/07_im2col.ipynb"]


@pytest.fixture(scope="module")
def book():
    return executed(PATH)


def megabytes(book, cell, name):
    """The number that stands before MB, or all numbers, in the line of a cell that starts with a name."""
    line = re.search(rf"^{re.escape(name)}\s+(.*)$", text_of(book, cell), re.M)[1]
    return [float(number) for number in re.findall(r"[\d.]+", line.replace(",", ""))]


def test_the_kernel_is_that_of_the_package():
    shown = next(each.source for each in nbformat.read(PATH, as_version=4).cells if each.id == "kernel")
    text = (FOLDER / "im2col.cu").read_text(encoding="utf-8")
    rung = text[text.index("#include") : text.index("// What a GEMM of ours does")]
    assert shown.partition("\n")[2] == rung.strip()


def test_the_small_examples(book):
    assert text_of(book, "rows-run").split("\n")[:4] == ["a b d e", "b c e f", "d e g h", "e f h i"]
    assert "not at all" in text_of(book, "rows-run")
    assert "shape (9, 4)" in text_of(book, "values-run")
    product, convolved = re.search(r"product: \[\[(.*?)\]\] conv2d: \[(.*?)\]", text_of(book, "values-run")).groups()
    assert product == convolved
    assert "says 36 values" in text_of(book, "values-run")


def test_the_product_is_the_convolution_and_a_batch_has_to_be_turned(book):
    text = text_of(book, "product-run")
    assert "(16, 144) · (144, 1024) = (16, 1024)" in text
    assert float(re.search(r"conv2d: (\S+)", text)[1]) < 1e-4
    here, formula = re.search(r"multiply-adds: ([\d,]+) here, ([\d,]+) by", text).groups()
    assert here == formula
    assert text_of(book, "batch-run").split() == ["reshaped", "WRONG", "reshaped", "and", "turned", "right"]


def test_the_kernel_cuts_each_window_out_once(book):
    text = text_of(book, "elements-run")
    assert "the matrix is right: True" in text
    assert "147,456 stored" in text  # nine times the input
    assert 9 * 16 * 32 * 32 == 147_456
    assert "the same matrix, transposed: True" in text_of(book, "sectors-run")
    assert re.findall(r"(\d+) sectors a store", text_of(book, "sectors-run")) == ["4", "32"]


def test_the_price(book):
    at_one, at_two = text_of(book, "copies-run").split(" stride 1")
    assert {int(each) for each in re.findall(r"\d", at_one)} == {4, 6, 9}
    assert sum(int(each) for each in re.findall(r"\d", at_two.split(" stride 2")[0])) < 36 * 2.25
    text = text_of(book, "factor-run")
    assert "1152 × 12544 = 14,450,688 values" in text
    assert "57.8 MB = 55.1 MiB, 9 × the input" in text
    assert "6.42 MB = 6.125 MiB" in text
    assert "says 2.25 times" in text
    assert re.findall(r"(\d+) × the input", text_of(book, "filters-run")) == ["1", "9", "25", "49"]
    assert round(100 * (2**20 / 1e6 - 1)) == 5  # "the two differ by five per cent"


def test_the_times_and_bytes_are_as_the_words_say(book):
    assert 3 <= float(re.search(r"([\d.]+) times as fast", text_of(book, "time-run"))[1]) <= 8
    text = text_of(book, "bytes-run")
    modelled = {name: int(value) for name, value in re.findall(r"^(\w+) +(\d+) MB of DRAM", text, re.M)}
    assert 10 * modelled["implicit_gemm"] < modelled["im2col_gemm"]
    assert modelled["implicit_gemm"] == int(re.search(r"(\d+) MB compulsory", text)[1])
    assert 25 <= int(re.search(r"^im2col +(\d+)%", text, re.M)[1]) < 33  # "nearly a third"


def test_the_story_is_computed(book):
    assert [megabytes(book, "memory-run", name)[2] for name in ("128 channels  ", "3 channels  ")] == [6577, 154]
    assert megabytes(book, "memory-run", "128 channels, stride 4")[2] == 411
    weights, matrix, output = megabytes(book, "memory-run", "3 channels  ")[1:]
    assert weights < 0.01 * matrix < 0.01 * output
    kept, at_once, one = (float(each) for each in re.findall(r"([\d.]+) GB", text_of(book, "batch-memory")))
    assert (kept, at_once, one) == (8.6, 4.9, 0.15)
    text = text_of(book, "remedies-run")
    sizes = [float(each.replace(",", "")) for each in re.findall(r"([\d,]+) MB", text)]
    assert max(sizes) == sizes[0]
    assert min(sizes) == sizes[-1] < 256
    assert "6272.0 MiB, and it may take 256 MiB" in text
    assert "implicit_gemm: no objection" in text


def test_strips_and_the_implicit_way_change_nothing_but_the_memory(book):
    text = text_of(book, "strips-run")
    assert text.count("same") == 4
    assert "OTHER" not in text
    held = [float(each) for each in re.findall(r"([\d.]+) MiB of columns", text)]
    assert held == sorted(held, reverse=True)
    assert held[-1] < 1
    pieces = re.findall(r"(\d+) launches, matrix of (\d+) images, (\d+) MiB", text_of(book, "pieces"))
    assert pieces == [("2", "1", "7"), ("2", "16", "110"), ("4", "37", "255")]
    assert "the same: True" in text_of(book, "implicit-run")


def test_what_ones_see_and_what_they_do_not(book):
    text = text_of(book, "ones-run")
    assert text.count("random: seen") == 6
    assert re.findall(r"^(.*?) +ones: seen", text, re.M) == ["a row of padding too many"]
    first, second = (float(each) for each in re.findall(r": +(\S+)$", text_of(book, "three-ways").strip(), re.M))
    assert first < 1e-5
    assert second == 0
    errors = re.findall(r"error (\S+), (above|below)", text_of(book, "tolerance-run"))
    assert [where for _, where in errors[1:]] == ["above"] * 3
    assert float(errors[0][0]) < float(errors[-1][0])
    right, wrong = (
        [float(each) for each in re.findall(r"\d+\.\d+", line)] for line in text_of(book, "training").splitlines()
    )
    assert right[-1] == 0
    assert wrong[-1] > 0.7 * wrong[0]


def test_the_article_s_function_and_the_mended_one(book):
    lines = text_of(book, "found-run").splitlines()
    assert [line.partition(": ")[2][:5] for line in lines[:4]] == ["Value", "right", "Value", "WRONG"]
    assert "3 × 3 only" in lines[-1]
    assert text_of(book, "mended-code").count("True") == 3


def test_the_bug_shows_twice_to_the_sanitizer_and_everywhere_to_the_comparison(book):
    text = text_of(book, "bug-run")
    assert "1,502 of 147,456" in text
    assert "x[n=0, c=0, h=-1, w=31], which lies before the start of x" in text
    assert "a few of a thousand" in text
    assert "(2 reads)" in text
