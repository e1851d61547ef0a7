"""The numbers in the prose of lesson 06."""

from __future__ import annotations

from convlab.kernels.rungs.tiles import CONSTANTS, DEFAULT
from convlab.perf.gpus import gpu
from convlab.spec import ConvSpec
from convlab.views.registers import MOST_REGISTERS

from .rule import Fact, Shown, Table

__all__ = ["NUMBERS"]

STANDARD = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1)
A100 = gpu("A100")
BLOCK = 256
CONSTANT_KB = 4 * CONSTANTS // 1024
PAIR = 2 * STANDARD.c * STANDARD.r * STANDARD.s  # weights of two filters

NUMBERS: Table = {
    "filters-explain": {"16": Fact("what the reader is asked to try")},
    "pixels-explain": {"16": 4 * 4},
    "rung-text": {"16": DEFAULT.bk},
    "split-text": {"64": DEFAULT.tm * DEFAULT.tn, "0.25": (DEFAULT.tm + DEFAULT.tn) / (DEFAULT.tm * DEFAULT.tn)},
    "split-explain": {"16": DEFAULT.bk},
    "price-text": {
        "65,536": A100.registers_per_sm,
        "64": A100.warps_per_sm,
        "255": MOST_REGISTERS,
    },
    "price-explain": {"32": Shown("price-run", r"filters4: 32 registers, 64 of 64"), "64": A100.warps_per_sm},
    "explore-occupancy-text": {"64": Fact("what the reader is asked to set"), "65": Fact("one more")},
    "speed-explain": {
        "16": Shown("speed-run", r"multi_output 16 of 64 warps"),
        "64": DEFAULT.tm * DEFAULT.tn,
    },
    "local-text": {
        "64": Shown("batch-run", r"N =  1  multi_output +64 blocks"),
        "44": A100.sms - 64,
        "108": A100.sms,
    },
    "constant-text": {"64": CONSTANT_KB},
    "predict-constant-text": {"72,192": Shown("weights-run", r"in 72,192 requests")},
    "fits-text": {"64": CONSTANT_KB, "16,384": CONSTANTS},
    "bug-answer": {"256": BLOCK, "16": STANDARD.c, "288": PAIR, "32": PAIR - BLOCK, "144": PAIR // 2},
    "exercise": {
        "0.75": (4 + 2) / 8,
        "1.125": (8 + 1) / 8,
        "25": Fact("the question's own"),
        "64": CONSTANT_KB,
    },
    "end": {"64": CONSTANT_KB},
}
