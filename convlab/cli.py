"""The ``convlab`` command: a table of sub-commands, each with its options, an example and what it runs."""

from __future__ import annotations

import argparse
import difflib
import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from convlab.errors import ConvlabError

__all__ = ["main"]


@dataclass(frozen=True)
class Command:
    """One sub-command; ``run`` gets the parsed options and the arguments that the parser does not know."""

    name: str
    summary: str
    example: str
    options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, list[str]], int]
    forwards: bool = False  # whether unknown options go on to another program


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    >>> main(["doktor"])
    2
    """
    _print_any_path()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments and not arguments[0].startswith("-") and arguments[0] not in _BY_NAME:
        return _fail(_unknown(arguments[0]))
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    command = _BY_NAME[options.command]
    if rest and not command.forwards:
        return _fail(f"convlab {command.name} does not know {rest[0]}. Try: convlab {command.name} --help")
    try:
        return command.run(options, rest)
    except (ConvlabError, ValueError) as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return 130


def _fail(message: str) -> int:
    print(f"convlab: {message}", file=sys.stderr)
    return 2


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
    width = max(len(command.example) for command in _COMMANDS) + 4
    examples = "\n".join(f"  {command.example:{width}}{command.summary}" for command in _COMMANDS)
    parser = argparse.ArgumentParser(
        prog="convlab",
        description="An interactive course on how a GPU executes neural-network convolution.",
        epilog=f"examples:\n{examples}\n\nconvlab COMMAND --help says more about one of them.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"convlab {version('convlab')}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in _COMMANDS:
        sub = commands.add_parser(
            command.name,
            help=command.summary,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            epilog=f"example: {command.example}",
            allow_abbrev=False,
        )
        command.options(sub)
    return parser


def _lab_options(parser: argparse.ArgumentParser) -> None:
    parser.usage = "convlab lab [-h] [--folder DIR] [--lesson NN] [JupyterLab's options, such as --port 9000]"
    parser.add_argument("--folder", metavar="DIR", help="your working copy (default: my-convlab, here)")
    parser.add_argument("--lesson", metavar="NN", default="00", help="the lesson to open (default: 00)")


def _lab(options: argparse.Namespace, rest: list[str]) -> int:
    from convlab.lab import server

    return server.start(options.folder, options.lesson, [part for part in rest if part != "--"])


def _doctor_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the findings for a program to read")


def _doctor(options: argparse.Namespace, rest: list[str]) -> int:
    from convlab import doctor

    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")  # as convlab lab has it: the same kernel is found
    findings = doctor.examine()
    print(doctor.as_json(findings) if options.json else doctor.as_text(findings))
    return 0 if doctor.can_run(findings) else 1


def _check_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("notebook", help="an exercise notebook, filled in")


def _check(options: argparse.Namespace, rest: list[str]) -> int:
    from convlab.checker import notebook

    report = notebook.check_notebook(options.notebook)
    print(report)
    return 0 if report.passed else 1


def _release_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="write nothing; fail where one is stale")


def _release(options: argparse.Namespace, rest: list[str]) -> int:
    from convlab import course
    from convlab.checker import release

    base = course.root()
    stale = release.release(base / "solutions", base / "exercises", check=options.check)
    for path in stale:
        print(path)
    return 1 if options.check and stale else 0


_COMMANDS = (
    Command(
        name="lab",
        summary="open the notebooks in JupyterLab",
        example="convlab lab --lesson 01",
        options=_lab_options,
        run=_lab,
        forwards=True,
    ),
    Command(
        name="doctor",
        summary="say what this machine has, and what it lacks",
        example="convlab doctor",
        options=_doctor_options,
        run=_doctor,
    ),
    Command(
        name="check",
        summary="check an exercise that you have filled in",
        example="convlab check my-convlab/exercises/01_loops.ipynb",
        options=_check_options,
        run=_check,
    ),
    Command(
        name="release",
        summary="make the exercises from the solutions",
        example="convlab release --check",
        options=_release_options,
        run=_release,
    ),
)
_BY_NAME = {command.name: command for command in _COMMANDS}
