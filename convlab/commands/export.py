"""``convlab export``: makes a page of a notebook."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from convlab.commands.command import Command

__all__ = ["COMMAND"]


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("notebook", type=Path, help="a notebook that has been run")
    parser.add_argument("--out", metavar="FILE", type=Path, help="the page (default: the notebook's name with .html)")


def _run(options: Namespace, rest: list[str]) -> int:
    from convlab.lab.export import export

    print(export(options.notebook, options.out))
    return 0


COMMAND = Command(
    name="export",
    summary="make a page of a notebook whose pictures answer to the mouse without Jupyter",
    example="convlab export my-convlab/notebooks/01_inner_product_to_convolution.ipynb",
    options=_options,
    run=_run,
)
