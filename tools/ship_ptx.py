"""Compile the course's own kernels to the PTX that comes with the package, for machines without NVRTC.

uv run tools/ship_ptx.py [--check] [--notebooks FOLDER]

The kernels are those of the ladder and those of the notebooks' %%cuda cells.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat

from convlab import magic
from convlab.executors import shipped
from convlab.executors.compile import compile, why_not
from convlab.executors.module import Module
from convlab.kernels.layers import launches
from convlab.spec import ConvSpec
from convlab.views.mapping import MAPPINGS

__all__ = ["main", "modules", "wanted"]

ROOT = Path(__file__).resolve().parent.parent
COMPILER = "// Cuda compilation tools"  # the line of PTX that names NVRTC's version


def modules(notebooks: Path) -> Iterator[Module]:
    """Compile every rung of the ladder, the views' own kernels, and every kernel cell of the notebooks in a folder."""
    for (source, options), text in sorted((rungs() | mappings()).items()):
        yield compile(text, name=source, options=options)
    for path in sorted(notebooks.glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code" and cell.source.startswith("%%cuda "):
                yield from compiled_by_the_magic(cell.source)


def rungs() -> dict[tuple[str, tuple[str, ...]], str]:
    """The text of every source of the ladder with the options of the launches in its plans."""
    return {(step.source, step.options): step.text() for _, step in launches()}


def mappings() -> dict[tuple[str, tuple[str, ...]], str]:
    """The same of the mappings from threads to outputs that a view shows."""
    spec = ConvSpec(n=1, c=1, h=8, w=12, k=1, r=3, s=3)
    steps = [way.launch(spec, (8, 4)) for way in MAPPINGS.values()]
    return {(step.source, step.options): step.text() for step in steps if step.source.startswith("mappings/")}


def compiled_by_the_magic(cell: str) -> list[Module]:
    """What the cell magic itself makes of a cell; nothing for a cell with a mistake, which some lessons show."""
    registered: dict[str, Any] = {}
    shell: Any = SimpleNamespace(
        user_ns={},
        register_magic_function=lambda function, **_: registered.update(cuda=function),
    )
    magic.load_ipython_extension(shell)
    line, _, body = cell.removeprefix("%%cuda ").partition("\n")
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        registered["cuda"](line, body)
    return [value for value in shell.user_ns.values() if isinstance(value, Module)]


def wanted(notebooks: Path) -> dict[str, str]:
    """File names and texts of all that is to be shipped."""
    files: dict[str, str] = {}
    index: dict[str, str] = {}
    for module in modules(notebooks):
        key = shipped.key(module.source, module.arch, module.options)
        files.setdefault(f"{key}.ptx", module.ptx)
        index.setdefault(key, module.name)
    return {**files, "index.json": json.dumps(index, indent=1, sort_keys=True) + "\n"}


def same(old: str, new: str) -> bool:
    """Whether a shipped text still holds; another version of NVRTC may write other PTX."""

    def version(text: str) -> list[str]:
        return [line for line in text.splitlines() if line.startswith(COMPILER)]

    return old == new or (old != "" and version(old) != version(new))


def main(argv: list[str] | None = None) -> int:
    """Write, or check, and return the exit code: 1 when something was stale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing, and fail if something is stale")
    parser.add_argument(
        "--notebooks", metavar="FOLDER", type=Path, default=ROOT / "notebooks", help="the folder of the notebooks"
    )
    options = parser.parse_args(argv)
    if why_not():
        parser.error(why_not())
    files = wanted(options.notebooks)
    present = {path.name: path.read_text(encoding="utf-8") for path in shipped.FOLDER.glob("*.*")}
    stale = sorted(name for name in present.keys() - files.keys())
    fresh = sorted(name for name, text in files.items() if not same(present.get(name, ""), text))
    for name in (*stale, *fresh):
        print(f"{name}: {'is stale' if options.check else 'removed' if name in stale else 'written'}")
    if not options.check:
        shipped.FOLDER.mkdir(exist_ok=True)
        for name in stale:
            (shipped.FOLDER / name).unlink()
        for name in fresh:
            (shipped.FOLDER / name).write_text(files[name], encoding="utf-8", newline="\n")
    return int(options.check and bool(stale or fresh))


if __name__ == "__main__":
    sys.exit(main())
