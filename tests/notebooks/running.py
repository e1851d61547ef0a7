"""Runs notebooks for the tests, each once as far as nobody changes it, and reads what their cells showed."""

from __future__ import annotations

import os
import re
import tempfile
import time
from functools import cache
from pathlib import Path

import nbformat
from nbclient import NotebookClient

__all__ = ["SECONDS", "executed", "text_of"]

_PROGRESS = re.compile(r"\d%\|")
SECONDS = 20  # the course's rule for a lesson on two cores; only reported, since a busy machine is no mistake


@cache
def executed(path: Path, hidden: bool = False, first: str = "") -> nbformat.NotebookNode:
    """Run a notebook from top to bottom in a folder of its own.

    Parameters: ``hidden`` hides the compiler, as on a Mac; ``first`` is a cell that runs before all others.
    """
    book = nbformat.read(path, as_version=4)
    if first:
        book.cells.insert(0, nbformat.v4.new_code_cell(first, id="before-all"))
    known = {"JUPYTER_PREFER_ENV_PATH": "1", "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    before = {name: os.environ.get(name) for name in (*known, "CONVLAB_HIDE_NVRTC")}
    os.environ.update(known | ({"CONVLAB_HIDE_NVRTC": "1"} if hidden else {}))
    start = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory() as folder:
            options = {"timeout": 120, "kernel_name": "python3", "resources": {"metadata": {"path": folder}}}
            NotebookClient(book, **options).execute()
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            os.environ.update({name: value} if value is not None else {})
    print(f"{path.name}: {time.perf_counter() - start:.1f} s (the course allows {SECONDS})")
    return book


def text_of(book: nbformat.NotebookNode, cell_id: str) -> str:
    """All that a cell printed or showed as plain text, without the progress bars of a slow machine."""
    (cell,) = (cell for cell in book.cells if cell.id == cell_id)
    parts = [out.get("text", "") + out.get("data", {}).get("text/plain", "") for out in cell.outputs]
    return "\n".join(part for part in parts if not _PROGRESS.search(part))
