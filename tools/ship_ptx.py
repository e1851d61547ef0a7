"""Compile the course's own kernels to the PTX that comes with the package, and count what they need of an SM.

uv run tools/ship_ptx.py [--check] [--notebooks FOLDER]

The kernels are those of the ladder, of the views, of P-Net, and of the notebooks' %%cuda cells. What is there already
under its key, a hash of source and options, stays: NVRTC numbers registers otherwise from one process to the next, and
its assembler needs one more of them or less.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from tqdm import tqdm

from convlab import magic
from convlab.errors import CompileError
from convlab.executors import shipped
from convlab.executors.compile import compile, nvrtc_version, why_not
from convlab.executors.resources import ARCHITECTURES, counted
from convlab.kernels.layers import launches
from convlab.nets.pnet import SOURCE as PNET
from convlab.spec import ConvSpec
from convlab.views.mapping import MAPPINGS

__all__ = ["main", "units"]

ROOT = Path(__file__).resolve().parent.parent


class Unit(NamedTuple):
    """What is compiled, and under which name."""

    source: str
    name: str
    options: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Under which it is shipped."""
        return shipped.key(self.source, shipped.ARCH, self.options)


def units(notebooks: Path) -> Iterator[Unit]:
    """Every rung of the ladder, the kernels of views and P-Net, and every kernel cell of the notebooks in a folder."""
    for (name, options), text in sorted((rungs() | mappings() | networks()).items()):
        yield Unit(text, Path(name).name, options)
    for path in sorted(notebooks.glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code" and cell.source.startswith("%%cuda "):
                line, _, body = cell.source.removeprefix("%%cuda ").partition("\n")
                yield Unit(magic.text_of(f"{body}\n"), f"{line.strip()}.cu")


def rungs() -> dict[tuple[str, tuple[str, ...]], str]:
    """The text of every source of the ladder with the options of the launches in its plans."""
    return {(step.source, step.options): step.text() for _, step in launches()}


def mappings() -> dict[tuple[str, tuple[str, ...]], str]:
    """The same of the mappings from threads to outputs that a view shows."""
    spec = ConvSpec(n=1, c=1, h=8, w=12, k=1, r=3, s=3)
    steps = [way.launch(spec, (8, 4)) for way in MAPPINGS.values()]
    return {(step.source, step.options): step.text() for step in steps if step.source.startswith("mappings/")}


def networks() -> dict[tuple[str, tuple[str, ...]], str]:
    """The same of what a network of the course does between its convolutions."""
    return {(PNET.name, ()): PNET.read_text(encoding="utf-8")}


def made(unit: Unit) -> str:
    """The PTX of a unit; empty for a cell with a mistake, which some lessons show."""
    with suppress(CompileError):
        return compile(unit.source, name=unit.name, arch=shipped.ARCH, options=unit.options).ptx
    return ""


def needs(unit: Unit) -> dict[str, dict[str, tuple[int, ...]]]:
    """What the kernels of a unit need on each architecture that has their instructions."""
    found = {}
    for arch in ARCHITECTURES:
        with suppress(CompileError):
            kernels = counted(unit.source, unit.name, unit.options, arch)
            found[arch] = {entry: astuple(fields) for entry, fields in kernels.items()}
    return found


def wanted(notebooks: Path, present: dict[str, str]) -> dict[str, str]:
    """File names and texts of all that is to be shipped; of those present, what fits its key and checksum stays."""
    index = json.loads(present.get("index.json", "{}"))
    known = json.loads(present.get("resources.json", "{}"))
    if known.get("assembler") != f"NVRTC {nvrtc_version()}":
        known = {}
    files: dict[str, str] = {}
    entries: dict[str, dict[str, str]] = {}
    resources: dict[str, Any] = {}
    distinct = {unit.key: unit for unit in reversed([*units(notebooks)])}
    for key, unit in tqdm(sorted(distinct.items()), desc="compiling", delay=2, leave=False):
        old = present.get(f"{key}.ptx", "")
        if text := old if old and index.get(key, {}).get("checksum") == shipped.checksum(old) else made(unit):
            files[f"{key}.ptx"] = text
            name = index[key]["name"] if text == old else unit.name
            entries[key] = {"name": name, "checksum": shipped.checksum(text)}
            resources[key] = known.get("kernels", {}).get(key) or needs(unit)
    files["resources.json"] = table(f"NVRTC {nvrtc_version()}", resources)
    return {**files, "index.json": json.dumps(entries, indent=1, sort_keys=True) + "\n"}


def table(assembler: str, resources: dict[str, Any]) -> str:
    """The file of resources, a source in each line."""
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(each)}" for key, each in sorted(resources.items()))
    return f'{{\n "assembler": "{assembler}",\n "kernels": {{\n{lines}\n }}\n}}\n'


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
    present = {path.name: path.read_text(encoding="utf-8") for path in shipped.FOLDER.glob("*.*")}
    files = wanted(options.notebooks, present)
    stale = sorted(present.keys() - files.keys())
    fresh = sorted(name for name, text in files.items() if present.get(name) != text)
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
