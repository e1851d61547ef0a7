"""The numbers in the prose of lesson 09."""

from __future__ import annotations

from convlab.kernels.method import FOLDER
from convlab.kernels.rungs.implicit import THREADS
from convlab.spec import ConvSpec

from .rule import Fact, Shown, Table

__all__ = ["NUMBERS"]

LAYER = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1)


def lines() -> int:
    """Of the rung."""
    return len((FOLDER / "implicit_gemm.cu").read_text(encoding="utf-8").splitlines())


NUMBERS: Table = {
    "idea": {"100": Shown("channel-run", "row 100 is the tap")},
    "kernel-text": {"16": Shown("lines-run", "for 16 multiply-adds")},
    "divided-explain": {"144": LAYER.gemm_shape.gemm_k},
    "lines-explain": {"60": Fact("the seconds of a minute")},
    "predict-counting-text": {"73": Shown("weighed-run", "divided: 73 instructions")},
    "weighed-explain": {"16": Shown("lines-run", "for 16 multiply-adds"), "92": lines, "128": THREADS},
    "column": {
        "128": THREADS,
        "16": Shown("often-run", r"16 filters: 2\.76"),
        "32": Shown("often-run", "32 filters"),
        "64": Shown("often-run", "64 filters"),
        "2.76": Shown("often-run", r"16 filters: 2\.76"),
    },
    "often-explain": {"64": Shown("often-run", r"64 filters: 1\.")},
    "traffic-explain": {"2,048": Shown("traffic-run", r"implicit_gemm +2,048 ")},
    "time-explain": {"25": Shown("pipeline", r"one stage the warps wait [\d,]+ of [\d,]+ cycles \(25%\)")},
    "exercise": {"20": (3 * 2 + 0) * 3 + 2},
}
