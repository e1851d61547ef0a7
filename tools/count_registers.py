"""Compile and run the variants that ``views.registers`` shows, and write what they need; --check says what is stale.

uv run tools/count_registers.py [--check]

Registers are those of the NVRTC of this machine; another version may give others.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from generated import renew
from tqdm import tqdm

from convlab.executors.compiler import nvrtc_version
from convlab.views.register_tiles import PATH, TILES, count, text


def counts() -> Mapping[Path, str]:
    """The file's text."""
    variants = [(kernel, *tile) for kernel, tiles in TILES.items() for tile in tiles]
    tiles = [count(*variant) for variant in tqdm(variants, leave=False)]
    return {PATH: text(tiles, f"NVRTC {nvrtc_version()}")}


def main() -> int:
    """Write the file, or check it."""
    return renew(counts, "count_registers.py", __doc__)


if __name__ == "__main__":
    sys.exit(main())
