"""``convlab lab``: opens JupyterLab."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from convlab.commands.command import Command

__all__ = ["COMMAND"]


def _options(parser: ArgumentParser) -> None:
    parser.usage = "convlab lab [-h] [--folder DIR] [--lesson NN] [JupyterLab's options, such as --port 9000]"
    parser.add_argument("--folder", metavar="DIR", help="your working copy (default: my-convlab, here)")
    parser.add_argument("--lesson", metavar="NN", default="00", help="the lesson to open (default: 00)")


def _run(options: Namespace, rest: list[str]) -> int:
    from convlab.lab import server

    return server.start(options.folder, options.lesson, [part for part in rest if part != "--"])


COMMAND = Command(
    name="lab",
    summary="open the notebooks in JupyterLab",
    example="convlab lab --lesson 01",
    options=_options,
    run=_run,
    forwards=True,
)
