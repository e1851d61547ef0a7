"""The numbers in the prose of lesson 00."""

from __future__ import annotations

from convlab.perf.gpus import gpu

from .rule import Fact, Table

__all__ = ["NUMBERS"]

A100 = gpu("A100")
WARP, SECTOR, FLOAT = A100.threads_per_warp, 32, 4
BLOCK, BLOCKS, ELEMENTS = 256, 4, 1000

NUMBERS: Table = {
    "gpu": {"32": WARP},
    "latency-explain": {"108": A100.sms},
    "copies": {"100": 100_000_000 / 1e6},
    "sectors": {"32": SECTOR},
    "sectors-explain": {"32": WARP, "128": WARP * FLOAT, "256": BLOCK, "1024": BLOCKS * BLOCK, "1000": ELEMENTS},
    "no-guard-explain": {"96": (BLOCKS * BLOCK - ELEMENTS) * FLOAT, "256": BLOCK},
    "questions": {
        "100": Fact("the question's own"),
        "96": Fact("the question's own"),
        "32": WARP,
        "300": 100 * -(-96 // WARP),
        "256": BLOCK,
        "1000": ELEMENTS,
        "24": BLOCKS * BLOCK - ELEMENTS,
    },
    "end": {"32": SECTOR},
}
