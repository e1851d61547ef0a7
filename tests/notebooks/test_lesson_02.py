"""Lesson 02: its words say what its cells compute."""

from __future__ import annotations

import re

import pytest

from convlab import course

from .running import executed, text_of

PATH = course.shipped("notebooks")["notebooks/02_stride_padding_dilation.ipynb"]


@pytest.fixture(scope="module")
def book():
    return executed(PATH)


def table(book, cell):
    """The numbers of each line of a cell's text, under the words that the line begins with."""
    lines = (re.match(r"(\D[\w ]*?)  +(.*)", line) for line in text_of(book, cell).splitlines())
    return {found[1]: [float(number) for number in re.findall(r"[+-]?\d+\.?\d*", found[2])] for found in lines if found}


def test_the_kernel_has_the_lines_that_the_lesson_names(book):
    assert [line.split("=")[0] for line in text_of(book, "test-lines").splitlines()[:2]] == ["int h ", "int col "]
    assert "if (h >= 0 && h < v.H" in text_of(book, "test-lines")


def test_the_share_of_windows_at_the_border_falls(book):
    shares = [float(share) for share in re.findall(r"([\d.]+)%", text_of(book, "border-run"))]
    assert len(shares) == 5
    assert shares == sorted(shares, reverse=True)


def test_what_each_padding_invents(book):
    corners, ramps = table(book, "corner-run"), table(book, "ramp-run")
    assert corners.pop("zero")[0] == 0.44
    assert set(map(tuple, corners.values())) == {(1, 1, 1)}
    assert (ramps["reflect"][0], ramps["reflect"][-1]) == (0, 0)
    assert (ramps["replicate"][0], ramps["replicate"][-1]) == (0.5, 0.5)
    assert all(abs(ramps[name][end]) > 2 for name in ("zero", "circular") for end in (0, -1))
    assert all(row[1:-1] == [1] * 6 for row in ramps.values())
    assert "none of them" in text_of(book, "ramp-run")


def test_same_and_a_padding_of_one_agree_in_shape_only(book):
    assert "“the shape only”" in text_of(book, "same-run")


def test_stride_costs_sectors_and_dilation_costs_locality(book):
    rows = table(book, "dilated-run")
    sectors, traffic, pixels = zip(*(rows[name] for name in ("plain", "dilation 2", "dilation 4")), strict=True)
    assert sectors == (4, 4, 4)
    assert traffic[0] < traffic[1] < traffic[2]
    assert pixels == (324, 400, 576)
    assert 7.5 < rows["stride 2"][0] < 8
    rest = (rows[name] for name in ("plain", "dilation 2", "dilation 4"))
    assert all(worst > max(others) for worst, *others in zip(rows["stride 2"], *rest, strict=True))
    assert "True" in text_of(book, "stride-run")
    assert "True" in text_of(book, "spread-run")


def test_slips_show_as_the_lesson_says(book):
    missing = {name: numbers[1] for name, numbers in table(book, "symptoms").items()}
    one, two = ("padding on one side", "a filter of 4 rows"), ("padding forgotten", "padding 1 for 5 rows")
    assert [missing[name] for name in one] == [-1, -1]
    assert [missing[name] for name in (*two, "padding 1 at dilation 2")] == [-2, -2, -2]
    assert (missing["as intended"], missing["stride 2 left in"]) == (0, -16)


def test_seams_go_with_the_last_padding(book):
    wrong = [float(share) for share in re.findall(r"([\d.]+)%", text_of(book, "tiles-run"))]
    assert wrong == sorted(wrong, reverse=True)
    assert wrong[2] > 0 == wrong[3]
    assert "says 3 layers" in text_of(book, "tiles-reveal")
