from __future__ import annotations

import json
import runpy
from itertools import islice
from pathlib import Path

import nbformat
import pytest

from convlab.executors import shipped
from convlab.executors.compile import compile
from convlab.kernels.layers import launches

TOOL = runpy.run_path(str(Path(__file__).resolve().parents[2] / "tools" / "ship_ptx.py"))
FEW = list(islice(launches(), 4))  # test_shipped compares all of them with what is shipped
CELL = 'extern "C" __global__ void f(float* x) {\n    x[0] = 1;\n}'


@pytest.fixture
def notebooks(tmp_path, monkeypatch):
    notebook = nbformat.v4.new_notebook()
    wrong = "%%cuda wrong\n__global__ void f( {"
    notebook.cells = [nbformat.v4.new_code_cell(text) for text in ("1 + 1", f"%%cuda mine\n{CELL}", wrong)]
    notebook.cells.append(nbformat.v4.new_markdown_cell("%%cuda text\nint x;"))
    nbformat.write(notebook, tmp_path / "00.ipynb")
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "ptx")
    monkeypatch.setitem(TOOL["rungs"].__globals__, "launches", lambda: iter(FEW))
    return tmp_path


def test_rungs_and_kernel_cells_are_shipped_and_stale_files_removed(notebooks, capsys, monkeypatch):
    shipped.FOLDER.mkdir()
    (shipped.FOLDER / "stale.ptx").touch()
    run = ["--notebooks", str(notebooks)]
    assert TOOL["main"]([*run, "--check"]) == 1
    assert "stale.ptx: is stale" in capsys.readouterr().out
    assert TOOL["main"](run) == 0
    assert "stale.ptx: removed" in capsys.readouterr().out
    assert TOOL["main"]([*run, "--check"]) == 0
    assert capsys.readouterr().out == ""
    index = json.loads((shipped.FOLDER / "index.json").read_text())
    few = {(s.source, s.options): s.source for _, s in FEW}.values()
    names = [entry["name"] for entry in index.values()]
    assert sorted(names) == sorted(["mine.cu", "naive_2d.cu", "pnet.cu", *few])
    monkeypatch.setenv("CONVLAB_HIDE_NVRTC", "1")
    # The magic puts an empty line in place of its own, and Jupyter ends the text with a line end.
    assert compile(f"\n{CELL}\n", "mine.cu").kernels["f"]


def test_an_edited_ptx_is_found_and_made_anew(notebooks, capsys):
    run = ["--notebooks", str(notebooks)]
    TOOL["main"](run)
    path = next(shipped.FOLDER.glob("*.ptx"))
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("ret;", "ret; ret;"), encoding="utf-8")
    assert TOOL["main"]([*run, "--check"]) == 1
    TOOL["main"](run)
    assert path.read_text(encoding="utf-8").count("ret; ret;") == 0
    capsys.readouterr()
    assert TOOL["main"]([*run, "--check"]) == 0, capsys.readouterr().out


def test_what_is_there_under_its_key_is_not_compiled_again(notebooks, monkeypatch):
    run = ["--notebooks", str(notebooks)]
    TOOL["main"](run)
    compiled = []
    monkeypatch.setitem(TOOL["made"].__globals__, "made", lambda unit: compiled.append(unit.name) or "")
    assert TOOL["main"]([*run, "--check"]) == 0
    assert compiled == ["wrong.cu"]  # a cell that cannot be compiled


def test_without_nvrtc_it_says_why_it_cannot(notebooks, monkeypatch, capsys):
    monkeypatch.setenv("CONVLAB_HIDE_NVRTC", "1")
    with pytest.raises(SystemExit):
        TOOL["main"]([])
    assert "NVRTC is hidden" in capsys.readouterr().err
