"""``convlab check``: checks an exercise."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from convlab.commands.command import Command

__all__ = ["COMMAND"]


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("notebook", help="an exercise notebook, filled in")


def _run(options: Namespace, rest: list[str]) -> int:
    from convlab.checker import notebook

    report = notebook.check_notebook(options.notebook)
    print(report)
    return 0 if report.passed else 1


COMMAND = Command(
    name="check",
    summary="check an exercise that you have filled in",
    example="convlab check my-convlab/exercises/01_loops.ipynb",
    options=_options,
    run=_run,
)
