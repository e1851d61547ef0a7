from __future__ import annotations

import random

import numpy as np
import pytest

from convlab.dataflow.analytic import analyse
from convlab.dataflow.array import Array
from convlab.dataflow.executor import execute
from convlab.reference.direct import oracle
from convlab.spec import ConvSpec

from .cases import layers, nest, tensors

ROOMY = {network: Array(64, 64, 10**6, 10**6, network=network) for network in ("multicast", "systolic")}


@pytest.mark.parametrize("seed", range(60))
def test_any_nest_computes_the_layer_and_both_counters_agree(seed):
    """Tiles that divide nothing, idle PEs, tensors that pass the buffer by, blocks of a grid: all of it."""
    chance = random.Random(seed)
    spec = layers(1, seed=1000 + seed, most=500)[0]
    loops = nest(spec, chance)
    while np.prod([loop.times for loop in loops.at("rows", "cols")]) > 64:
        loops = nest(spec, chance)
    array = ROOMY[chance.choice(list(ROOMY))]
    x, w = tensors(spec, seed)
    done = execute(loops, spec, x, w, array)
    np.testing.assert_allclose(done.output, oracle(x, w, None, spec), rtol=1e-12, atol=1e-12)
    assert done.counts == analyse(loops, spec, array), (loops, spec)


def test_large_layers_are_counted_at_once():
    spec = ConvSpec(n=32, c=256, h=226, w=226, k=512, r=3, s=3)
    counts = analyse("dram: n k32 c16 | buffer: p q r s | rows: c16 | cols: k16", spec, Array(16, 16, 8, 10**7))
    assert counts.macs == spec.macs
    assert counts.cycles == spec.macs // 256
    assert counts["w", "dram"].reads == spec.n * np.prod(spec.weight_shape)
    assert counts["x", "dram"].reads == 32 * np.prod(spec.input_shape)
    assert counts["y", "dram"].writes == np.prod(spec.output_shape)


def test_every_word_is_read_at_least_once_and_every_sum_written():
    for seed, spec in enumerate(layers(20, seed=3, most=10**6)):
        counts = analyse(nest(spec, random.Random(seed)), spec, ROOMY["multicast"])
        assert counts["w", "dram"].reads >= np.prod(spec.weight_shape)
        assert counts["y", "dram"].writes - counts["y", "dram"].reads == np.prod(spec.output_shape)
        assert counts.macs == spec.macs
        assert 0 < counts.utilisation <= 1
