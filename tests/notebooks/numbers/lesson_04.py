"""The numbers in the prose of lesson 04."""

from __future__ import annotations

from convlab.kernels.ladder import method
from convlab.perf.gpus import gpu
from convlab.spec import ConvSpec

from .rule import Fact, Shown, Table

__all__ = ["NUMBERS"]

LAYER = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1)
LARGE = ConvSpec(n=16, c=64, h=56, w=56, k=64, r=3, s=3, padding=1)
A100 = gpu("A100")
FASTER = A100.peak_tflops("float16") / A100.peak_tflops("float32")


def _tile() -> float:
    """The pixels of a block's tile of implicit_gemm on the large layer."""
    plan = method("implicit_gemm").plan
    assert plan is not None
    (step,) = plan(LARGE).launches
    return LARGE.gemm_shape.gemm_n / step.grid[0]


NUMBERS: Table = {
    "predict-uses-text": {"16": LAYER.k},
    "three-kinds": {
        "16": LAYER.k,
        "144": Shown("count-plot", r"pixels: \[ *64 +96 +144\]"),
        "96": Shown("count-plot", r"pixels: \[ *64 +96 +144\]"),
        "64": Shown("count-plot", r"pixels: \[ *64 +96 +144\]"),
        "1,024": Shown("count-plot", r"weights: \[ *961 +992 +1024\]"),
        "32": 2 * LAYER.k,  # with stride 2
        "31": LAYER.h - 1,
    },
    "find-the-bug": {
        "144": LAYER.c * LAYER.r * LAYER.s,
        "288": 2 * LAYER.c * LAYER.r * LAYER.s,
        "282": Shown("in-memory-run", "the run says 282 times"),
    },
    "intensity": {"56": LARGE.h, "16": LARGE.n},
    "explore-text": {"16": FASTER},
    "predict-naive-text": {"19.5": A100.peak_tflops("float32")},
    "roofs-explain": {"100": Fact("all of a whole")},
    "small": {"128": _tile},
    "batch": {"16": LARGE.n},
    "launch-explain": {"101": A100.sms - 7, "108": A100.sms},
    "shares-explain": {"16": LARGE.n, "43": Shown("times", "takes 43% of the time")},
    "exercise": {
        "64": Fact("the question's own"),
        "576": 9 * 64,
        "12.5": A100.ridge("float32"),
        "40": 100 * 5 / 12.5,
        "80": Fact("the question's own"),
        "16": FASTER,
        "25": Shown("batch-run", "25 blocks"),
        "108": A100.sms,
    },
}
