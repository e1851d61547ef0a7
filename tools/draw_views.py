"""Draw docs/views/, one picture of each view and a page that shows them all, anew.

uv run tools/draw_views.py [--check]

The pictures are what a notebook shows without a widget manager; they are looked at by eye when they change.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from generated import renew

from convlab import explore, views
from convlab.dataflow import Array
from convlab.spec import BlockSpec, ConvSpec, ConvTransposeSpec

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "views"
SMALL = ConvSpec(n=1, c=1, h=6, w=7, k=1, r=3, s=3, padding=1)

# A view that is small and shows what it is for.
EXAMPLES: dict[str, Callable[[], Any]] = {
    "banks": lambda: views.banks(pitch=18, width=16),
    "coalescing": lambda: views.coalescing("naive", ConvSpec(n=1, c=1, h=8, w=40, k=1, r=3, s=3, padding=1, stride=2)),
    "dataflow": lambda: views.dataflow(
        "buffer: r p q | rows: s3 | cols: k3", ConvSpec(n=1, c=1, h=6, w=7, k=3, r=3, s=3), Array(4, 4)
    ),
    "dataflow_costs": lambda: views.dataflow_costs(
        {
            "weight stationary": "dram: p4 k2 | buffer: k4 c r s p q | rows: c11 | cols: k12",
            "row stationary": "dram: k2 c | buffer(x y): k3 c2 q | rows: k2 p2 r3 | cols: p14 | regs: k8 c8 s3",
        },
        ConvSpec(n=1, c=64, h=28, w=28, k=96, r=3, s=3, padding=1),
        Array(12, 14),
    ),
    "epilogue": lambda: views.epilogue(
        BlockSpec(ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1), pool=True)
    ),
    "family": lambda: views.family(ConvSpec(n=1, c=8, h=32, w=32, k=8, r=3, s=3, padding=1, groups=2)),
    "fragments": lambda: views.fragments("m16n8k16", "float16", lane=5),
    "gpu": lambda: views.gpu("A100"),
    "groups": lambda: explore.groups().view,
    "halo": lambda: views.halo(ConvSpec(n=1, c=1, h=21, w=19, k=1, r=3, s=3, padding=1)),
    "idle_multipliers": lambda: views.idle_multipliers(ConvSpec(n=1, c=3, h=32, w=32, k=7, r=3, s=3, padding=1)),
    "im2col": lambda: explore.im2col().view,
    "implicit_gemm": lambda: explore.implicit_gemm().view,
    "latency": lambda: views.latency(warps=3),
    "layout": lambda: views.layout(c=8, h=4, w=8, pack=4, load="pixels", number=3),
    "number_formats": lambda: views.number_formats("0.1", "float16"),
    "padding": lambda: views.window(ConvSpec(n=1, c=1, h=5, w=6, k=1, r=3, s=3, padding=2), mode="reflect"),
    "pipeline": lambda: views.pipeline(steps=3),
    "receptive_field": lambda: views.receptive_field(3 * [(3, 1, 2)]),
    "registers": lambda: views.registers("gemm_register", "A100"),
    "running_sum": lambda: views.running_sum("0.001", terms=8192),
    "threads": lambda: views.threads(SMALL, "blocks", block=(4, 8), warp=1),
    "transposed": lambda: views.transposed(
        ConvTransposeSpec(n=1, c=1, h=3, w=3, k=1, r=3, s=3, stride=2, padding=1, output_padding=1)
    ),
    "window": lambda: views.window(SMALL),
    "winograd": lambda: views.winograd(ConvSpec(n=1, c=1, h=5, w=6, k=1, r=3, s=3, padding=1), tile=(1, 0)),
}

INTRODUCTION = """<!-- written by tools/draw_views.py -->

# Views

Each picture is made by `convlab.views`; in a notebook it answers to the mouse and to arrow keys, and most have an
explorer with controls in `convlab.explore`. What a picture shows of a kernel comes from running it."""


def pages() -> dict[Path, str]:
    """The pictures of all views, and the page that shows them."""
    FOLDER.mkdir(exist_ok=True)
    shown = {name: make() for name, make in sorted(EXAMPLES.items())}
    parts = [f"## {name}\n\n![{view.alt}]({name}.svg)" for name, view in shown.items()]
    pictures = {FOLDER / f"{name}.svg": view.svg() + "\n" for name, view in shown.items()}
    return pictures | {FOLDER / "README.md": "\n\n".join([INTRODUCTION, *parts]) + "\n"}


def main() -> int:
    """Draw all views, or compare them."""
    return renew(pages, "draw_views.py", __doc__)


if __name__ == "__main__":
    sys.exit(main())
