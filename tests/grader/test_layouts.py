"""Whose a file is: names as LMSs mangle them."""

from __future__ import annotations

import pytest

from convlab.grader.layouts import Owner, layout_of, owner_of, unwrapped

NOTEBOOKS = ["01_loops", "05_tiles"]

PATHS = {
    "Canvas": ("lovelaceada_1742_93811_01_loops.ipynb", "canvas", Owner("lovelaceada", "canvas", "1742")),
    "Canvas, late": (
        "lovelaceada_LATE_1742_93811_01_loops.ipynb",
        "canvas",
        Owner("lovelaceada", "canvas", "1742", late=True),
    ),
    "Canvas, again": (
        "lovelaceada_1742_93811_01_loops-2.ipynb",
        "canvas",
        Owner("lovelaceada", "canvas", "1742", attempt=2),
    ),
    "Canvas, Chinese": ("李雷_1742_93811_卷积.ipynb", "canvas", Owner("李雷", "canvas", "1742")),
    "Canvas, in a folder": (
        "hw/lovelaceada_1742_93811_my work.ipynb",
        "canvas",
        Owner("lovelaceada", "canvas", "1742"),
    ),
    "Moodle": (
        "Ada Lovelace_1742_assignsubmission_file_/01_loops.ipynb",
        "moodle",
        Owner("Ada Lovelace", "moodle", "1742"),
    ),
    "Moodle, no folders": (
        "Ada O'Neil_1742_assignsubmission_file_01_loops.ipynb",
        "moodle",
        Owner("Ada O'Neil", "moodle", "1742"),
    ),
    "Moodle, newer": (
        "Ada Lovelace_1742_assignsubmission_file/x.ipynb",
        "moodle",
        Owner("Ada Lovelace", "moodle", "1742"),
    ),
    "Moodle, deep": (
        "week1/A_B_17_assignsubmission_file_/mine/01_loops (1).ipynb",
        "moodle",
        Owner("A_B", "moodle", "17", attempt=1),
    ),
    "nbgrader": ("ada/01_loops/01_loops.ipynb", "folders", Owner("ada", assignment="01_loops")),
    "nbgrader, from above": ("submitted/ada/ps1/01_loops.ipynb", "folders", Owner("ada", assignment="ps1")),
    "a folder": ("ada, b/01_loops.ipynb", "folders", Owner("ada, b")),
    "loose": ("ada_01_loops.ipynb", "flat", Owner("ada")),
    "loose, the other way": ("01_loops - Ada Lovelace.ipynb", "flat", Owner("Ada Lovelace")),
    "loose, a name alone": ("=ada.ipynb", "flat", Owner("=ada")),
    "loose, the notebook's name alone": ("01_loops.ipynb", "flat", Owner("01_loops")),
    "loose, with a year": ("ada_2027_01_loops.ipynb", "flat", Owner("ada_2027")),
}


@pytest.mark.parametrize(("path", "layout", "owner"), PATHS.values(), ids=PATHS)
def test_a_path_tells_its_owner(path, layout, owner):
    parts = tuple(path.split("/"))
    found = layout_of([parts], NOTEBOOKS)
    assert found.name == layout
    assert owner_of(parts, found, NOTEBOOKS) == owner


def test_the_layout_is_that_of_most_and_others_are_read_by_their_folders():
    paths = [(f"s{i}_1{i}_400{i}_01_loops.ipynb",) for i in range(3)] + [("ada", "01_loops.ipynb"), ("bob.ipynb",)]
    layout = layout_of(paths, NOTEBOOKS)
    assert layout.name == "canvas"
    assert [owner_of(path, layout, NOTEBOOKS).student for path in paths] == ["s0", "s1", "s2", "ada", "bob"]


WRAPPED = {
    "loose files": ([("hw", "ada.ipynb"), ("hw", "bob.ipynb")], [("ada.ipynb",), ("bob.ipynb",)]),
    "two folders deep": (
        [("a", "b", "ada", "x.ipynb"), ("a", "b", "bob", "x.ipynb")],
        [("a", "b", "ada", "x.ipynb"), ("a", "b", "bob", "x.ipynb")],
    ),
    "a student's notebooks": ([("ada", "01_loops.ipynb"), ("ada", "05_tiles.ipynb")], None),
    "a student's assignments": ([("ada", "01_loops", "a.ipynb"), ("ada", "05_tiles", "a.ipynb")], None),
    "one file": ([("ada", "x.ipynb")], None),
    "two students": ([("ada", "x.ipynb"), ("bob", "x.ipynb")], None),
}


@pytest.mark.parametrize(("paths", "expected"), WRAPPED.values(), ids=WRAPPED)
def test_a_folder_around_everything_is_no_student(paths, expected):
    assert unwrapped(paths, NOTEBOOKS) == (expected or paths)
