"""The reference answers, taken from where learners' stubs are made from: solutions/."""

import json
from pathlib import Path

import numpy as np
import pytest

from convlab.checker import EXERCISES

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def sources():
    """The source of the answer to each exercise, by id."""
    found = {}
    for name in {record.notebook for record in EXERCISES.values()}:
        notebook = json.loads((ROOT / "solutions" / f"{name}.ipynb").read_text("utf-8"))
        found |= {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}
    return {record.id: found[record.id] for record in EXERCISES.values()}


@pytest.fixture(scope="session")
def answers(sources):
    """The answer to each exercise, by id."""
    functions = {}
    for exercise_id, source in sources.items():
        namespace = {"np": np}
        exec(source, namespace)
        functions[exercise_id] = namespace[EXERCISES[exercise_id].function]
    return functions
