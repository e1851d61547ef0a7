"""What is special to the explorers of dataflows: runs that stay short, and layers that leave out a control."""

from __future__ import annotations

import pytest

from convlab import explore
from convlab.dataflow import DATAFLOWS
from convlab.explore.controls import Range


def test_filters_are_as_many_as_a_short_run_has() -> None:
    explorer = explore.dataflow(k=4)
    assert explorer.view.done.counts.macs == 576
    explorer.controls["c"].value = 2
    assert explorer.controls["k"].max == explorer.controls["k"].value == 2
    explorer.set({name: each.most for name, each in explorer.table.items() if isinstance(each, Range)} | {"stride": 1})
    assert explorer.values["k"] == 1
    assert explorer.view.done.counts.macs == 882


def test_im2cols_matrix_has_room() -> None:
    explorer = explore.dataflow("row_stationary", h=7, w=7, c=2, r=1, padding=1, k=4)
    explorer.controls["flow"].value = "systolic_gemm"
    assert (explorer.values["h"], explorer.values["w"]) == (4, 4)
    assert explorer.view.done.layer.w == 36
    explorer.controls["padding"].value = 0
    assert explorer.controls["h"].max == 6


@pytest.mark.parametrize("flow", DATAFLOWS, ids=lambda flow: flow.name)
def test_each_dataflow_runs_on_its_network(flow: object) -> None:
    name = getattr(flow, "name", "")
    counts = explore.dataflow(name, rows=3, cols=2).view.done.counts
    assert (counts.array.rows, counts.array.cols) == (3, 2)
    assert counts.array.network == ("systolic" if name == "systolic_gemm" else "multicast")


def test_a_depthwise_layer_has_as_many_filters_as_channels() -> None:
    explorer = explore.dataflow_costs(c=24, k=40)
    assert explorer.view.counts["row stationary"].macs == 24 * 40 * 9 * 28 * 28
    explorer.controls["layer"].value = "depthwise"
    assert explorer.controls["k"].disabled
    assert explorer.view.counts["row stationary"].macs == 24 * 9 * 28 * 28


def test_a_dataflow_beside_itself_is_shown_once_and_all_of_them_with_their_totals() -> None:
    explorer = explore.dataflow_costs(first="row_stationary", second="row_stationary")
    assert [*explorer.view.counts] == ["row stationary"]
    explorer.controls["second"].value = "all"
    assert len(explorer.view.counts) == len(DATAFLOWS)
    assert len(explorer.view.panels) == 3
