"""What the README promises: its example does what it says, its links and its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import convlab as cl
from convlab.cli import main

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_ends_as_it_says():
    source = re.search(r"```python\n(.*?)```", TEXT, re.DOTALL)[1]
    expected = re.search(r"```\nKernelFault: (.*?)\n```", TEXT, re.DOTALL)[1]
    with pytest.raises(cl.KernelFault) as caught:
        exec(compile(source, "README.md", "exec"), {})
    assert str(caught.value).startswith(expected)


@pytest.mark.parametrize("target", re.findall(r"\]\(([^):#]+)\)", TEXT))
def test_a_link_leads_to_a_file(target):
    assert (ROOT / target).exists()


@pytest.mark.parametrize("command", ["lab", "doctor"])
def test_the_commands_of_the_readme_exist(command, capsys):
    assert f"convlab {command}" in TEXT
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    assert f"convlab {command}" in capsys.readouterr().out


def test_the_names_that_design_and_readme_use_are_public():
    assert {f"cl.{name}" for name in re.findall(r"\bcl\.(\w+)", TEXT)} <= {f"cl.{name}" for name in cl.__all__}
