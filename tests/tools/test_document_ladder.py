from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from convlab.kernels.ladder import methods

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "ladder.md"


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return runpy.run_path(str(ROOT / "tools" / "document_ladder.py"))


def test_the_page_holds_what_assembler_and_emulator_say_today(tool, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["document_ladder.py", "--check"])
    assert tool["main"]() == 0, capsys.readouterr().out


def test_every_rung_is_on_the_page():
    text = PAGE.read_text(encoding="utf-8")
    for record in methods():
        if record.plan is not None and record.name != "im2col_cublas":  # which runs on a GPU only
            assert f"| {record.name} |" in text


def test_lines_of_code_leave_comments_and_empty_lines_out(tool):
    text = "// a\n\nint x;  // b\n/* c\n d */ int y;\n  \n#include <a>\n"
    assert tool["lines_of_code"](text) == 3
