"""The reference answers, taken from where learners' stubs are made from: solutions/."""

import json
from pathlib import Path

import numpy as np
import pytest

import convlab as cl
from convlab.checker import EXERCISES
from convlab.checker.notebook import _run_cell

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def sources():
    """The source of the answer to each exercise, by id."""
    found = {"00-one-line": _lesson_00()}
    for path in (ROOT / "solutions").glob("*.ipynb"):
        found |= _cells(path)
    return {record.id: found[record.id] for record in EXERCISES.values()}


def _cells(path):
    return {cell["id"]: "".join(cell["source"]) for cell in json.loads(path.read_text("utf-8"))["cells"]}


def _lesson_00():
    """The lesson's kernel with the line changed as asked, and the function that the lesson launches it with."""
    cells = _cells(ROOT / "notebooks" / "00_start_here.ipynb")
    kernel = cells["your-kernel"].partition("\n")[2].replace("= a[i] + b[i]", "= 2.0f * a[i] + b[i]")
    function = cells["your-check"].partition("\n\n\ncl.check")[0]
    return f"import convlab as cl\nmine = cl.compile({kernel!r})\n{function}"


@pytest.fixture(scope="session")
def answers(sources):
    """The answer to each exercise, by id."""
    return {exercise_id: run(source)[EXERCISES[exercise_id].function] for exercise_id, source in sources.items()}


def run(source):
    """Run a cell of an exercise, of Python or of CUDA C, and give what it defines."""
    namespace = {"np": np, "cl": cl}
    assert _run_cell(source, "cell", namespace) is None, source
    return namespace


@pytest.fixture(scope="session")
def stubs():
    """What the released cell of each exercise defines, by id."""
    found = {}
    for path in (ROOT / "exercises").glob("*.ipynb"):
        found |= {name: source for name, source in _cells(path).items() if name in EXERCISES}
    return {exercise_id: run(source)[EXERCISES[exercise_id].function] for exercise_id, source in found.items()}
