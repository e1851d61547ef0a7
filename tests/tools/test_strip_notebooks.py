from __future__ import annotations

import runpy
from pathlib import Path

import nbformat
import pytest

TOOL = runpy.run_path(str(Path(__file__).resolve().parents[2] / "tools" / "strip_notebooks.py"))


@pytest.fixture
def dirty(tmp_path: Path) -> Path:
    code = nbformat.v4.new_code_cell("print('ß')", id="a", execution_count=3)
    code.outputs = [nbformat.v4.new_output("stream", text="ß\n")]
    code.metadata = {"execution": {"start": "now"}, "scrolled": True, "nbgrader": {"grade_id": "q1"}}
    text = nbformat.v4.new_markdown_cell("# Title", id="b")
    notebook = nbformat.v4.new_notebook(cells=[code, text])
    notebook.metadata = {"widgets": {"state": 1}, "language_info": {"name": "python", "version": "3.11.7"}}
    path = tmp_path / "dirty.ipynb"
    nbformat.write(notebook, path)
    return path


def test_check_names_what_is_dirty_and_changes_nothing(dirty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = dirty.read_bytes()
    assert TOOL["main"](["--check", str(dirty)]) == 1
    assert capsys.readouterr().out == f"{dirty}: has outputs or metadata to strip\n"
    assert dirty.read_bytes() == before


def test_stripping_keeps_sources_ids_and_nbgraders_metadata(dirty: Path) -> None:
    assert TOOL["main"]([str(dirty)]) == 1
    assert TOOL["main"](["--check", str(dirty)]) == 0
    notebook = nbformat.read(dirty, as_version=4)
    code, text = notebook.cells
    assert (code.id, code.source, code.outputs, code.execution_count) == ("a", "print('ß')", [], None)
    assert code.metadata == {"nbgrader": {"grade_id": "q1"}}
    assert (text.id, text.source) == ("b", "# Title")
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.language_info == {"name": "python"}


def test_the_format_is_that_of_nbformat_with_a_closing_newline(dirty: Path) -> None:
    TOOL["main"]([str(dirty)])
    text = dirty.read_text(encoding="utf-8")
    assert text == nbformat.writes(nbformat.reads(text, as_version=4)) + "\n"
    assert "ß" in text  # letters, not escapes: a diff is for people
