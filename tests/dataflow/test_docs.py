"""docs/dataflows.md is run: its sessions as doctests, its table of published figures against the tests' own."""

from __future__ import annotations

import doctest
from pathlib import Path

from .published import SHAPES
from .test_published import NAMES, expected, parts, total

PAGE = Path(__file__).parents[2] / "docs" / "dataflows.md"
FLOWS = ("row", "weight", "output")


def table():
    """The page's table: ours, and what the paper's formulas give."""
    lines = ["| | " + " | ".join(f"{flow}, here | published" for flow in FLOWS) + " |", "|---" * 7 + "|"]
    for name in SHAPES:
        cells = [f"{sum(parts(flow, name)):.1f} | {sum(expected(flow, name)):.1f}" for flow in FLOWS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    for title, names in (("all", NAMES), ("CONV2 to CONV5", NAMES[1:])):
        cells = [f"{total(parts, flow, names):.1f} | {total(expected, flow, names):.1f}" for flow in FLOWS]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def test_the_sessions_give_what_the_page_says():
    text = PAGE.read_text(encoding="utf-8").replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) >= 15
    report = []
    doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF).run(test, out=report.append)
    assert not report, "".join(report)


def test_the_table_is_what_the_tests_compute():
    assert table() in PAGE.read_text(encoding="utf-8"), table()
