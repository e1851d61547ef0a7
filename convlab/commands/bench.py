"""``convlab bench``: shows what was recorded on GPUs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from contextlib import suppress

from convlab.commands.command import Command

__all__ = ["COMMAND"]

_MORE = """\
more examples:
  convlab bench --gpu H200 --layer "3×3 64→64"
  convlab bench --layer 112² --plot layer.svg
  convlab bench --folder results --json

Results are recorded by benchmarks/gpu.py, in a clone of convlab, on a machine with an NVIDIA GPU."""


def _options(parser: ArgumentParser) -> None:
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = f"{parser.epilog}\n\n{_MORE}"
    parser.add_argument("--gpu", metavar="NAME", help="only GPUs whose name has this part")
    parser.add_argument("--layer", metavar="NAME", help="only layers whose name has this part")
    parser.add_argument("--folder", metavar="DIR", help="where the results are (default: those that come with convlab)")
    parser.add_argument("--plot", metavar="FILE", help="draw the first of the layers into a .svg, .png or .pdf file")
    parser.add_argument("--json", action="store_true", help="print the results for a program to read")


def _run(options: Namespace, rest: list[str]) -> int:
    from convlab import bench

    text = bench.run(options)
    with suppress(BrokenPipeError):
        print(text)
    return 0


COMMAND = Command(
    name="bench",
    summary="show the times that were recorded on GPUs",
    example="convlab bench --layer depthwise",
    options=_options,
    run=_run,
)
