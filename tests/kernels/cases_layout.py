"""What the rungs of convlab/kernels/rungs/layout.py are tested on."""

from __future__ import annotations

import numpy as np

from convlab.spec import LayoutSpec

# One element, one row, one column, a full tile, one more than a tile and one less, many tiles along both axes.
EDGES = [
    (sizes, source)
    for sizes in (
        *((1, 1, 1, 1), (3, 1, 5, 7), (2, 7, 1, 1), (1, 32, 4, 8), (2, 33, 5, 13), (1, 31, 3, 11)),
        *((2, 3, 17, 19), (1, 100, 9, 11), (3, 64, 2, 16), (1, 257, 1, 3)),
    )
    for source in ("nchw", "nhwc")
]


def _specs(seed, count=44):
    rng = np.random.default_rng(seed)
    drawn = [
        (tuple(int(v) for v in rng.integers([2, 1, 1, 1], [5, 70, 14, 14])), ("nchw", "nhwc")[i % 2])
        for i in range(count)
    ]
    return [LayoutSpec(*sizes, source, "nhwc" if source == "nchw" else "nchw") for sizes, source in drawn + EDGES]


CASES = {name: _specs(seed) for seed, name in enumerate(("layout_naive", "layout_transform", "layout_transform_half"))}
