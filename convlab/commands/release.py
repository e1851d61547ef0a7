"""``convlab release``: makes the exercises from the solutions."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from convlab.commands.command import Command

__all__ = ["COMMAND"]


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="write nothing; fail where one is stale")


def _run(options: Namespace, rest: list[str]) -> int:
    from convlab import course
    from convlab.checker import release

    base = course.root()
    stale = release.release(base / "solutions", base / "exercises", check=options.check)
    for path in stale:
        print(path)
    return 1 if options.check and stale else 0


COMMAND = Command(
    name="release",
    summary="make the exercises from the solutions",
    example="convlab release --check",
    options=_options,
    run=_run,
)
