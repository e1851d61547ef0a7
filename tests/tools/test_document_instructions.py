from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from convlab.emulator.advice import FUNCTIONS, OPCODES, SPECIAL
from convlab.emulator.instructions import HANDLERS
from convlab.emulator.specials import CLOCKS, SPECIALS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "instructions.md"


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return runpy.run_path(str(ROOT / "tools" / "document_instructions.py"))


def test_the_page_lists_what_the_emulator_executes_today(tool, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["document_instructions.py", "--check"])
    assert tool["main"]() == 0, capsys.readouterr().out


def test_every_name_of_the_code_is_on_the_page():
    text = PAGE.read_text(encoding="utf-8")
    for opcode in {opcode.partition("/")[0] for opcode in HANDLERS}:
        assert f"| `{opcode}" in text, opcode
    for name in (*OPCODES, *FUNCTIONS, *SPECIAL, *SPECIALS, *CLOCKS):
        assert f"`{name}`" in text, name


def test_only_what_goes_through_is_listed(tool):
    good, bad = (
        "add.s32 r1, r2, r3",
        ["add.f32x2 l1, l2, l3", "wgmma.fence", "sin.approx.f64 l1, l2", "shl.b64 l1, r1, r2"],
    )
    assert tool["accepted"]([good, *bad]) == {good}


@pytest.mark.parametrize(
    ("forms", "short"),
    [
        (["ld"], "`ld`"),
        (["ld.ca", "ld.cg", "ld"], "`ld.{ca,cg}` `ld`"),
        (["x.a.c", "x.a.d", "x.b.c", "x.b.d"], "`x.{a,b}.{c,d}`"),
        (["x.a.c", "x.a.d", "x.b.c"], "`x.a.{c,d}` `x.b.c`"),
        (["x.a.b", "x.c.d"], "`x.a.b` `x.c.d`"),
    ],
)
def test_forms_that_differ_in_one_part_are_written_as_one(tool, forms, short):
    assert tool["folded"](forms) == short


def test_types_have_a_word_only_when_all_are_there(tool):
    floats = list(tool["GROUPS"]["*floats*"])
    assert tool["summed"]([*floats, "s32"]) == "*floats* `s32`"
    assert tool["summed"](floats[1:]).count("`") == 2 * (len(floats) - 1)
    assert tool["summed"]([""]) == "–"
