"""The numbers in the prose of lesson 03."""

from __future__ import annotations

from convlab.perf.gpus import gpu
from convlab.spec import ConvSpec
from convlab.views.coalescing import coalescing

from .rule import Fact, Shown, Table

__all__ = ["NUMBERS"]

STANDARD = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1)
WARP = gpu("A100").threads_per_warp
SIDE = 16  # of a square block
BLOCK = 256


def width_of(most: int, width: int) -> int:
    """The width, where no load of the naive kernel's first warp takes more sectors than it should, and one as many."""
    spec = ConvSpec(n=1, c=1, h=6, w=width, k=1, r=3, s=3, padding=1)
    return width if max(coalescing("naive", spec).sectors) == most else 0


NUMBERS: Table = {
    "blocks": {"32": WARP, "31": WARP - 1},
    "predict-rows-text": {"16": Fact("the question's own")},
    "explore-text": {"16": Fact("what the reader is asked to set")},
    "rows-text": {"16": STANDARD.c, "32": STANDARD.h},
    "reuse-explain": {"16": STANDARD.k, "144": 9 * STANDARD.k},
    "predict-columns-text": {"128": 4 * WARP},
    "columns-explain": {"32": Shown("columns-run", r"down columns +x 31\.\d+ +w +1\.00 +y 32\.00"), "16": STANDARD.k},
    "explore-answer": {
        "16": lambda: width_of(4, 16),
        "32": lambda: width_of(4, 32),
        "24": lambda: width_of(5, 24),
        "40": lambda: width_of(5, 40),
    },
    "steps-explain": {"64": Fact("the layer's own"), "56": Fact("the layer's own"), "16": Fact("the layer's own")},
    "steps-time-explain": {"16": SIDE, "32": WARP, "256": SIDE * SIDE},
    "shapes-explain": {"16": SIDE, "64": 4 * SIDE},
    "edges-explain": {"32": WARP},
    "bug-answer": {"1024": STANDARD.p * STANDARD.q, "35": 5 * 7},
    "others-explain": {"32": WARP, "63": 2 * WARP - 1, "256": BLOCK},
    "halo-explain": {"32": Fact("the question's own")},
    "end": {"32": WARP},
}
