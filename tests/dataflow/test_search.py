from __future__ import annotations

import importlib
import itertools

import pytest

from convlab.dataflow.analytic import analyse
from convlab.dataflow.array import Array
from convlab.dataflow.named import DATAFLOWS, row_stationary
from convlab.dataflow.nest import Nest
from convlab.dataflow.search import search
from convlab.errors import ArgumentError
from convlab.spec import ConvSpec

SPEC = ConvSpec(n=2, c=8, h=10, w=9, k=12, r=3, s=3)
ARRAY = Array(rows=4, cols=5, registers=24, buffer=600)


@pytest.mark.parametrize(("by", "then"), [("energy", "cycles"), ("cycles", "energy")])
def test_nothing_named_is_better(by, then):
    found = search(SPEC, ARRAY, by=by, budget=400, progress=False)
    named = [analyse(flow(SPEC, ARRAY), SPEC, ARRAY) for flow in DATAFLOWS if not flow.gemm]
    costs = [(getattr(counts, by), getattr(counts, then)) for counts in (found.counts, *named)]
    assert costs[0] < min(costs[1:])
    assert found.counts == analyse(found.nest, SPEC, ARRAY)


def test_the_best_of_a_small_space_is_found():
    """One channel, one filter, a PE: all tiles of rows and columns, and all orders, tried one by one."""
    spec, array = ConvSpec(n=1, c=1, h=6, w=8, k=1, r=1, s=3), Array(1, 1, 8, 12)
    best = float("inf")
    for p, q, reg_q, reg_s in itertools.product([1, 2, 3, 6], [1, 2, 3, 6], [1, 2, 3], [1, 3]):
        for outer, inner in itertools.product(["p q", "q p"], [f"p{p} q{q} s", f"q{q} p{p} s", f"s q{q} p{p}"]):
            try:
                text = f"dram: {outer} | buffer: {inner} | regs: q{reg_q} s{reg_s}"
                best = min(best, analyse(text, spec, array).energy)
            except ValueError:  # it does not fit
                continue
    assert search(spec, array, budget=1500, progress=False).counts.energy <= best


def test_fixed_levels_stay_as_they_were():
    start = row_stationary(SPEC, ARRAY)
    found = search(SPEC, ARRAY, start=start, fixed=("rows", "cols"), budget=300, progress=False)
    assert found.nest.at("rows", "cols") == start.at("rows", "cols")
    assert found.nest.keeps == start.keeps
    assert found.counts.energy < analyse(start, SPEC, ARRAY).energy
    order = search(SPEC, ARRAY, start=start, fixed=("rows", "cols", "regs", "buffer"), budget=30, progress=False)
    assert order.nest.at("buffer", "rows", "cols", "regs") == start.at("buffer", "rows", "cols", "regs")


def test_the_same_seed_is_the_same_search():
    first, again, other = (search(SPEC, ARRAY, budget=150, seed=seed, progress=False) for seed in (3, 3, 4))
    assert first == again
    assert other.nest != first.nest


def test_it_says_what_it_stands_on():
    found = search(SPEC, ARRAY, budget=120, seed=5, progress=False)
    text = str(found)
    assert found.tried == 120
    assert f"least energy of {found.fitted} nests that fit, of 120 tried from {found.starts} start" in text
    assert found.starts == 1
    assert "with seed 5:" in text
    assert str(found.nest) == text.splitlines()[0]
    assert "another may be better" in text
    assert "fewest cycles" in str(search(SPEC, ARRAY, by="cycles", budget=20, progress=False))


def test_ctrl_c_gives_the_best_so_far(monkeypatch):
    calls, module = [], importlib.import_module("convlab.dataflow.search")

    def interrupted(*given):
        calls.append(given)
        if len(calls) == 40:
            raise KeyboardInterrupt
        return analyse(*given)

    monkeypatch.setattr(module, "analyse", interrupted)
    found = search(SPEC, ARRAY, budget=10**6, progress=False)
    assert found.interrupted
    assert found.tried == 40
    assert "stopped before its end" in str(found)
    assert found.counts == analyse(found.nest, SPEC, ARRAY)


def test_a_bar_shows_how_far_it_is(capsys):
    search(SPEC, ARRAY, budget=5)
    assert "searching" in capsys.readouterr().err
    search(SPEC, ARRAY, budget=5, progress=False)
    assert capsys.readouterr().err == ""


def test_a_space_that_is_used_up_ends_the_search():
    found = search(ConvSpec(n=1, c=1, h=1, w=1, k=2, r=1, s=1), ARRAY, budget=50, progress=False)
    assert found.tried < 50
    assert search(ConvSpec(n=1, c=1, h=1, w=1, k=2, r=1, s=1), ARRAY, budget=10**9, progress=False) == found


def test_blocks_of_a_grid_stay():
    start = Nest.parse("grid: k3 | dram: n k c p q | buffer: r s")
    found = search(SPEC, ARRAY, start=start, budget=100, progress=False)
    assert search(SPEC, ARRAY, start=str(start), budget=100, progress=False) == found
    assert found.nest.at("grid") == start.at("grid")


@pytest.mark.parametrize(("given", "fact", "fix"), [
    ({"by": "time"}, "by='time' is no measure", "use 'energy' or 'cycles'"),
    ({"fixed": ("rose",)}, "fixed names no level 'rose'", "use some of dram, buffer, rows, cols, regs"),
    ({"fixed": "rows"}, "fixed names no level 'r'", "use some of dram, buffer, rows, cols, regs, as in"),
    ({"start": 3}, "start=3 is no nest", "Give a Nest, its line of text, or a dataflow"),
    ({"budget": 1e3}, "budget=1000.0 is not an integer", "Give budget a whole number, at least 1"),
    ({"budget": 0}, "budget=0 is less than 1", "Give budget a whole number, at least 1"),
    ({"start": Nest.parse("dram: n k c p q r | buffer: s3 | rows: k5"), "fixed": ("rows",), "budget": 9},
     "None of", "give the array more registers"),
])  # fmt: skip
def test_what_cannot_be_searched_is_named(given, fact, fix):
    with pytest.raises((ValueError, ArgumentError), match="In:") as error:
        search(SPEC, ARRAY, progress=False, **given)
    assert str(error.value).startswith(fact)
    assert f"Fix: {fix}" in str(error.value)
