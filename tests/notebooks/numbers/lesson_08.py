"""The numbers in the prose of lesson 08."""

from __future__ import annotations

from convlab.kernels.rungs.gemm import WARP_TILE
from convlab.reference import cpu_gemm
from convlab.spec import ConvSpec, GemmSpec

from .rule import Fact, Shown, Table

__all__ = ["NUMBERS"]

ARTICLE = ConvSpec(n=1, c=128, h=112, w=112, k=256, r=3, s=3, padding=1)
PRODUCT = ConvSpec(n=1, c=64, h=28, w=28, k=64, r=3, s=3, padding=1)
STANDARD = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1)
SQUARE = GemmSpec(64, 128, 96)
WARP = 32
TILE = 32  # of gemm_tiled
BUGGY_TILE = 16
ARTICLES = Fact("seconds that the article tells of"), Fact("seconds that the article tells of")

NUMBERS: Table = {
    "loops-text": {"112": ARTICLE.h, "128": ARTICLE.c, "256": ARTICLE.k},
    "order-text": {"64": PRODUCT.c, "28": PRODUCT.h},
    "order-explain": {"64": Fact("bytes of a cache line"), "16": Fact("numbers in a vector of AVX-512, 512 / 32")},
    "power-explain": {"64": cpu_gemm.BM, "2.4": ARTICLES[0], "0.18": ARTICLES[1], "13": int(2.4 / 0.18)},
    "inside-explain": {"2.4": ARTICLES[0], "0.18": ARTICLES[1]},
    "story-explain": {"13": Shown("story", r"gain: 13\.3 times")},
    "predict-naive-text": {"32": WARP},
    "naive-explain": {"128": 4 * WARP, "33": WARP + 1, "32": WARP},
    "naive-next": {"32": WARP},
    "tiled-explain": {"32": TILE, "20": 122_880 / 6_144, "16": Fact("what the reader is to try")},
    "registers-explain": {"64": 8 * 8, "1024": TILE * TILE},
    "warp-list": {
        "32": 4 * 8,
        "64": 8 * 8,
        "16": 4 * 4,
        "24": 2 * SQUARE.gemm_k // 8,
        "96": 4 * 2 * SQUARE.gemm_k // 8,
    },
    "pipeline-look": {"32": WARP},
    "shape-text": {"16": STANDARD.gemm_shape.gemm_m, "1024": STANDARD.gemm_shape.gemm_n},
    "shape-explain": {"64": WARP_TILE[0], "16": STANDARD.k, "48": WARP_TILE[0] - STANDARD.k},
    "predict-bug-text": {"16": BUGGY_TILE},
    "bug-answer": {"16": BUGGY_TILE},
    "questions": {"32": TILE, "0.375": (4 + 8) / (4 * 8), "13": Shown("story", r"gain: 13\.3 times")},
}
