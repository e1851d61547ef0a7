"""Exercise 10: right answers written in other ways, and what its task states."""

from __future__ import annotations

import math

import numpy as np
import pytest

from convlab.checker import check
from convlab.checker.exercises.e10_accumulator import LAYERS
from convlab.emulator.fragments import fragment
from convlab.views.running_sum import running_sum

SEEDS = (1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3)))  # all three in CI


def in_loops(matrix, name, lane):
    group, place = divmod(lane, 4)
    found = []
    for right in (0, 8) if name == "A" else (0,):
        for down in (0, 8):
            for next_one in (0, 1):
                row, column = group + down, 2 * place + next_one + right
                found.append(matrix[row, column] if name != "B" else matrix[2 * place + next_one + down, group])
    return np.array(found)


def by_bits_in_float64(matrix, name, lane):
    g, t = lane >> 2, lane & 3
    count = 8 if name == "A" else 4
    places = {
        "A": lambda i: (g | (i & 2) << 2, t << 1 | i & 1 | (i & 4) << 1),
        "B": lambda i: (t << 1 | i & 1 | (i & 2) << 2, g),
        "C": lambda i: (g | (i & 2) << 2, t << 1 | i & 1),
    }
    return np.array([matrix[places[name](i)] for i in range(count)], np.float64)


def by_the_table(matrix, name, lane):
    who = fragment("mma", "m16n8k16", name.lower(), "f32" if name == "C" else "f16")
    return matrix[who.row[lane], who.column[lane]]


@pytest.mark.parametrize("answer", [in_loops, by_bits_in_float64, by_the_table])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_fragment_map_may_be_written_in_any_way(answer, seed):
    verdict = check("10-fragment-map", answer, seed=seed)
    assert verdict.passed, verdict


def by_counting(c, k, r, s, filters, elements, per_tap):
    """Fills tiles one by one, and counts."""
    runs = [c] * (r * s) if per_tap else [c * r * s]
    steps = sum(len(range(0, run, elements)) for run in runs)
    tiles = len(range(0, k, filters))
    return np.float32(sum(runs) * k / (steps * elements * tiles * filters))


def with_ceil(c, k, r, s, filters, elements, per_tap):
    rows = filters * math.ceil(k / filters)
    inner, outer = (c, r * s) if per_tap else (c * r * s, 1)
    return (k * c * r * s) / (rows * outer * elements * math.ceil(inner / elements))


@pytest.mark.parametrize("answer", [by_counting, with_ceil])
@pytest.mark.parametrize("seed", SEEDS)
def test_useful_shares_may_be_counted_in_any_way(answer, seed):
    verdict = check("10-pad-channels", answer, seed=seed)
    assert verdict.passed, verdict


def test_words_may_be_written_small_and_numbers_as_floats():
    numbers = {"fp16_stops": 2048.0, "bf16_stops": 2.0**8, "product_bits": 22, "fp16_most": np.int64(1023)}
    assert check("10-accumulator", {**numbers, "a": "fp16", "b": "fp32", "c": "FP16 ", "d": "fp32"}).passed


def exact(terms, product):
    """Whether FP16 gives the exact sum, found by adding."""
    with np.errstate(over="ignore"):
        return float(np.add.accumulate(np.full(terms, product, np.float16))[-1]) == terms * product


def test_what_the_accumulators_are_said_to_do_is_what_sums_do(answers):
    said = answers["10-accumulator"]
    stops = running_sum("1", 4096).sums
    assert (said["fp16_stops"], said["bf16_stops"]) == (stops["float16"], stops["bfloat16"])
    for name, (spec, product) in LAYERS.items():
        terms = spec.c // spec.groups * spec.r * spec.s
        assert said[name] == ("FP16" if exact(terms, product) else "FP32")
    assert exact(said["fp16_most"], 64)
    assert not exact(said["fp16_most"] + 1, 64)
    half = np.float16(2 - 2**-10)  # all its bits are ones
    assert int(float(half) ** 2 * 2**20).bit_length() == said["product_bits"]
