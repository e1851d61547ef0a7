"""The numbers in the prose of lesson 02."""

from __future__ import annotations

from dataclasses import replace

from convlab.spec import ConvSpec
from convlab.spec.axis import Axis
from convlab.views.receptive_field import Layer, receptive_field

from .rule import Fact, Shown, Table

__all__ = ["NUMBERS"]

STANDARD = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1)
TILE, LAYERS = 64, 3


def pixels(dilation: int) -> int:
    """What 16 × 16 outputs of a 3 × 3 filter read."""
    return (16 + 2 * dilation) ** 2


def more(tile: int) -> float:
    """The share of work done twice where tiles of this size overlap."""
    return (tile + 2 * LAYERS) ** 2 / tile**2 - 1


NUMBERS: Table = {
    "predict-border-text": {"32": STANDARD.h, "1,024": STANDARD.p * STANDARD.q},
    "visits-explain": {"2.25": Shown("visits-run", r"says 2\.25 windows")},
    "dilated-explain": {
        "16": Fact("the tile's own size"),
        "324": pixels(1),
        "400": pixels(2),
        "576": pixels(4),
    },
    "field-explain": {
        "15": Shown("field-run", r"\(1, 2, 4\): reach over 15, 15 of"),
        "13": Shown("field-run", r"\(2, 2, 2\): reach over 13,  7 of"),
        "41": lambda: receptive_field([Layer(kernel=3, dilation=d) for d in (1, 3, 8, 8)]).read,
        "27": 3**3,
    },
    "symptoms-explain": {
        "31": STANDARD.h - 1,
        "32": STANDARD.h,
        "16": replace(STANDARD, h=31, w=31, stride=(2, 2)).p,
    },
    "playbook": {"32": STANDARD.h},
    "tiles": {"256": Fact("the photograph's size in cell photo"), "64": TILE},
    "tiles-explain": {
        "64": TILE,
        "70": TILE + 2 * LAYERS,
        "32": TILE // 2,
        "38": TILE // 2 + 2 * LAYERS,
        "41": 100 * more(TILE // 2),
        "20": 100 * more(TILE),
    },
    "questions": {
        "13": Axis("H", 16, 0, 0, 5, 1, 3).effective,
    },
}
