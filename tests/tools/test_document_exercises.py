"""The page of exercises is that of today's records."""

from __future__ import annotations

import runpy
from pathlib import Path

from convlab.checker import EXERCISES

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_up_to_date(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    tool = runpy.run_path(str(ROOT / "tools" / "document_exercises.py"))
    ((path, text),) = tool["pages"]().items()
    assert path.read_text(encoding="utf-8") == text, "run tools/document_exercises.py"
    for record in EXERCISES.values():
        assert text.count(f"## {record.id}: ") == 1
        assert all(f"| {mutant.name} |" in text for mutant in record.mutants)
