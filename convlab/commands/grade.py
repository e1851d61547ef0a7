"""``convlab grade``: grades what students handed in."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from pathlib import Path

from convlab.commands.command import Command, count

__all__ = ["COMMAND"]

_MORE = """\
SUBMISSIONS is a notebook, a folder of them (loose, in folders of students, or as nbgrader collects them),
or the zip that Canvas or Moodle gives. It is only read; nothing is unpacked.

DIR gets summary.html, marks.csv, canvas.csv, moodle/, gradescope/, feedback/ (a page for each student),
similarity.csv, results/, seed (keep it secret), and overrides.csv, where you set points by hand.

The same command again goes on where a run was stopped, and only writes the reports anew where all is graded.

exit code: 0; 1 where a submission needs a human (summary.html lists them); 2 where it cannot begin; 130 after Ctrl-C.

more examples:
  convlab grade submissions.zip --out graded --course course.toml --jobs 8
  convlab grade submitted/ --out graded --seed-file ~/seeds/spring --dask tcp://10.0.0.1:8786"""


def _options(parser: ArgumentParser) -> None:
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = f"{parser.epilog}\n\n{_MORE}"
    parser.add_argument("submissions", metavar="SUBMISSIONS", type=Path, help="what was handed in")
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="the folder of results and reports")
    parser.add_argument("--course", metavar="FILE", type=Path, help="a TOML file: exercises, points, due dates")
    parser.add_argument(
        "--seed-file", metavar="FILE", type=Path, help="the hidden seed; made if missing (default: DIR/seed)"
    )
    parser.add_argument(
        "--jobs", metavar="N", type=count, default=os.cpu_count() or 1, help="how many at once (default: %(default)s)"
    )
    parser.add_argument("--dask", metavar="ADDRESS", help="judge on a Dask cluster instead (needs convlab[dask])")
    parser.add_argument(
        "--no-isolation",
        action="store_true",
        help="run answers unprotected where no isolation works; only for your own",
    )


def _run(options: Namespace, rest: list[str]) -> int:
    from convlab.grader import grading

    wanted = grading.Grading(
        options.submissions,
        options.out,
        options.seed_file,
        max(1, options.jobs),
        options.course,
        options.dask,
        options.no_isolation,
    )
    try:
        asked = grading.run(wanted)
    except KeyboardInterrupt:
        print("\nStopped. What is graded is kept: the same command goes on from there.", file=sys.stderr)
        return 130
    print(f"{options.out / 'summary.html'} says how it went; submissions that need a human: {asked or 'none'}.")
    return 1 if asked else 0


COMMAND = Command(
    name="grade",
    summary="grade what students handed in, isolated, on hidden data, and write marks for an LMS",
    example="convlab grade submissions.zip --out graded",
    options=_options,
    run=_run,
)
