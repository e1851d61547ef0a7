from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from convlab.kernels.ladder import method, methods

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "rungs"


@pytest.fixture(scope="module")
def tool():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        yield runpy.run_path(str(ROOT / "tools" / "document_rungs.py"))


def test_the_pages_hold_what_model_and_records_say_today(tool, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["document_rungs.py", "--check"])
    assert tool["main"]() == 0, capsys.readouterr().out


def test_every_rung_that_can_be_counted_has_a_page_and_stands_in_the_index():
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    for record in methods():
        if record.plan is not None and record.name != "im2col_cublas":  # which runs on a GPU only
            assert f"| [{record.name}]({record.name}.md) |" in index
            assert (FOLDER / f"{record.name}.md").exists()


def test_no_modelled_time_goes_without_its_label():
    for path in FOLDER.glob("*.md"):
        tables = re.findall(r"^\|.*\|$\n^\|[-|]+\|$", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert all("modelled" in table for table in tables), path.name


def test_a_page_tells_bound_breakdown_records_and_peers(tool):
    text = tool["page"](method("pointwise"))
    assert "- **Honest negatives**: " in text
    assert "| GPU | modelled, ms | waits for | breakdown, modelled | recorded, ms |" in text
    assert "| A100 | " in text
    assert "not yet recorded" in text
    assert "Peers: cuDNN through PyTorch, NCHW, no TF32: " in text
