"""The ``convlab`` command: reads the command line, and runs one of its sub-commands."""

from __future__ import annotations

import argparse
import difflib
import io
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from convlab.commands import bench, check, doctor, export, grade, lab, profile, release, run, selftest
from convlab.commands.command import Command, fail
from convlab.errors import ConvlabError

__all__ = ["main"]

COMMANDS: tuple[Command, ...] = tuple(
    module.COMMAND for module in (lab, doctor, run, profile, bench, export, check, grade, selftest, release)
)
_BY_NAME = {command.name: command for command in COMMANDS}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    >>> main(["doktor"])
    2
    """
    _print_any_path()
    try:
        return _obey(list(sys.argv[1:] if argv is None else argv))
    finally:
        _let_the_reader_leave()


def _obey(arguments: list[str]) -> int:
    if arguments and not arguments[0].startswith("-") and arguments[0] not in _BY_NAME:
        return fail(_unknown(arguments[0]))
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    command = _BY_NAME[options.command]
    if rest and not command.forwards:
        return fail(f"convlab {command.name} does not know {rest[0]}. Try: convlab {command.name} --help")
    try:
        return command.run(options, rest)
    except (ConvlabError, ValueError) as error:
        return fail(str(error))
    except KeyboardInterrupt:
        return 130


def _let_the_reader_leave() -> None:
    """Print what is left; where nobody reads it any more, as after ``| head``, that is no error."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_any_path() -> None:
    """Let a console that lacks a path's letters show a stand-in for them instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name, _BY_NAME, n=1)
    hint = f"Did you mean convlab {close[0]}?" if close else f"The commands are {', '.join(_BY_NAME)}."
    return f"there is no command {name!r}. {hint}"


def _parser() -> argparse.ArgumentParser:
    width = max(len(command.example) for command in COMMANDS) + 4
    examples = "\n".join(f"  {command.example:{width}}{command.summary}" for command in COMMANDS)
    parser = argparse.ArgumentParser(
        prog="convlab",
        description="An interactive course on how a GPU executes neural-network convolution.",
        epilog=f"examples:\n{examples}\n\nconvlab COMMAND --help says more about one of them.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"convlab {version('convlab')}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in COMMANDS:
        sub = commands.add_parser(
            command.name,
            help=command.summary,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            epilog=f"example: {command.example}",
            allow_abbrev=False,
        )
        command.options(sub)
    return parser
