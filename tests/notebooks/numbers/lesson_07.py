"""The numbers in the prose of lesson 07."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from convlab.kernels.rungs.gemm import PIECE
from convlab.spec import ConvSpec

from .rule import Fact, Shown, Table

__all__ = ["NUMBERS"]

STANDARD = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1)
WIDE = ConvSpec(n=1, c=128, h=112, w=112, k=256, r=3, s=3, padding=1)
STORY = ConvSpec(n=1, c=128, h=512, w=512, k=256, r=7, s=7, padding=3)
ASKED = ConvSpec(n=1, c=1, h=56, w=56, k=1, r=5, s=5, stride=2, padding=2)


def values(spec: ConvSpec) -> int:
    """What the column matrix holds."""
    return prod(spec.im2col_shape)


def factor(spec: ConvSpec) -> float:
    """How many times the input that is."""
    return values(spec) / prod(spec.input_shape)


NUMBERS: Table = {
    "rows-explain": {"16": 4 * 4},
    "product-explain": {"144": STANDARD.gemm_shape.gemm_k},
    "elements-explain": {"16": Shown("elements-run", r"says 16 times")},
    "predict-sectors-text": {"32": Fact("the lanes of a warp")},
    "sectors-explain": {"144": STANDARD.gemm_shape.gemm_k},
    "factor-explain": {
        "128": WIDE.c,
        "112": WIDE.h,
        "256": WIDE.k,
        "55.1": values(WIDE) * 4 / 2**20,
        "6.125": prod(WIDE.input_shape) * 4 / 2**20,
        "1,000,000": 10**6,
        "1,048,576": 2**20,
        "14.47": Fact("the text's own figure, which the lesson corrects"),
        "14.45": values(WIDE) / 1e6,
        "55": values(WIDE) * 4 / 2**20,
    },
    "filters-explain": {"16": Shown("pieces", r"16 images")},
    "time-explain": {
        "512": STORY.h,
        "256": STORY.k,
        "128": STORY.c,
        "400": Fact("the story's own figure, which the lesson corrects"),
    },
    "memory-explain": {
        "128": STORY.c,
        "6.58": values(STORY) * 4 / 1e9,
    },
    "remedies-explain": {
        "6272.0": Shown("remedies-run", r"takes 6272\.0 MiB"),
        "6,577": values(STORY) * 4 / 1e6,
    },
    "strips-explain": {"256": PIECE / 2**20},
    "questions": {"56": ASKED.h, "28": ASKED.p, "25": 5 * 5, "6.25": factor(ASKED)},
    "end": {"2.25": factor(replace(WIDE, stride=(2, 2)))},
}
