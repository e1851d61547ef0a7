from __future__ import annotations

import runpy
from pathlib import Path

import pytest

TOOL = runpy.run_path(str(Path(__file__).resolve().parents[2] / "tools" / "renew_constraints.py"))

EXPORTED = """\
# a comment
-e ./elsewhere
anyio==4.16.0
appnope==1.0.0 ; sys_platform == 'darwin'
numpy==2.4.6 ; python_full_version < '3.12'
numpy==2.5.5 ; python_full_version >= '3.12'
"""
LINES = [
    "anyio==4.16.0",
    "appnope==1.0.0",
    "numpy==2.4.6; python_full_version < '3.12'",
    "numpy==2.5.5; python_full_version >= '3.12'",
]
TEXT = """\
[project]
name = "convlab"

[tool.uv]
# kept
constraint-dependencies = [
  "numpy[x]==1.0",
]

[tool.ruff]
line-length = 110
"""


def test_a_marker_stays_only_where_it_tells_two_versions_apart() -> None:
    assert TOOL["lines"](EXPORTED) == LINES


def test_only_the_constraints_are_rewritten_and_a_second_time_changes_nothing() -> None:
    new = TOOL["rewritten"](TEXT, LINES)
    assert new == TEXT.replace('  "numpy[x]==1.0",\n', "".join(f'  "{line}",\n' for line in LINES))
    assert TOOL["rewritten"](new, LINES) == new


@pytest.mark.parametrize(("text", "count"), [("[project]\n", 0), (TEXT + TEXT, 2)])
def test_a_file_that_it_cannot_rewrite_is_refused(text: str, count: int) -> None:
    with pytest.raises(ValueError, match=f"has {count} constraint-dependencies sections, not one"):
        TOOL["rewritten"](text, LINES)


def test_a_resolution_does_not_see_the_old_constraints() -> None:
    text = """[project]
name = "convlab"
version = "1"
requires-python = ">=3.11,<3.15"
dependencies = ["six>=1.16"]
[dependency-groups]
dev = ["iniconfig"]
[tool.uv]
constraint-dependencies = [
  "six==1.16.0",
]

[tool.ruff]
"""
    resolved = TOOL["resolve"](text)
    assert [line.split("==")[0] for line in resolved] == ["iniconfig", "six"]
    assert "six==1.16.0" not in resolved
