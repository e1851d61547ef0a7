"""Random convolutions for tests: every size differs from the others, and nothing divides anything."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from convlab.spec import ConvSpec

PADDINGS = ("valid", "same", 1, (2, 1), (1, 0, 2, 3), (0, 3, 1, 0))


def random_specs(count: int, seed: int = 0) -> Iterator[ConvSpec]:
    """Specs with N > 1, H ≠ W, R ≠ S, C ≠ K, every kind of padding, groups up to depthwise, and dilation."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        groups = int(rng.choice([1, 1, 2, 3, 5]))
        n, cg, kg = (int(v) for v in rng.integers([2, 1, 1], [4, 4, 5]))
        h, w, r, s = (int(v) for v in rng.integers([5, 5, 1, 1], [19, 19, 5, 5]))
        stride, dilation = (tuple(int(v) for v in rng.integers(1, 4, 2)) for _ in range(2))
        padding = PADDINGS[made % len(PADDINGS)]
        if h == w or r == s or cg == kg:
            continue
        try:
            spec = ConvSpec(n, cg * groups, h, w, kg * groups, r, s, stride, padding, dilation, groups)
        except ValueError:  # the window spans more than the padded input
            continue
        made += 1
        yield spec


def random_tensors(spec: ConvSpec, seed: int = 0, bias: bool = True):
    """x, w and bias in float32, without zeros."""
    rng = np.random.default_rng(seed)
    shapes = [spec.input_shape, spec.weight_shape, (spec.k,)]
    x, w, b = (rng.uniform(0.1, 1.0, shape) * rng.choice([-1, 1], shape) for shape in shapes)
    return x.astype("f4"), w.astype("f4"), b.astype("f4") if bias else None
