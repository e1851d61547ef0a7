"""The numbers in the prose of lesson 01."""

from __future__ import annotations

from convlab.spec import ConvSpec

from .rule import Fact, Shown, Table

__all__ = ["NUMBERS"]

FIRST = ConvSpec(n=1, c=3, h=224, w=224, k=32, r=3, s=3, stride=2, padding=1)
STANDARD = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1)

NUMBERS: Table = {
    "one-output": {"224": FIRST.h, "32": FIRST.k},
    "one-output-explain": {"27": Shown("one-output-run", "^27 products"), "64": Fact("the question's own")},
    "cheaper": {"256": Fact("the example's own")},
    "predict-grid-text": {"16": STANDARD.c, "32": STANDARD.h},
    "standard-explain": {"16,384": Shown("standard-layer", "16,?384"), "144": STANDARD.gemm_shape.gemm_k},
    "break": {"256": Shown("photo", "largest"), "65,536": 256 * 256},
    "exercise": {"256": Fact("the question's own"), "2304": 256 * 3 * 3, "224": FIRST.h, "112": FIRST.p},
}
