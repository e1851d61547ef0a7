"""What the tools that generate files share: write what is stale, or with --check only say so."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

__all__ = ["renew"]


def renew(
    make: Callable[[], Mapping[Path, str]], tool: str, description: str | None, unsteady: tuple[str, ...] = ()
) -> int:
    """Write or compare the files that ``make`` gives, with their texts; 1 when --check found one that is stale.

    Lines with a word of ``unsteady``, and files of that name, are not compared: NVRTC compiles those kernels otherwise
    from one process to the next. The command line is read before anything is made: whoever asks for help need not
    wait for it.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when something is stale")
    check = parser.parse_args().check
    wanted = make()

    def steady(path: Path, text: str) -> list[str]:
        lines = text.splitlines(keepends=True)
        return [line for line in lines if not check or not any(word in path.name + line for word in unsteady)]

    stale = [
        path
        for path, new in wanted.items()
        if not path.exists() or steady(path, path.read_text(encoding="utf-8")) != steady(path, new)
    ]
    for path in stale:
        if not check:
            path.write_text(wanted[path], encoding="utf-8")
        print(f"{path.name} {f'is stale: run tools/{tool}' if check else 'is written anew'}")
    return int(check and bool(stale))
