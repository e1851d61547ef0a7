"""Moments against the loops themselves, run one by one."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest

from convlab.dataflow.analytic import analyse
from convlab.dataflow.array import Array
from convlab.dataflow.executor import execute
from convlab.dataflow.moments import lines
from convlab.dataflow.nest import Nest
from convlab.spec import ConvSpec

from .cases import tensors

SPEC = ConvSpec(n=1, c=1, h=3, w=59, k=1, r=2, s=3, stride=(1, 2), padding=(0, 0, 3, 4))


def stepped(line, position):
    """Where the tile of a letter starts, after and before, each time that the loop at a position advances."""
    loops = sorted(line.strides)
    spans = [line.reach, *(line.strides[i] for i in loops)]
    times = [range(-(-outer // inner)) for outer, inner in pairwise(spans)]
    walked = [(at, sum(i * line.strides[loop] for i, loop in zip(at, loops, strict=True))) for at in product(*times)]
    walked = [(at, start) for at, start in walked if start < line.size]
    if position in loops:
        place = loops.index(position)
        moved = [next(i for i, (a, b) in enumerate(zip(new, old, strict=True)) if a != b)
                 for (new, _), (old, _) in pairwise(reversed(walked))]  # fmt: skip
        starts = [start for _, start in walked]
        return [
            (after, before)
            for (before, after), first in zip(pairwise(starts), reversed(moved), strict=True)
            if first == place
        ]
    inner = sum(loop < position for loop in loops)
    rounds = Counter(at[:inner] for at, _ in walked)
    ends = {at[:inner]: start for at, start in walked}
    begins = {at[:inner]: start for at, start in reversed(walked)}
    return [(begins[key], ends[key]) for key in rounds]


@pytest.mark.parametrize("text", [
    "dram: q4 p2 | buffer: q5 | cols: q2 | regs: s3 r2",
    "dram: p2 q9 | buffer: s3 q2 r2 | cols: q2",
    "buffer: q11 r2 p2 | cols: q3 | regs: s3",
    "dram: p2 | buffer: q33 r2 | regs: s3",
])  # fmt: skip
def test_moments_are_the_steps_of_the_loops(text):
    nest = Nest.parse(text).on(SPEC)
    above = len(nest.at("dram", "buffer"))
    line = lines(nest, SPEC, "regs", above)["q"]
    for position in range(above):
        steps, moments = stepped(line, position), line.moments(position, fresh=False)

        def seen(after, before):
            """All that counting asks of a moment: how far it moves, and what either end of the axis cuts off."""
            near, far = ([place + end for place in (after, before)] for end in (0, line.tile + max(line.offsets)))
            left = tuple(max(0, 3 - 2 * place) for place in near)
            right = tuple(max(0, 2 * (place - 1) + 2 - 3 - 58) for place in far)
            return after - before, left, right, tuple(max(0, place - line.size) for place in far)

        wanted, found = Counter(seen(*step) for step in steps), Counter()
        for after, before, times in moments:
            found[seen(after, before)] += times
        assert +found == wanted, (position, moments)
        assert all(line.moments(position, fresh=True)[i].before is None for i in range(len(moments)))


@pytest.mark.parametrize("seed", range(8))
def test_long_rows_are_counted_as_they_run(seed):
    """Most of their steps are alike, and stand in one moment."""
    chance = random.Random(seed)
    stride, before, after = chance.choice([1, 2, 3]), chance.choice([0, 1, 4]), chance.choice([0, 2])
    spec = ConvSpec(
        1, 1, 2, chance.randint(90, 140), 2, 1, 3, (1, stride), (0, 0, before, after), (1, chance.choice([1, 4]))
    )
    inner = chance.choice(["q4 k2", "k q3", "s q5 k"])
    text = f"dram: p q | buffer: {inner} | cols: q{chance.choice([1, 2, 3])} | regs: q{chance.choice([1, 2])}"
    nest = Nest.parse(text + " k" * ("k" not in inner) + (" s" if " s" not in inner and inner[0] != "s" else "")).on(
        spec
    )
    array = Array(1, 3, 100, 10_000)
    assert execute(nest, spec, *tensors(spec), array).counts == analyse(nest, spec, array), (nest, spec)


def test_the_number_of_moments_does_not_grow_with_the_layer():
    def moments(width):
        spec = ConvSpec(n=1, c=1, h=1, w=width, k=1, r=1, s=3, padding=(0, 0, 1, 1))
        nest = Nest.parse("dram: q | buffer: q8 | cols: q4 | regs: q2 s3").on(spec)
        seen = lines(nest, spec, "regs", 2)["q"]
        return [len(seen.moments(position, fresh=False)) for position in (0, 1)]

    assert moments(64 * 10**7) == moments(64 * 10)


def test_a_matrix_product_with_millions_of_columns_is_counted():
    spec = ConvSpec(n=64, c=64, h=226, w=226, k=32, r=3, s=3)
    counts = analyse("gemm | dram: q k2 c | buffer: q64 | rows: c16 | cols: k16", spec, Array(16, 16, 8, 10**4))
    assert counts["x", "dram"].reads == 2 * np.prod(spec.im2col_shape)
    assert counts["x", "buffer"].reads == 2 * np.prod(spec.im2col_shape)
    assert counts["y", "dram"].writes == np.prod(spec.output_shape)
    assert counts["y", "buffer"].resumed == 35 * np.prod(spec.output_shape)
    assert counts.cycles == spec.macs // 256
