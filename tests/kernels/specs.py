"""Random sizes for tests: every size differs from the others, and nothing divides anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from convlab.kernels.known import FILTERS, STRIDES
from convlab.spec import ConvSpec

PADDINGS = ("valid", "same", 1, (2, 1), (1, 0, 2, 3), (0, 3, 1, 0))


def anything(spec: Any) -> None:
    """What supports everything."""


def random_specs(
    count: int, seed: int = 0, supports: Callable[[ConvSpec], str | None] = anything, **fixed: Any
) -> Iterator[ConvSpec]:
    """Specs with N > 1, H ≠ W, R ≠ S, C ≠ K, every kind of padding, groups up to depthwise, and dilation.

    ``fixed`` are parameters of ``ConvSpec`` that are the same in all, or functions of a generator that draw them;
    what ``supports`` declines is left out. Only what is drawn here differs for sure.
    """
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        groups = int(rng.choice([1, 1, 2, 3, 5]))
        n, cg, kg = (int(v) for v in rng.integers([2, 1, 1], [4, 4, 5]))
        h, w, r, s = (int(v) for v in rng.integers([5, 5, 1, 1], [19, 19, 5, 5]))
        stride, dilation = (tuple(int(v) for v in rng.integers(1, 4, 2)) for _ in range(2))
        padding = PADDINGS[made % len(PADDINGS)]
        chosen = {name: value(rng) if callable(value) else value for name, value in fixed.items()}
        if h == w or (r == s and not {"r", "s"} & chosen.keys()) or cg == kg:
            continue
        groups = chosen.pop("groups", groups)
        sizes = {"n": n, "c": cg * groups, "h": h, "w": w, "k": kg * groups, "r": r, "s": s}
        options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        try:
            spec = ConvSpec(**{**sizes, **options, **chosen})
        except ValueError:  # the window spans more than the padded input, or chosen channels are no multiple of groups
            continue
        if supports(spec) is None:
            made += 1
            yield spec


# Sizes at which index arithmetic breaks first.
EDGES = (
    ConvSpec(n=1, c=1, h=1, w=1, k=1, r=1, s=1),
    ConvSpec(n=3, c=2, h=1, w=1, k=5, r=3, s=3, padding=1),
    ConvSpec(n=2, c=1, h=7, w=6, k=3, r=3, s=3, padding=1),
    ConvSpec(n=2, c=5, h=6, w=9, k=1, r=3, s=3, padding=(0, 1)),
    ConvSpec(n=1, c=3, h=17, w=23, k=7, r=7, s=7, stride=2, padding=3),
    ConvSpec(n=2, c=3, h=1, w=40, k=4, r=1, s=5, padding=(0, 2)),
    ConvSpec(n=1, c=4, h=35, w=2, k=6, r=3, s=1, padding="same", stride=(2, 1)),
    ConvSpec(n=1, c=33, h=5, w=4, k=65, r=1, s=1),
    ConvSpec(n=2, c=16, h=18, w=33, k=17, r=3, s=3, padding=1),
    ConvSpec(n=1, c=2, h=11, w=13, k=3, r=3, s=3, padding=(4, 5), dilation=(3, 2)),
)


def specs_for(supports: Callable[[ConvSpec], str | None], count: int = 60, seed: int = 0, **fixed: Any) -> list:
    """Random specs and the edges, as far as a rung supports them: what its record's claims are tested on."""
    edges = [spec for spec in EDGES if supports(spec) is None]
    return [*random_specs(count, seed, supports, **fixed), *edges]


def known_specs(supports: Callable[[ConvSpec], str | None] = anything, seed: int = 0) -> list[ConvSpec]:
    """Specs of each filter and stride that plans tell the compiler as numbers, and of each filter with other steps."""
    return [
        spec
        for r in FILTERS
        for stride, dilation in ((2, (1, 2)), *((stride, 1) for stride in STRIDES))
        for spec in random_specs(3, seed + r, supports, r=r, s=r, stride=stride, dilation=dilation)
    ]


def random_tensors(spec: ConvSpec, seed: int = 0, bias: bool = True):
    """x, w and bias in float32, without zeros."""
    rng = np.random.default_rng(seed)
    shapes = [spec.input_shape, spec.weight_shape, (spec.k,)]
    x, w, b = (nonzero(rng, shape) for shape in shapes)
    return x.astype("f4"), w.astype("f4"), b.astype("f4") if bias else None


def nonzero(rng: np.random.Generator, shape: tuple[int, ...]):
    """Numbers between 0.1 and 1, of either sign."""
    return rng.uniform(0.1, 1.0, shape) * rng.choice([-1, 1], shape)
