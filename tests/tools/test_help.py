"""Every tool says what it does when it is asked, and does nothing then."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import FunctionType

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
SHARED = {"generated", "instruction_forms"}  # what tools import
NAMES = [path.name for path in sorted(TOOLS.glob("*.py")) if path.stem not in SHARED]


def forbidden(*_, **__):
    pytest.fail("it does something before it knows that it is asked for help")


@pytest.fixture
def idle(request, monkeypatch):
    """A tool whose functions must not be called, but for the one that reads the command line."""
    monkeypatch.syspath_prepend(str(TOOLS))
    tool = runpy.run_path(str(TOOLS / request.param))
    named = tool["main"].__globals__
    own = [name for name, value in named.items() if isinstance(value, FunctionType) and value.__globals__ is named]
    for name in set(own) - {"main"}:
        monkeypatch.setitem(named, name, forbidden)
    return tool


@pytest.mark.parametrize("idle", NAMES, indirect=True)
@pytest.mark.parametrize("word", ["--help", "--helpp"])
def test_a_tool_reads_its_command_line_before_it_does_anything(idle, monkeypatch, capsys, word):
    monkeypatch.setattr("sys.argv", ["tool", word])
    with pytest.raises(SystemExit) as caught:
        idle["main"]()
    shown = capsys.readouterr()
    if word == "--help":
        assert caught.value.code == 0
        assert (idle["__doc__"] or "").strip() in shown.out
    else:
        assert caught.value.code == 2
        assert "--helpp" in shown.err
