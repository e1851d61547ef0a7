"""Exercise notebooks as files: read whole, their cells known by nbgrader's ids."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import nbformat

from convlab.checker.guard import in_one_line
from convlab.errors import ConvlabError

__all__ = ["NotebookError", "cells_by_id", "grading", "read_notebook"]

Cell = Any  # nbformat's NotebookNode: a dictionary whose keys are attributes as well


class NotebookError(ConvlabError, ValueError):
    """A notebook that cannot be read, or whose cells are not as an exercise needs them."""


def read_notebook(path: Path) -> Any:
    """Read a notebook of any version as nbformat 4.

    Raises ``NotebookError`` when the file is missing, or is no notebook.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # old notebooks lack cell ids; they are given some
            return nbformat.reads(path.read_text("utf-8-sig"), as_version=4)
    except FileNotFoundError:
        raise NotebookError(f"there is no file {path}.\n  Fix: give the path of an .ipynb file.") from None
    except Exception as error:  # nbformat raises whatever a damaged file provokes
        raise NotebookError(
            f"{path} is no notebook: {in_one_line(error)}.\n"
            "  Fix: open it in JupyterLab and save it again, or start from a fresh copy."
        ) from None


def grading(cell: Cell) -> dict[str, Any]:
    """Give the nbgrader metadata of a cell; empty where there is none.

    >>> grading(nbformat.v4.new_code_cell("1 + 1"))
    {}
    """
    given = cell.metadata.get("nbgrader")
    return dict(given) if isinstance(given, dict) and isinstance(given.get("grade_id"), str) else {}


def cells_by_id(notebook: Any) -> dict[str, list[Cell]]:
    """Collect the cells under their ``grade_id``; a copied cell brings its id along, so there may be several."""
    found: dict[str, list[Cell]] = {}
    for cell in notebook.cells:
        if marks := grading(cell):
            found.setdefault(marks["grade_id"], []).append(cell)
    return found
