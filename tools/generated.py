"""What the tools that generate files share: write what is stale, or with --check only say so."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path

__all__ = ["renew"]


def renew(make: Callable[[], Mapping[Path, str]], tool: str, description: str | None) -> int:
    """Write or compare the files that ``make`` gives, with their texts; 1 when --check found one that is stale.

    The command line is read before anything is made: whoever asks for help need not wait for it. Of each stale file,
    ``--check`` shows the first lines that differ.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when something is stale")
    check = parser.parse_args().check
    wanted = make()
    present = {path: path.read_text(encoding="utf-8") if path.exists() else "" for path in wanted}
    stale = [path for path, new in wanted.items() if new != present[path]]
    for path in stale:
        if check:
            print(f"{path.name} is stale: run tools/{tool}", *_differences(present[path], wanted[path]), sep="\n")
        else:
            path.write_text(wanted[path], encoding="utf-8")
            print(f"{path.name} is written anew")
    return int(check and bool(stale))


def _differences(old: str, new: str, lines: int = 12) -> list[str]:
    """The first lines that one text has and the other lacks."""
    lists = [text.splitlines() for text in (old, new)]
    found = difflib.unified_diff(*lists, n=0, lineterm="")
    return [line[:300] for line in islice((line for line in found if not line.startswith(("---", "+++"))), lines)]
