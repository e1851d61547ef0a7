"""Random sizes of transposed convolutions, and with one option only those for which ONNX's evaluator is right."""

from __future__ import annotations

import contextlib

import numpy as np

from convlab.spec import ConvTransposeSpec


def random_transposed(seed, onnx_right=False):
    """Draw a spec without symmetries: asymmetric cropping, output padding, dilation and groups.

    ONNX's evaluator is right for one group, and output padding below the stride.
    """
    rng = np.random.default_rng(seed)
    while True:
        (h, w), (r, s), (a, b) = (rng.choice(np.arange(*ends), 2, replace=False) for ends in ((2, 9), (1, 5), (1, 5)))
        groups = 1 if onnx_right else int(rng.choice([1, 2, 3]))
        stride, dilation = (tuple(int(v) for v in rng.integers(1, 4, 2)) for _ in range(2))
        most = stride if onnx_right else tuple(map(max, stride, dilation))
        extra = tuple(int(rng.integers(0, limit)) for limit in most)
        padding = [0, 1, (1, 2), tuple(int(v) for v in rng.integers(0, 4, 4))][seed % 4]
        with contextlib.suppress(ValueError):  # what is cropped away altogether is drawn again
            return ConvTransposeSpec(
                2 + seed % 2, groups * a, h, w, groups * b, r, s, stride, padding, extra, dilation, groups
            )
