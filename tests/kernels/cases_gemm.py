"""What the rungs of convlab/kernels/rungs/gemm.py are tested on."""

from __future__ import annotations

import numpy as np

from convlab.kernels.ladder import method
from convlab.spec import ConvSpec, GemmSpec

from .specs import specs_for

# One element, one row or column, sizes on both sides of a tile's, several tiles along every axis; rows of a multiple of
# 4 elements and not, in each combination, since gemm_warp loads them in two ways.
_EDGES = [
    GemmSpec(*sizes)
    for sizes in (
        *((1, 1, 1), (1, 5, 1), (7, 1, 3), (1, 1, 50), (3, 2, 8), (2, 3, 9), (5, 4, 7)),
        *((64, 128, 8), (63, 127, 7), (65, 129, 9), (32, 33, 31), (31, 32, 33), (128, 64, 16)),
        *((68, 132, 24), (70, 140, 22), (66, 131, 20), (67, 130, 19)),
        *((130, 260, 28), (141, 268, 25), (133, 271, 24), (129, 257, 17), (16, 300, 27), (150, 20, 30), (10, 9, 80)),
    )
]


def _gemm_specs(count: int, seed: int) -> list[GemmSpec]:
    """Sizes over two orders of magnitude, so that small and large ones are as frequent."""
    rng = np.random.default_rng(seed)
    random = [GemmSpec(*(int(2**e) for e in rng.uniform(0, [6.8, 7.6, 5], 3))) for _ in range(count)]
    return [*random, *_EDGES]


# Several tiles of filters and of pixels, several steps along channels, in one and in several groups.
_LARGE = [
    ConvSpec(n=2, c=5, h=13, w=15, k=70, r=3, s=2, padding=1),
    ConvSpec(n=3, c=20, h=12, w=14, k=140, r=2, s=3, groups=2, stride=(1, 2)),
    ConvSpec(n=2, c=8, h=12, w=16, k=12, r=3, s=3, padding=1, groups=2),
    ConvSpec(n=1, c=4, h=23, w=26, k=9, r=5, s=3, padding=(2, 1), dilation=(2, 1)),
]
_LARGE_POINTWISE = [
    ConvSpec(n=2, c=19, h=13, w=15, k=70, r=1, s=1),
    ConvSpec(n=3, c=8, h=16, w=12, k=130, r=1, s=1),
    ConvSpec(n=2, c=3, h=31, w=28, k=65, r=1, s=1, stride=(2, 3)),
    ConvSpec(n=2, c=17, h=1, w=1, k=66, r=1, s=1),
]

CASES: dict[str, list] = {
    **{
        name: _gemm_specs(40, seed)
        for seed, name in enumerate(("gemm_naive", "gemm_tiled", "gemm_register", "gemm_warp"))
    },
    "im2col_gemm": specs_for(method("im2col_gemm").supports, count=50, seed=4, r=lambda rng: int(rng.integers(1, 4)))
    + _LARGE,
    "pointwise": specs_for(
        method("pointwise").supports,
        seed=5,
        **{"r": 1, "s": 1, "padding": 0, "groups": 1},
        c=lambda rng: int(rng.integers(1, 30)),
        k=lambda rng: int(rng.integers(1, 40)),
    )
    + _LARGE_POINTWISE,
}
