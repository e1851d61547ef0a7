"""What docs/networks.md says is so."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from convlab.nets import NETWORKS, network

PAGE = Path(__file__).resolve().parents[2] / "docs" / "networks.md"
ROWS = re.findall(r"^\| (\w+) \| ([\d,]+) \| ([\d,]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_its_examples_run() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert (failed, tried) == (0, 6)


def test_it_has_every_network() -> None:
    assert [name for name, _, _ in ROWS] == list(NETWORKS)


@pytest.mark.parametrize(("name", "parameters", "macs"), ROWS)
def test_its_totals_are_ours(name: str, parameters: str, macs: str) -> None:
    assert (f"{network(name).parameters:,}", f"{network(name).macs:,}") == (parameters, macs)
