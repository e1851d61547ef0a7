"""Strip outputs, and what differs from machine to machine, from the course's notebooks.

uv run tools/strip_notebooks.py [--check] [NOTEBOOK ...]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import nbformat

__all__ = ["main", "stripped"]

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("notebooks", "exercises", "solutions")
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
FLEETING = (
    "collapsed",
    "execution",
    "scrolled",
    "ExecuteTime",
)  # left by running or looking


def stripped(text: str) -> str:
    """The notebook without outputs, execution counts and fleeting metadata; other cell metadata stays."""
    notebook = nbformat.reads(text, as_version=4)
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        for name in FLEETING:
            cell.metadata.pop(name, None)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n"


def main(argv: list[str] | None = None) -> int:
    """Strip, or check, and return the exit code: 1 when a notebook had something to strip."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing, and fail if something is to strip")
    parser.add_argument("notebooks", metavar="NOTEBOOK", nargs="*", type=Path, help="these alone (default: all)")
    options = parser.parse_args(argv)
    found = 0
    own = (path for name in FOLDERS for path in sorted((ROOT / name).glob("*.ipynb")))
    for path in options.notebooks or own:
        text = path.read_text(encoding="utf-8")
        clean = stripped(text)
        if clean == text:
            continue
        found = 1
        print(f"{path}: {'has outputs or metadata to strip' if options.check else 'stripped'}")
        if not options.check:
            path.write_text(clean, encoding="utf-8", newline="\n")
    return found


if __name__ == "__main__":
    sys.exit(main())
