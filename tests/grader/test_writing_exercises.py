"""The exercise of docs/writing_exercises.md, taken from the page: released, checked, and told from its mutants."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from convlab.checker import exercises
from convlab.checker.check import judge
from convlab.checker.release import released

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "writing_exercises.md").read_text("utf-8")


def block(mark):
    return re.search(rf"<!-- {mark}[^\n]*-->\n```python\n(.*?)```", PAGE, re.DOTALL)[1]


@pytest.fixture
def record(monkeypatch):
    namespace = {"__name__": "e20_row_maxima"}
    exec(compile(block("example"), "e20_row_maxima.py", "exec"), namespace)
    record = namespace["EXERCISE"]
    monkeypatch.setitem(exercises.EXERCISES, record.id, record)
    return record


def answer_of(source):
    namespace = {"np": np}
    exec(source, namespace)
    return namespace["row_maxima"]


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_the_answer_is_right_and_every_mutant_is_named(record, seed):
    assert judge(record, answer_of(block("answer")), seed).passed
    assert len(record.mutants) >= 6
    for mutant in record.mutants:
        for way in mutant.ways:
            assert judge(record, way, seed).diagnosis == mutant.name


def test_the_notebook_is_released_without_its_answer(record, tmp_path):
    notebook = json.loads((ROOT / "solutions" / "01_loops.ipynb").read_text("utf-8"))
    kept = [cell for cell in notebook["cells"] if cell["id"] in ("01-intro", "01-setup", "01-loops", "01-loops-check")]
    for cell, text in zip(kept[2:], (block("answer"), 'cl.check("20-row-maxima", row_maxima)'), strict=True):
        cell["source"] = text
        cell["id"] = cell["metadata"]["nbgrader"]["grade_id"] = cell["id"].replace("01-loops", record.id)
        if "points" in cell["metadata"]["nbgrader"]:
            cell["metadata"]["nbgrader"]["points"] = record.points
    path = tmp_path / "20_own.ipynb"
    path.write_text(json.dumps(notebook | {"cells": kept}), "utf-8")
    text = json.loads(released(path))
    source = "".join(text["cells"][2]["source"])
    assert "BEGIN SOLUTION" not in source
    assert judge(record, answer_of(source), 1).status == "not_attempted"


def test_the_commands_and_the_files_of_the_page_exist():
    for name in (
        "convlab/checker/exercises/e05_halo.py",
        "convlab/checker/exercises/e07_memory.py",
        "tools/document_exercises.py",
    ):
        assert Path(name).name in PAGE
        assert (ROOT / name).exists()
