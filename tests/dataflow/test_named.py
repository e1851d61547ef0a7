from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from convlab.dataflow.analytic import analyse
from convlab.dataflow.array import Array
from convlab.dataflow.executor import execute
from convlab.dataflow.fit import tile_words
from convlab.dataflow.named import (
    DATAFLOWS,
    input_stationary,
    output_stationary,
    row_stationary,
    systolic_gemm,
    weight_stationary,
)
from convlab.reference.direct import oracle
from convlab.spec import ConvSpec

from .cases import layers, tensors

LAYERS = layers(50, seed=7)
# Small enough that every layer has loops at several levels, and odd.
SMALL = Array(rows=3, cols=4, registers=24, buffer=160)
LARGE = Array(rows=16, cols=16, registers=256, buffer=64 * 1024)
POINTWISE = ConvSpec(n=1, c=64, h=28, w=28, k=96, r=1, s=1)
DEPTHWISE = ConvSpec(n=1, c=64, h=30, w=28, k=64, r=3, s=3, groups=64)
DENSE = replace(DEPTHWISE, groups=1)


def array_of(dataflow, array=SMALL):
    return replace(array, network="systolic" if dataflow is systolic_gemm else "multicast")


def test_the_layers_are_of_all_kinds():
    counts = Counter()
    for spec in LAYERS:
        counts["stride"] += spec.stride != (1, 1)
        counts["uneven padding"] += spec.padding[0] != spec.padding[1]
        counts["dilation"] += spec.dilation[0] > 1 < spec.r or spec.dilation[1] > 1 < spec.s
        counts["grouped"] += 1 < spec.groups < spec.c
        counts["depthwise"] += 1 < spec.groups == spec.c
        counts["batch"] += spec.n > 1
    assert min(counts.values()) >= 5, counts
    assert len(set(LAYERS)) == 50


@pytest.mark.parametrize("dataflow", DATAFLOWS, ids=lambda dataflow: dataflow.name)
def test_output_equals_the_oracle_and_both_counters_agree(dataflow):
    levels = set()
    for seed, spec in enumerate(LAYERS):
        x, w = tensors(spec, seed)
        array = array_of(dataflow)
        nest = dataflow(spec, array)
        done = execute(nest, spec, x, w, array)
        bound = oracle(abs(x), abs(w), None, spec) * spec.gemm_shape.gemm_k * np.finfo("f8").eps
        assert (np.abs(done.output - oracle(x, w, None, spec)) <= bound + 1e-300).all(), (nest, spec)
        assert done.counts == analyse(nest, spec, array), (nest, spec)
        words = {level: tile_words(nest, done.layer, level) for level in ("regs", "buffer")}
        for (tensor, level), held in done.counts.held.items():
            assert held <= words["regs" if level == "register" else level][tensor] * (
                level == "register" or tensor in nest.keeps
            )
        levels |= {loop.level for loop in nest.order}
    assert {"dram", "buffer", "cols", "rows"} <= levels


@pytest.mark.parametrize(
    ("dataflow", "tensor"),
    [(weight_stationary, "w"), (systolic_gemm, "w"), (output_stationary, "y"), (input_stationary, "x")],
    ids=lambda each: getattr(each, "name", each),
)
def test_what_is_stationary_moves_least(dataflow, tensor):
    """Each word of it is brought to the PEs once, or nearly: a sum leaves only when it is done."""
    spec = ConvSpec(n=1, c=16, h=12, w=14, k=24, r=3, s=3)
    counts = analyse(dataflow(spec, LARGE), spec, array_of(dataflow, LARGE))
    if tensor == "y":
        assert counts["y", "buffer"].resumed == counts["y", "dram"].resumed == 0
    else:
        words = {"w": spec.weight_shape, "x": spec.input_shape}[tensor]
        reuse = counts.macs / counts[tensor, "register"].writes
        assert reuse >= {"w": spec.p * spec.q, "x": spec.k}[tensor]
        assert tensor == "x" or counts["w", "buffer"].reads == np.prod(words)


def test_rows_are_stationary():
    """A PE keeps a filter's row while it slides along a row of pixels: they cross diagonally, sums go down."""
    spec = ConvSpec(n=1, c=1, h=5, w=7, k=1, r=3, s=3)
    array = Array(rows=3, cols=3, registers=7, buffer=64)
    nest = row_stationary(spec, array)
    assert str(nest) == "buffer(x y): q5 | rows: r3 | cols: p3 | regs: s3"
    counts = analyse(nest, spec, array)
    assert counts["w", "register"].writes == 9 * 3  # each row of PEs has its filter row, once
    assert counts["x", "buffer"].reads == 5 * 7  # a pixel is read once for its diagonal
    assert counts["x", "array"].moves == 9 * 7
    assert counts["y", "array"].moves == 2 * 15  # from the first row to the third
    assert counts["y", "buffer"].writes == 15
    done = execute(nest, spec, *tensors(spec), array, trace=True)
    first = done.trace[0].held
    for row, col in first:
        assert {h for _, _, h, _ in first[row, col]["x"]} == {row + col}
        assert {r for _, _, r, _ in first[row, col]["w"]} == {row}
        assert {p for _, _, p, _ in first[row, col]["y"]} == {col}
    moves = [move for cycle in done.trace for move in cycle.moves if move.tensor == "y"]
    down = {(move.source, move.target) for move in moves if move.target != "buffer" and move.source != "buffer"}
    assert down == {((row, col), (row + 1, col)) for row in (0, 1) for col in (0, 1, 2)}


@pytest.mark.parametrize("dataflow", [weight_stationary, input_stationary, output_stationary, systolic_gemm],
                         ids=lambda dataflow: dataflow.name)  # fmt: skip
def test_depthwise_loses_utilisation_and_reuse_and_pointwise_does_not(dataflow):
    """Without filters to share pixels and channels to share sums, an array that counts on them stands idle."""
    used = {}
    for spec in (DENSE, POINTWISE, DEPTHWISE):
        array = array_of(dataflow, LARGE)
        used[spec] = analyse(dataflow(spec, array), spec, array)
    assert used[DENSE].utilisation > 0.8
    assert used[POINTWISE].utilisation > 0.8
    assert used[DEPTHWISE].utilisation < 0.1
    assert used[POINTWISE].reuse("x", "dram") > 8 * used[DEPTHWISE].reuse("x", "dram")
    assert used[DEPTHWISE].energy / DEPTHWISE.macs > 3 * used[POINTWISE].energy / POINTWISE.macs


def test_row_stationary_finds_work_in_depthwise_but_no_more_reuse():
    busy = analyse(row_stationary(DEPTHWISE, LARGE), DEPTHWISE, LARGE)
    dense = analyse(row_stationary(DENSE, LARGE), DENSE, LARGE)
    assert busy.utilisation > 0.3
    assert dense.reuse("x", "dram") > 20 * busy.reuse("x", "dram")


def test_nests_fit_the_array_they_were_made_for():
    spec = ConvSpec(n=2, c=12, h=20, w=18, k=20, r=3, s=5, padding=1, dilation=(2, 1), stride=(1, 2), groups=2)
    for dataflow in DATAFLOWS:
        for registers in (32, {"x": 12, "w": 12, "y": 12}):
            for array in (Array(2, 9, registers, 500), Array(7, 1, registers, 3000)):
                analyse(dataflow(spec, array), spec, array)
