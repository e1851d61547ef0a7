"""Write the README's picture and its table of figures anew; with --check, only say whether they are up to date.

uv run tools/update_readme.py [--check]
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from generated import renew

from convlab.perf.recorded import records
from convlab.spec import ConvSpec
from convlab.views.window import window

ROOT = Path(__file__).parents[1]
README, PICTURE, RESULTS = ROOT / "README.md", ROOT / "docs" / "window.svg", ROOT / "benchmarks" / "results"
MARKS = re.compile(r"(<!-- figures: [^>]*-->\n).*?(<!-- end of figures -->)", re.DOTALL)


def picture() -> str:
    """The window view of lesson 01, as the still picture that it shows without a widget."""
    return window(ConvSpec(n=1, c=1, h=6, w=7, k=1, r=3, s=3, padding=1)).svg() + "\n"


def figures() -> str:
    """A table of what was recorded, each row with its day and machine."""
    emulator, views, cpu = (
        json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("emulator", "views", "cpu_layers")
    )
    tile = {
        peer: found["found at least"] for peer, found in cpu["parallel rung on 3×3 layers, times the rate of"].items()
    }
    times = {name: emulator[name]["times the simulator"] for name in ("naive", "tiled")}
    rates = {name: emulator[name]["million MAC per second"]["counters"] for name in ("naive", "tiled", "Tensor Cores")}
    photo = emulator["seconds for eight filters over 3×256×256, with counters"]
    redraws, lights = (
        max(found["median"] for found in views[f"milliseconds from {what}, largest picture"].values())
        for what in ("a control to the SVG", "pointing to lit")
    )
    rows = [
        (
            "the emulator against Numba's CUDA simulator, naive convolution, with counters",
            f"{times['naive']['counters']} times as fast",
            emulator,
        ),
        ("the same without counters", f"{times['naive']['no observers']} times as fast", emulator),
        ("the same with counters and sanitizer", f"{times['naive']['counters and sanitizer']} times as fast", emulator),
        ("tiled matmul, with counters", f"{times['tiled']['counters']} times as fast", emulator),
        (
            "multiply-adds a second, with counters: naive, tiled, Tensor Cores",
            f"{', '.join(f'{rate:.0f}' for rate in rates.values())} million",
            emulator,
        ),
        ("eight 3×3 filters over a photograph of 3×256×256, with counters", f"{photo:.2f} s", emulator),
        (
            "from a slider's new value to the redrawn picture, in Jupyter's kernel, slowest explorer",
            f"{redraws:.1f} ms",
            views,
        ),
        ("from pointing at a cell to the lit picture, in the browser, slowest explorer", f"{lights:.1f} ms", views),
        (
            f"a 3×3 layer on the CPU in Numba, against {', '.join(tile)}",
            f"at least {', '.join(f'{least:g}' for least in tile.values())} times as fast",
            cpu,
        ),
    ]
    lines = [f"| {what} | {value} | {_where(result)} |" for what, value, result in rows]
    return "\n".join(["| recorded | | on |", "|---|---|---|", *lines, *on_gpus(list(records(RESULTS)))]) + "\n"


def on_gpus(found: list[dict[str, Any]]) -> list[str]:
    """A row for each aim of the ladder that was judged on a GPU, or one that says that none was."""
    if not found:
        return ["| the ladder on an NVIDIA GPU, beside cuDNN | not yet recorded | `benchmarks/gpu.py` records it |"]
    return [
        f"| {line['aim']} | {line['found']:g} ({line['wanted']} wanted) | {_where(record)} |"
        for record in found
        for line in record["aims"]
        if line["found"] is not None
    ]


def _where(result: dict[str, Any]) -> str:
    machine = result["machine"]
    return f"{result['day']}, {machine.get('gpu') or machine['processor']}"


def files() -> dict[Path, str]:
    """The README with the figures of today, and the picture."""
    text = README.read_text(encoding="utf-8")
    return {README: MARKS.sub(lambda marks: marks[1] + figures() + marks[2], text), PICTURE: picture()}


def main() -> int:
    """Write or compare both; 1 when --check found one that is stale."""
    return renew(files, "update_readme.py", __doc__)


if __name__ == "__main__":
    sys.exit(main())
