"""What students were given: the notebooks of exercises, their questions, and the cells as they were released."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from convlab import course
from convlab.checker.cells import cells_by_id, read_notebook
from convlab.checker.exercises import EXERCISES

__all__ = ["cell_ids", "questions", "stub"]


@lru_cache(maxsize=1)
def _released() -> MappingProxyType[str, MappingProxyType[str, str]]:
    """The source of each released cell that has an id, by notebook."""
    paths = [path for name, path in course.shipped("exercises").items() if name.endswith(".ipynb")]
    notebooks = {path.stem: cells_by_id(read_notebook(path)) for path in paths}
    return MappingProxyType({name: MappingProxyType(_sources(cells)) for name, cells in notebooks.items()})


def _sources(cells: Mapping[str, list[Any]]) -> dict[str, str]:
    return {each: copies[0].source for each, copies in cells.items()}


@lru_cache(maxsize=1)
def questions() -> MappingProxyType[str, tuple[str, ...]]:
    """The ids of the questions of each released notebook, in the order of the records.

    >>> questions()["01_loops"]
    ('01-one-output', '01-loops')
    """
    return MappingProxyType(
        {
            notebook: tuple(each for each, record in EXERCISES.items() if record.notebook == notebook and each in cells)
            for notebook, cells in _released().items()
        }
    )


@lru_cache(maxsize=1)
def cell_ids() -> MappingProxyType[str, str]:
    """The notebook that each id of a released cell belongs to.

    >>> cell_ids()["01-loops-check"]
    '01_loops'
    """
    return MappingProxyType({cell: notebook for notebook, cells in _released().items() for cell in cells})


def stub(exercise_id: str) -> str:
    """What stood in an answer's cell when it was released."""
    return _released()[EXERCISES[exercise_id].notebook][exercise_id]
