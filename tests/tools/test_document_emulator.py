from __future__ import annotations

import doctest
import re
import runpy
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from convlab.emulator.faults import ADVICE
from convlab.emulator.parse import parse
from convlab.executors.compile import compile
from convlab.executors.launch import launch

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "emulator.md"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return runpy.run_path(str(ROOT / "tools" / "document_emulator.py"))


def test_the_page_shows_todays_translation_and_figure(tool, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["document_emulator.py", "--check"])
    assert tool["main"]() == 0, capsys.readouterr().out


def test_a_stale_translation_is_noticed(tool):
    text = PAGE.read_text(encoding="utf-8")
    stale = text.replace("memory.everywhere.load(", "memory.nowhere.load(")
    assert stale != text
    assert tool["MARKS"].sub(lambda marks: marks[1] + tool["translation"]() + marks[2], stale) == text


def test_the_examples_run():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not failed
    assert tried > 10


def test_the_page_is_short_and_its_links_lead_somewhere():
    text = PAGE.read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```|<!--.*?-->|\]\(.*?\)", " ", text, flags=re.DOTALL)
    prose = re.sub(r"^\|.*$", "", prose, flags=re.MULTILINE)
    assert 300 < len(prose.split()) <= 550
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert len(links) > 10
    for link in links:
        assert (PAGE.parent / link).exists(), link


def test_the_table_of_faults_has_all_kinds_and_severities():
    rows = re.findall(r"^\| (`.*?) \|(.*?)\|(.*?)\|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = set()
    for kinds, *cells in rows:
        severities = [name for name, cell in zip(("error", "warning"), cells, strict=True) if cell.strip()]
        found |= {(kind, severity) for kind in re.findall(r"`(\w+)`", kinds) for severity in severities}
    assert found == set(ADVICE)


def test_the_four_lines_are_ptx_of_one_block(tool):
    kernel = parse(tool["AROUND"].format(tool["BLOCK"])).entries["k"]
    assert [i.parts[0] for i in kernel.instructions] == ["ld", "mad", "mul", "add", "ld", "st", "ret"]


def test_the_figure_shows_the_lanes_of_each_step(tool):
    drawing = ET.fromstring(tool["figure"]())
    cells = {kind: drawing.findall(f"{SVG}g[@class='cl-cell cl-{kind}']") for kind in ("input", "output", "gap")}
    ids = [cell.find(f"{SVG}text").text for cell in cells["input"]]
    assert ids == list("0123012300001111")
    # Steps 0 and 3 take all eight lanes, the two sides of the if share them.
    assert len(cells["output"]) == 3 * 8
    assert len(cells["gap"]) == 8
    words = [text.text for text in drawing.findall(f"{SVG}text")]
    assert [word for word in words if word.startswith("step ")] == [
        *("step 0: full0", "step 1: part1", "step 2: part2", "step 3: full3")
    ]
    assert not {float(drawing.get("width")), float(drawing.get("height"))} - {
        *map(float, drawing.get("viewBox").split()[2:])
    }
    assert float(drawing.get("width")) <= 800


def test_the_kernel_of_the_figure_has_no_fault(tool):
    x = np.float32([1, 2, 8, 4, 3, 6, 6, 1])
    run = launch(compile(tool["KERNEL"], "growth.cu").kernels["growth"], 2, 4, [x], device="emulator")
    np.testing.assert_array_equal(x, np.float32([0.5, 4, 2, 1, np.float32(1) / 6, 1, 2, 1]))
    assert run.faults == []
