"""Small random layers, and random nests for them: every size is odd to every other, nothing divides anything."""

from __future__ import annotations

import random

import numpy as np

from convlab.dataflow.nest import LEVELS, Nest, sizes
from convlab.spec import ConvSpec


def layers(count, seed, most=700):
    """Layers of at most so many multiply-adds, with stride, padding, dilation and groups, alone and together."""
    chance, made = random.Random(seed), []
    while len(made) < count:
        groups = chance.choice([1, 1, 2, 3])
        channels, filters = chance.randint(1, 4), chance.randint(1, 4)
        if channels == filters and groups == 1:
            continue
        stride, dilation = ([chance.choice([1, 1, 2, 3]) for _ in range(2)] for _ in range(2))
        padding = tuple(chance.choice([0, 0, 1, 2]) for _ in range(4))
        h, w, r, s = chance.randint(2, 8), chance.randint(2, 8), chance.randint(1, 3), chance.randint(1, 4)
        if h == w or r == s > 1:
            continue
        try:
            sizes_ = chance.randint(1, 3), groups * channels, h, w, groups * filters, r, s
            spec = ConvSpec(*sizes_, stride, padding, dilation, groups)
        except ValueError:  # the window spans more than the padded input
            continue
        if spec.macs <= most:
            made.append(spec)
    return made


def tensors(spec, seed=0):
    """Random x and w."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=spec.input_shape), rng.normal(size=spec.weight_shape)


def nest(spec, chance):
    """A random nest: letters split over random levels in random order, with counts that need not divide the sizes."""
    gemm = chance.random() < 0.15
    parts = {level: [] for level in LEVELS}
    for letter, size in sizes(Nest((), gemm=gemm).layer(spec)).items():
        if size == 1 and chance.random() < 0.8:
            continue
        for level in chance.sample(LEVELS, chance.choice([1, 1, 2, 2, 3])):
            parts[level].append(f"{letter}{chance.choice([1, 2, 2, 3])}")
        parts[chance.choice(["grid", "dram", "buffer", "dram", "buffer", "regs"])].append(letter)
    for loops in parts.values():
        chance.shuffle(loops)
    kept = chance.choice(["", "", "(x w)", "(x)", "(w y)"])
    named = {level: level + kept * (level == "buffer") for level in LEVELS}
    text = " | ".join(f"{named[level]}: {' '.join(loops)}" for level, loops in parts.items() if loops or kept)
    return Nest.parse("gemm | " * gemm + text).on(spec)
