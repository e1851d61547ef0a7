"""Dataflows side by side against the executor's counts of single runs."""

from __future__ import annotations

import numpy as np
import pytest

from convlab.dataflow import DATAFLOWS, Array, Costs, execute, output_stationary, row_stationary, weight_stationary
from convlab.spec import ConvSpec
from convlab.views import dataflow_costs
from convlab.views.dataflow_costs import DataflowCostsView

SPEC = ConvSpec(n=1, c=3, h=6, w=7, k=4, r=3, s=2, stride=(1, 2), padding=1)
ARRAY = Array(4, 3, registers=50, costs=Costs(mac=2, register=1, neighbour=3, buffer=7, dram=150))
LEVELS = ("dram", "buffer", "array", "register")


def texts(view: DataflowCostsView, panel: str) -> list[list[str]]:
    (made,) = (each for each in view.panels if each.name == panel)
    return np.array(made.values).reshape(made.rows, made.cols).tolist()


def bars(view: DataflowCostsView, panel: str) -> np.ndarray:
    (made,) = (each for each in view.panels if each.name == panel)
    return np.array(made.bars).reshape(made.rows, made.cols)


def lit(view: DataflowCostsView, cell: np.integer) -> set[int]:
    return {*view.linked(int(cell))}


def test_the_numbers_are_those_of_runs() -> None:
    view = dataflow_costs([weight_stationary, output_stationary], SPEC, ARRAY)
    ones = np.ones(SPEC.input_shape), np.ones(SPEC.weight_shape)
    whole = []
    for row, flow in enumerate((weight_stationary, output_stationary)):
        counts = execute(flow(SPEC, ARRAY), SPEC, *ones, ARRAY).counts
        name = flow.name.replace("_", " ")
        words = [[counts[t, level].reads + counts[t, level].writes for t in "xwy"] for level in LEVELS]
        words[2] = [counts[tensor, "array"].moves for tensor in "xwy"]
        assert texts(view, f"words of {name}") == [[f"{each:,}" for each in line] for line in words]
        (panel,) = (each for each in view.panels if each.name == f"words of {name}")
        x, w = counts["x", "buffer"], counts["w", "array"]
        assert panel.labels[3] == f"{name}, buffer, x: {x.reads:,} reads, {x.writes:,} writes"
        assert panel.labels[7].endswith(f"{w.moves:,} moves, {w.multicasts:,} of them without a read of their own")
        energy = counts.energies
        levels = [sum(energy[tensor, level] for tensor in "xwy") / SPEC.macs for level in LEVELS]
        tensors = [sum(energy[tensor, level] for level in LEVELS) / SPEC.macs for tensor in "xwy"]
        whole.append(sum(levels) + ARRAY.costs.mac)
        assert texts(view, "energy by level")[row] == [f"{each:.3g}" for each in (whole[-1], *levels)]
        assert texts(view, "energy by tensor")[row] == [f"{each:.3g}" for each in tensors]
        busy = SPEC.macs / (counts.cycles * 12)
        assert texts(view, "time")[row] == [f"{counts.cycles:,}", f"{busy:.0%}"]
        assert bars(view, "time")[row, 1] == pytest.approx(busy)
    assert bars(view, "energy by level")[:, 0] == pytest.approx(np.array(whole) / max(whole))
    parts = bars(view, "energy by level")[:, 1:].sum(axis=1)
    assert parts == pytest.approx(np.array(whole) / max(whole) - ARRAY.costs.mac / max(whole))
    assert max(bars(view, f"words of {name}").max() for name in view.counts) == 1


def test_links_lead_from_totals_to_words_to_the_other_dataflow_and_from_loops_to_what_they_move() -> None:
    nests = {"a": "dram: k2 c | buffer: k p q | rows: r3 | cols: s2", "b": "buffer: c k p q | regs: r s"}
    view = dataflow_costs(nests, SPEC, ARRAY)
    a, b = (view.ids[f"words of {name}"] for name in "ab")
    assert lit(view, a[1, 2]) >= {b[1, 2]}
    assert lit(view, view.ids["energy by level"][0, 2]) == {*a[1]}
    assert lit(view, view.ids["energy by level"][1, 0]) == {*b.ravel()}
    assert lit(view, view.ids["energy by tensor"][1, 2]) == {*b[:, 2]}
    k_dram, c, k_buffer, p, _, r, _ = view.ids["loops of a"].ravel()
    assert lit(view, k_dram) == {a[0, 1], a[0, 2]}  # k is in the index of w and y
    assert lit(view, c) == {a[0, 0], a[0, 1]}
    assert lit(view, k_buffer) == {a[1, 1], a[1, 2]}
    assert lit(view, p) == {a[1, 0], a[1, 2]}
    assert lit(view, r) == {a[2, 0], a[2, 1]}
    assert lit(view, view.ids["loops of b"][-1, 0]) == {b[3, 0], b[3, 1]}
    (loops,) = (each for each in view.panels if each.name == "loops of a")
    assert loops.labels[0] == "dram: k1 in 2. It moves on along w and y; x is used again"
    assert [*loops.row_index] == ["dram", "dram", "buffer", "buffer", "buffer", "rows", "cols"]


def test_of_more_than_two_there_are_the_totals() -> None:
    view = dataflow_costs(DATAFLOWS, SPEC, Array(4, 3))
    assert [panel.name for panel in view.panels] == ["energy by level", "energy by tensor", "time"]
    assert [*view.panels[0].row_index] == [flow.name.replace("_", " ") for flow in DATAFLOWS]
    assert not view.links.size


def test_words_name_the_cheapest_and_the_fastest() -> None:
    view = dataflow_costs(DATAFLOWS, SPEC, Array(4, 3))
    energies = {name: each.energy for name, each in view.counts.items()}
    cheap, dear = min(energies, key=energies.__getitem__), max(energies, key=energies.__getitem__)
    assert view.captions[0].startswith(f"{cheap.capitalize()} takes the least energy, ")
    assert f"; {dear} takes {energies[dear] / energies[cheap]:.3g} times as much. " in view.captions[0]
    assert "takes the fewest cycles" in view.captions[0]
    one = dataflow_costs([row_stationary], SPEC, Array(4, 3))
    assert len(one.captions) == 1
    for name, each in view.counts.items():
        assert f"{name.capitalize()}: energy {each.energy / each.macs:.3g} for each multiply-add" in view.alt


def test_a_depthwise_layer_leaves_most_pes_of_a_weight_stationary_array_idle() -> None:
    full = ConvSpec(n=1, c=32, h=14, w=15, k=32, r=3, s=3, padding=1)
    alone = ConvSpec(n=1, c=32, h=14, w=15, k=32, r=3, s=3, padding=1, groups=32)
    busy = [
        dataflow_costs([weight_stationary], spec, Array(16, 16)).counts["weight stationary"].utilisation
        for spec in (full, alone)
    ]
    assert busy[1] < busy[0] / 10


@pytest.mark.parametrize("count", [0, 9])
def test_none_and_too_many_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"There are {count} dataflows to compare.\n  Fix: give 1 to 8."):
        dataflow_costs({str(i): weight_stationary for i in range(count)}, SPEC, ARRAY)


def test_a_nest_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="rows: k4 needs 4 rows of PEs, the array has 2"):
        dataflow_costs({"a": "dram: c p q r s | rows: k4"}, SPEC, Array(2, 2))
