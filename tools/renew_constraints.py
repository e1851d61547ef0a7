"""Renew the tested versions in pyproject.toml.

uv run tools/renew_constraints.py

They are one resolution for every platform and every Python of the project, with all extras and the dev group.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

__all__ = ["lines", "main", "resolve", "rewritten"]

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
SETTINGS = re.compile(r"^\[tool\.uv\]\n.*?(?=^\[)", re.MULTILINE | re.DOTALL)
CONSTRAINTS = re.compile(r"^constraint-dependencies = \[\n.*?^\]\n", re.MULTILINE | re.DOTALL)


def rewritten(text: str, requirements: list[str]) -> str:
    """``text``, a pyproject.toml, with ``requirements`` as its constraints."""
    body = "".join(f'  "{requirement}",\n' for requirement in requirements)
    new, count = CONSTRAINTS.subn(lambda _: f"constraint-dependencies = [\n{body}]\n", text)
    if count != 1:
        raise ValueError(f"pyproject.toml has {count} constraint-dependencies sections, not one")
    return new


def lines(exported: str) -> list[str]:
    """What ``uv export`` printed as constraints: name, version, and a marker only to tell two versions apart.

    Without a marker a constraint still says nothing about a machine that does not install the package.
    """
    stripped = (line.strip() for line in exported.splitlines())
    pins = [line.split(" ; ") for line in stripped if line and not line.startswith(("#", "-"))]
    versions = Counter(pin[0].split("==")[0] for pin in pins)
    return ["; ".join(pin if versions[pin[0].split("==")[0]] > 1 else pin[:1]) for pin in pins]


def resolve(text: str) -> list[str]:
    """Resolve ``text``, a pyproject.toml, anew: without its ``[tool.uv]``, and with no lock file."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / PYPROJECT.name).write_text(SETTINGS.sub("", text), encoding="utf-8")
        command = ["uv", "export", "--project", folder, "--all-extras", "--all-groups", "--no-emit-project"]
        command += ["--no-hashes", "--no-header", "--no-annotate", "--quiet"]
        return lines(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout)


def main() -> int:
    """Rewrite pyproject.toml and say how many versions it now holds."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    text = PYPROJECT.read_text(encoding="utf-8")
    requirements = resolve(text)
    PYPROJECT.write_text(rewritten(text, requirements), encoding="utf-8", newline="\n")
    print(f"{len(requirements)} versions in {PYPROJECT.name}. Test them: uv run pytest")
    return 0


if __name__ == "__main__":
    sys.exit(main())
