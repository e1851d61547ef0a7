from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return runpy.run_path(str(ROOT / "tools" / "update_readme.py"))


def test_the_readme_shows_the_recorded_figures_and_todays_picture(tool, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["update_readme.py", "--check"])
    assert tool["main"]() == 0, capsys.readouterr().out


def test_a_stale_figure_is_noticed(tool):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    stale = text.replace("times as fast |", "times as quick |")
    assert stale != text
    assert tool["MARKS"].sub(lambda marks: marks[1] + tool["figures"]() + marks[2], stale) == text
