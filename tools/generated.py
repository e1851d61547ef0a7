"""What the tools that generate files share: write what is stale, or with --check only say so."""

from __future__ import annotations

import argparse
import operator
from collections.abc import Callable, Mapping
from pathlib import Path

__all__ = ["renew"]


def renew(
    make: Callable[[], Mapping[Path, str]],
    tool: str,
    description: str | None,
    same: Callable[[str, str], bool] = operator.eq,
) -> int:
    """Write or compare the files that ``make`` gives, with their texts; 1 when --check found one that is stale.

    The command line is read before anything is made: whoever asks for help need not wait for it. ``same`` tells whether
    the text that is there still holds, where not every machine makes the same one.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when something is stale")
    check = parser.parse_args().check
    wanted = make()
    present = {path: path.read_text(encoding="utf-8") for path in wanted if path.exists()}
    stale = [path for path, new in wanted.items() if path not in present or not same(present[path], new)]
    for path in stale:
        if not check:
            path.write_text(wanted[path], encoding="utf-8")
        print(f"{path.name} {f'is stale: run tools/{tool}' if check else 'is written anew'}")
    return int(check and bool(stale))
