from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from convlab.dataflow.analytic import analyse
from convlab.dataflow.array import Array, Costs
from convlab.dataflow.executor import execute
from convlab.errors import ArgumentError
from convlab.reference.direct import oracle
from convlab.spec import ConvSpec

from .cases import tensors

SPEC = ConvSpec(n=2, c=4, h=6, w=5, k=6, r=2, s=3, stride=(2, 1), padding=(1, 0, 1, 1), groups=2)
ARRAY = Array(rows=3, cols=4, registers=64, buffer=4096)
NEST = "dram: n g | buffer: k p q c | rows: r2 | cols: k2 | regs: s3"


def traced(nest=NEST, spec=SPEC, array=ARRAY):
    return execute(nest, spec, *tensors(spec), array, trace=True)


def test_a_trace_shows_every_multiply_add_and_every_value():
    x, w = tensors(SPEC)
    done = traced()
    work = [each for cycle in done.trace for each in cycle.work.values()]
    assert len(work) == SPEC.macs == done.counts.macs
    sums = Counter()
    for each in work:
        pixel = 0.0 if each.x is None else x[each.x]
        assert each.factors == (pixel, w[each.w])
        sums[each.y] += pixel * w[each.w]
    y = oracle(x, w, None, SPEC)
    assert all(abs(y[address] - value) < 1e-12 for address, value in sums.items())
    assert len(sums) == y.size


@pytest.mark.parametrize(
    "nest",
    [
        NEST,
        NEST.replace("buffer:", "buffer(x w):"),
        "gemm | dram: g | buffer: q k c | rows: c3 | cols: k3",
        "grid: n g k | buffer: c p q s | rows: p2 | cols: r2",
    ],
)
@pytest.mark.parametrize("network", ["multicast", "systolic"])
def test_a_trace_moves_the_words_that_are_counted(nest, network):
    array = Array(rows=3, cols=4, registers=64, buffer=4096, network=network)
    done = traced(nest, array=array)
    moves = Counter()
    for cycle in done.trace:
        for move in cycle.moves:
            source, target = ("pe" if isinstance(end, tuple) else end for end in (move.source, move.target))
            moves[move.tensor, source, target] += 1
    for tensor in "xw":
        counts = done.counts[tensor, "array"]
        taken = sum(moves[tensor, source, "pe"] for source in ("dram", "buffer", "pe"))
        assert taken == counts.moves
        if network == "systolic":
            assert moves[tensor, "pe", "pe"] == counts.multicasts
        assert moves[tensor, "dram", "buffer"] == done.counts[tensor, "buffer"].writes
    assert moves["y", "pe", "pe"] == done.counts["y", "array"].moves
    assert moves["y", "pe", "dram"] + moves["y", "buffer", "dram"] == done.counts["y", "dram"].writes
    assert moves["y", "pe", "buffer"] + moves["y", "dram", "buffer"] == done.counts["y", "buffer"].writes


def test_a_trace_lasts_as_long_as_the_run_and_one_cycle_for_the_last_results():
    done = traced()
    assert len(done.trace) == done.counts.cycles + 1
    assert [cycle.number for cycle in done.trace] == list(range(len(done.trace)))
    assert not done.trace[-1].work
    assert {move.target for move in done.trace[-1].moves} >= {"buffer", "dram"}


def test_what_a_pe_multiplies_it_holds():
    for cycle in traced().trace:
        for pe, work in cycle.work.items():
            held = cycle.held[pe]
            assert work.x is None or work.x in held["x"]
            assert work.w in held["w"]
            assert work.y in held["y"]


def test_a_cycle_names_the_loop_that_has_advanced():
    done = traced()
    before = None
    for cycle in done.trace[:-1]:
        if cycle.advanced is not None and before is not None:
            assert cycle.indices[: cycle.advanced] == before[: cycle.advanced]
            assert cycle.indices[cycle.advanced] != before[cycle.advanced]
        assert cycle.advanced is not None or cycle.indices == before
        before = cycle.indices
    letters = [str(loop) for loop in done.nest.order]
    assert letters == ["n2", "g2", "k2", "p3", "q5", "c2", "r2", "k2", "s3"]


def test_a_systolic_array_is_a_cycle_behind_for_each_row_and_column():
    nest, spec = "buffer: q5 | rows: c2 | cols: k3", ConvSpec(n=1, c=2, h=1, w=5, k=3, r=1, s=1)
    done = traced(nest, spec, Array(3, 4, 8, 64, network="systolic"))
    assert done.counts.cycles == 5 + 1 + 2
    for cycle in done.trace:
        for (row, col), work in cycle.work.items():
            assert work.x[3] == cycle.number - row - col
    broadcast = traced(nest, spec, Array(3, 4, 8, 64))
    assert broadcast.counts.cycles == 5
    assert broadcast.counts.traffic == done.counts.traffic


def test_energy_is_what_the_table_says():
    done = traced()
    counts = done.counts
    for level, name in (("dram", "dram"), ("buffer", "buffer"), ("array", "neighbour"), ("register", "register")):
        free = Array(3, 4, 64, 4096, costs=Costs(**{**dict.fromkeys(Costs.__slots__, 0), name: 1}))
        energies = execute(NEST, SPEC, *tensors(SPEC), free).counts.energies
        assert {key for key, value in energies.items() if value} <= {(tensor, level) for tensor in "xwy"}
    x, y = counts["x", "register"], counts["y", "register"]
    assert counts.energies["x", "register"] == x.reads - x.writes
    assert counts.energies["w", "buffer"] == 6 * counts["w", "buffer"].reads
    assert counts.energies["y", "register"] == 2 * y.resumed
    assert counts.energies["y", "dram"] == 200 * np.prod(SPEC.output_shape)
    assert counts.energies["mac", "mac"] == SPEC.macs
    assert counts.energy == sum(counts.energies.values())
    assert "energy" in str(counts)


def test_reuse_is_multiply_adds_for_a_word():
    counts = traced().counts
    assert counts.reuse("w", "dram") == counts.macs / counts["w", "dram"].reads
    assert counts.reuse("y", "dram") == counts.macs / np.prod(SPEC.output_shape)
    assert counts.reuse("x", "array") == counts.macs / counts["x", "array"].moves
    passed = traced(NEST.replace("buffer:", "buffer(x w):")).counts
    assert passed.reuse("y", "buffer") == float("inf")


def test_wrong_shapes_are_refused():
    x, w = tensors(SPEC)
    with pytest.raises(ArgumentError, match="x has shape"):
        execute(NEST, SPEC, x[:1], w, ARRAY)
    with pytest.raises(ArgumentError, match="w has shape"):
        execute(NEST, SPEC, x, w[:1], ARRAY)


@pytest.mark.parametrize("dtype", ["c16", "O"])
def test_numbers_that_are_not_real_are_refused(dtype):
    x, w = tensors(SPEC)
    with pytest.raises(ArgumentError, match=r"w is .*, and PEs multiply real numbers\.\n  In: .*\n  Fix: Convert w to"):
        execute(NEST, SPEC, x, w.astype(dtype), ARRAY)


@pytest.mark.parametrize("key", [("x", "regs"), "x", ("x", "DRAM")])
def test_names_of_counts_are_told(key):
    counts = analyse(NEST, SPEC, ARRAY)
    for read in (counts.__getitem__, lambda key: counts.reuse(*key)) if len(key) == 2 else (counts.__getitem__,):
        with pytest.raises(ArgumentError, match="Nothing is counted by the name of") as error:
            read(key)
        assert "a tensor, x, w, y, and a level, dram, buffer, array, register" in str(error.value)


def test_large_counts_stay_apart():
    spec = ConvSpec(n=1, c=32, h=130, w=130, k=48, r=3, s=3)
    lines = str(analyse("dram: k c p q r s", spec, ARRAY)).splitlines()[1:5]
    assert [len(line.replace(" / ", "/").split()) for line in lines] == [4, 5, 5, 5]
    assert len({len(line) for line in lines}) == 1


def test_a_trace_that_would_fill_memory_is_refused():
    large = ConvSpec(n=1, c=16, h=30, w=30, k=16, r=3, s=3)
    with pytest.raises(ValueError, match=r"A trace of 1,806,336 multiply-adds is more than 100,000") as error:
        execute("dram: k c p q r s", large, *tensors(large), ARRAY, trace=True)
    assert "Fix: trace a smaller layer" in str(error.value)


def test_a_memory_too_small_for_one_word_of_each_tensor_is_refused():
    with pytest.raises(
        ValueError, match=r"The registers of a PE hold 2 words, the tile needs 3: x 1 \+ w 1 \+ y 1"
    ) as error:
        execute("dram: n g k c p q r s", SPEC, *tensors(SPEC), Array(1, 1, 2, 9))
    assert "Fix: Give the array room for a word of each tensor." in str(error.value)


def test_integers_and_halves_are_computed_in_float64():
    x, w = tensors(SPEC)
    done = execute(NEST, SPEC, (9 * x).astype("i4"), w.astype("f2"), ARRAY)
    np.testing.assert_allclose(done.output, oracle((9 * x).astype("i4"), w.astype("f2"), None, SPEC), rtol=1e-12)


def test_sums_that_do_not_stay_are_fetched_back():
    """With the channels outermost, every sum goes to DRAM and back between two of them."""
    spec = ConvSpec(n=1, c=3, h=4, w=5, k=2, r=1, s=1)
    counts = traced("dram: c3 k2 p4 q5", spec).counts
    assert (counts["y", "dram"].writes, counts["y", "dram"].reads) == (3 * 40, 2 * 40)
    kept = traced("dram: k2 p4 q5 c3", spec).counts
    assert (kept["y", "dram"].writes, kept["y", "dram"].reads) == (40, 0)


def test_a_window_that_slides_brings_only_its_new_column():
    spec = ConvSpec(n=1, c=1, h=3, w=9, k=1, r=3, s=3)
    assert traced("buffer: q7 | regs: r3 s3", spec).counts["x", "buffer"].reads == 3 * 9
    strided = ConvSpec(n=1, c=1, h=3, w=9, k=1, r=3, s=3, stride=(1, 2))
    assert traced("buffer: q4 | regs: r3 s3", strided).counts["x", "buffer"].reads == 3 * 9
    dilated = ConvSpec(n=1, c=1, h=3, w=9, k=1, r=3, s=3, dilation=(1, 2))
    assert traced("buffer: q5 | regs: r3 s3", dilated).counts["x", "buffer"].reads == 3 * 3 * 5  # nothing overlaps


def test_padding_is_never_moved_but_multiplied():
    spec = ConvSpec(n=1, c=1, h=2, w=2, k=1, r=3, s=3, padding=1)
    counts = traced("buffer: p2 q2 | regs: r3 s3", spec).counts
    assert counts.macs == 36
    assert counts["x", "register"].reads == 4 * 4
    assert counts["x", "dram"].reads == 4


def test_a_pe_that_idled_keeps_its_tile_while_it_stays_but_not_when_it_slides_on():
    """Three filters on two PEs: in every second step one of them idles."""
    spec = ConvSpec(n=1, c=1, h=1, w=5, k=3, r=1, s=3)
    counts = traced("buffer: q3 k2 | cols: k2 | regs: s3", spec).counts
    assert counts == analyse("buffer: q3 k2 | cols: k2 | regs: s3", spec, ARRAY)
    slides = counts["x", "array"]
    assert slides.moves == (3 + 1 + 1) + 3 * 3  # the one that idles starts anew with each window
    assert slides.multicasts == 5  # of which the other takes what is new for it, too
    stays = ConvSpec(n=1, c=1, h=1, w=5, k=1, r=1, s=3)
    assert traced("buffer: q2 | cols: q2 | regs: s3", stays).counts["w", "array"].moves == 2 * 3


def test_a_grid_forgets_what_other_blocks_had():
    spec = ConvSpec(n=1, c=1, h=3, w=9, k=1, r=3, s=3)
    assert traced("dram: q7 | buffer: r3 s3", spec).counts["x", "dram"].reads == 3 * 9
    assert traced("grid: q7 | buffer: r3 s3", spec).counts["x", "dram"].reads == 3 * 3 * 7
    assert traced("grid: q7 | buffer: r3 s3", spec).counts["w", "dram"].reads == 9 * 7
