"""``convlab selftest``: checks the checks."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from convlab.commands.command import Command, count

__all__ = ["COMMAND"]


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("--seeds", metavar="N", type=count, default=1, help="on the data of so many seeds (default: 1)")


def _run(options: Namespace, rest: list[str]) -> int:
    from convlab.checker import EXERCISES
    from convlab.checker.selftest import selftest
    from convlab.grader import cheats

    problems = selftest(range(1, max(1, options.seeds) + 1))
    walls, found = cheats.tried()
    for problem in [*problems, *found]:
        print(problem)
    mutants = sum(len(record.mutants) for record in EXERCISES.values())
    count = len(problems) + len(found)
    print(f"{len(EXERCISES)} exercises, {mutants} mutants, {walls}: {count or 'no'} problems")
    return 1 if count else 0


COMMAND = Command(
    name="selftest",
    summary="check the checks: answers pass, known mistakes are named, cheats earn nothing",
    example="convlab selftest --seeds 3",
    options=_options,
    run=_run,
)
