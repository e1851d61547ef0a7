"""The cells of files that real life has been at."""

from __future__ import annotations

import json
import zipfile

import nbformat
import pytest

from convlab.grader.notebook_cells import Cell, read_cells
from convlab.grader.submissions import File

from .papers import cell_of, code, filled, right_answers, written


def cells_of(tmp_path, data):
    path = tmp_path / "卷积 练习.ipynb"
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    return read_cells(File(path))


def answer(cells):
    (found,) = [cell for cell in cells.cells if cell.id == "01-loops"]
    return found


def test_a_released_notebook_filled_in(tmp_path):
    cells = cells_of(tmp_path, filled("01_loops"))
    assert answer(cells) == Cell(True, right_answers()["01-loops"], "01-loops")
    assert (cells.problem, cells.notes, cells.other) == ("", (), None)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_old_versions(version, tmp_path):
    notebook = filled("01_loops")
    if version == 1:
        old = [
            {"cell_type": "code", "code": each["source"], "metadata": each["metadata"]} for each in notebook["cells"]
        ]
        data = {"cells": old, "nbformat": 1}
    else:
        converted = nbformat.convert(nbformat.from_dict(notebook), 3)
        data = json.loads(nbformat.writes(converted, version=3)) | {"nbformat": version}
    assert answer(cells_of(tmp_path, data)).text == right_answers()["01-loops"]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_of_other_systems(end, tmp_path):
    notebook = filled("01_loops")
    cell_of(notebook, "01-loops")["source"] = right_answers()["01-loops"].replace("\n", end)
    data = json.dumps(notebook, indent=1).replace("\n", "\r\n").encode("utf-8-sig")
    assert answer(cells_of(tmp_path, data)).text == right_answers()["01-loops"]


def test_ids_that_a_program_dropped_from_the_metadata(tmp_path):
    notebook = filled("01_loops")
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    assert answer(cells_of(tmp_path, notebook)).text == right_answers()["01-loops"]


def test_a_strangers_id_is_none(tmp_path):
    notebook = filled("01_loops")
    notebook["cells"].append(code("x") | {"metadata": {"nbgrader": {"grade_id": "mine"}}, "id": ["01-loops"]})
    assert cells_of(tmp_path, notebook).cells[-1] == Cell(True, "x", "")


PROBLEMS = {
    "empty": (b"", "The file is empty."),
    "blank": (b"\xef\xbb\xbf \r\n", "The file is empty."),
    "no JSON": (b"PK\x03\x04", "The file is no notebook: it is no JSON in line 1."),
    "half": (b'{"cells": [\n{"cell_type": "co', "The file is no notebook: it is no JSON in line 2."),
    "a list": (b"[]", "The file is no notebook: its JSON holds something else."),
    "a number": (b"1" * 9999, "The file is no notebook: it is no JSON."),
    "no cells": (b"{}", "The file is no notebook: it has no cells."),
    "cells of another kind": (b'{"cells": {"a": 1}}', "The file is no notebook: it has no cells."),
    "nested": (b'{"a":' * 100_000, "The file is no notebook: it is nested too deeply."),
    "HTML": (b"<!doctype html>", "The file is no notebook: it is no JSON in line 1."),
}


@pytest.mark.parametrize(("data", "problem"), PROBLEMS.values(), ids=PROBLEMS)
def test_what_is_no_notebook_gets_one_sentence(data, problem, tmp_path):
    cells = cells_of(tmp_path, data)
    assert (cells.problem, cells.cells) == (problem, ())
    assert len(cells.digest) == 64


@pytest.mark.parametrize(
    "cell", [None, 3, "x", [], {}, {"source": 3}, {"source": [1, None, "x"]}, {"metadata": {"nbgrader": 7}}]
)
def test_cells_of_any_shape_are_survived(cell, tmp_path):
    notebook = filled("01_loops")
    notebook["cells"].insert(3, cell)
    assert answer(cells_of(tmp_path, notebook)).text == right_answers()["01-loops"]


def test_letters_that_are_none_are_replaced_and_noted(tmp_path):
    data = json.dumps(filled("01_loops")).encode().replace(b"windows", b"w\xff\xfendows")
    cells = cells_of(tmp_path, data)
    assert cells.notes == ("The file has letters that are no UTF-8; they were replaced.",)
    assert answer(cells).text == right_answers()["01-loops"]


def test_half_a_letter_in_a_cell_does_not_stop_what_comes_after(tmp_path):
    notebook = filled("01_loops")
    notebook["cells"].append(code("x = '\ud800'"))
    assert cells_of(tmp_path, notebook).cells[-1].text == "x = '?'"


def merged(notebook, line, ours, theirs):
    """The text of a notebook with one of its lines in two versions."""
    text = json.dumps(notebook, indent=1)
    both = f"<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> her branch"
    assert line in text.splitlines()
    return text.replace(line, both).encode()


def test_a_merge_left_open_has_two_versions(tmp_path):
    notebook = filled("01_loops", {"01-loops": "x = 1"})
    cells = cells_of(tmp_path, merged(notebook, '    "x = 1"', '    "x = 2"', '    "x = 3"'))
    assert [cell.text for cell in cells.cells if cell.id == "01-loops"] == ["x = 2"]
    assert [cell.text for cell in cells.other if cell.id == "01-loops"] == ["x = 3"]
    assert cells.notes == ("The file holds the marks of a merge conflict.",)


def test_a_merge_left_open_in_the_outputs_does_not_matter(tmp_path):
    notebook = filled("01_loops")
    cell_of(notebook, "01-loops")["outputs"] = ["OUT"]
    cells = cells_of(tmp_path, merged(notebook, '    "OUT"', '    "[["', '    "a",\n    "]"'))
    assert (cells.other, cells.notes, answer(cells).text) == (None, (), right_answers()["01-loops"])


def test_a_merge_left_open_beside_the_cells_leaves_both_versions_alike(tmp_path):
    cells = cells_of(
        tmp_path, merged(filled("01_loops"), ' "nbformat_minor": 5', ' "nbformat_minor": 5', ' "nbformat_minor": 4')
    )
    assert cells.cells == cells.other
    assert answer(cells).text == right_answers()["01-loops"]


def test_a_merge_that_leaves_no_notebook_is_told(tmp_path):
    notebook = filled("01_loops", {"01-loops": "x = 1"})
    cells = cells_of(tmp_path, merged(notebook, '    "x = 1"', '    "x = 2', '    "x = 3"'))
    assert cells.problem == "The file holds the marks of a merge conflict, and is no notebook with either version."


def test_a_line_of_equals_signs_is_no_conflict(tmp_path):
    text = right_answers()["01-loops"] + "\n# Title\n=======\n"
    assert answer(cells_of(tmp_path, filled("01_loops", {"01-loops": text}))).text == text


def test_a_member_of_a_zip_is_read_like_a_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(written(tmp_path / "a.ipynb", filled("01_loops")), "a.ipynb")
    member = zipfile.ZipFile(tmp_path / "a.zip").infolist()[0]
    assert read_cells(File(tmp_path / "a.zip", member)) == read_cells(File(tmp_path / "a.ipynb"))
