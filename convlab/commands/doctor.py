"""``convlab doctor``: says what this machine has."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from convlab.commands.command import Command

__all__ = ["COMMAND"]


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the findings for a program to read")


def _run(options: Namespace, rest: list[str]) -> int:
    from convlab import doctor

    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")  # as convlab lab has it: the same kernel is found
    findings = doctor.examine()
    print(doctor.as_json(findings) if options.json else doctor.as_text(findings))
    return 0 if doctor.can_run(findings) else 1


COMMAND = Command(
    name="doctor",
    summary="say what this machine has, and what it lacks",
    example="convlab doctor",
    options=_options,
    run=_run,
)
