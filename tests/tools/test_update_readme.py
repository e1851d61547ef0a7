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


def test_nothing_is_said_of_gpus_before_something_is_recorded(tool):
    (row,) = tool["on_gpus"]([])
    assert "| not yet recorded |" in row


def test_what_was_judged_on_a_gpu_is_a_row_with_what_was_wanted(tool):
    aims = [
        {"aim": "naive, part of the peak", "wanted": "at least 0.08", "found": 0.091, "met": True},
        {"aim": "winograd", "wanted": "at least 1.5", "found": None, "met": None},
    ]
    machine = {"gpu": "NVIDIA H200", "processor": "a processor"}
    assert tool["on_gpus"]([{"day": "2026-12-24", "machine": machine, "aims": aims}]) == [
        "| naive, part of the peak | 0.091 (at least 0.08 wanted) | 2026-12-24, NVIDIA H200 |"
    ]
