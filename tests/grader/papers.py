"""Notebooks as students hand them in: the released ones, filled in, and then damaged by a function."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from convlab.checker.exercises import EXERCISES

ROOT = Path(__file__).parents[2]
Notebook = dict[str, Any]
LEFT = "### BEGIN SOLUTION", "### END SOLUTION"


@lru_cache(maxsize=1)
def right_answers() -> Mapping[str, str]:
    """The text of the answer to each exercise, from the solutions, without their marks."""
    found = {}
    for path in (ROOT / "solutions").glob("*.ipynb"):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["id"] in EXERCISES:
                kept = (line for line in cell["source"] if "SOLUTION" not in line)
                found[cell["id"]] = "".join(kept)
    return found


def released(name: str) -> Notebook:
    return json.loads((ROOT / "exercises" / f"{name}.ipynb").read_text("utf-8"))


def filled(name: str, answers: Mapping[str, str] | None = None) -> Notebook:
    """A released notebook with answers in it: the right ones, unless told otherwise."""
    notebook = released(name)
    for cell in notebook["cells"]:
        if cell["id"] in EXERCISES:
            cell["source"] = [(answers or {}).get(cell["id"], right_answers()[cell["id"]])]
    return notebook


def cell_of(notebook: Notebook, cell_id: str) -> dict[str, Any]:
    return next(cell for cell in notebook["cells"] if cell["id"] == cell_id)


def edited(name: str, edit: Callable[[Notebook], Any]) -> Notebook:
    notebook = filled(name)
    edit(notebook)
    return notebook


def code(text: str) -> dict[str, Any]:
    """A cell that a student added."""
    return {"cell_type": "code", "id": "own", "metadata": {}, "outputs": [], "execution_count": 1, "source": text}


def written(path: Path, notebook: Notebook) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), "utf-8")
    return path


@contextmanager
def here():
    """An opener that judges in this process: no pool, so that tests may replace the judge."""
    from concurrent.futures import Future

    from convlab.grader.executors import Pool

    class Here:
        def submit(self, function, *arguments):
            future: Future[Any] = Future()
            try:
                future.set_result(function(*arguments))
            except Exception as error:
                future.set_exception(error)
            return future

    yield Pool(Here(), 2)
