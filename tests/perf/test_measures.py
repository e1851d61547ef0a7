"""Each measure by hand, of two runs whose counters all differ."""

from __future__ import annotations

import pytest

from convlab.emulator import Counters
from convlab.executors.run import Run
from convlab.perf.measures import MEASURES, measure
from convlab.spec import GemmSpec

SPEC = GemmSpec(2, 5, 7)  # 70 multiply-accumulates
COUNTS = {
    "instructions": 700,
    "requests_global_load": 11,
    "sectors_global_load": 13,
    "sectors_global_store": 17,
    "requests_shared_load": 140,
    "thread_bytes_shared_load": 280,
    "wavefronts_shared_load": 19,
    "wavefronts_shared_store": 5,
    "conflicts_shared_load": 23,
    "conflicts_shared_store": 29,
    "flop": 31,
    "tensor_flop": 37,
    "tensor_flop_useful": 9,
    "barriers": 41,
}
X = {"thread_bytes_global_load": 400, "sectors_global_load": 3}
RUNS = [
    Run("f", "emulator", (1, 1, 1), (32, 1, 1), Counters(COUNTS), arrays={"x": Counters(X)}),
    Run("g", "emulator", (1, 1, 1), (32, 1, 1), Counters(COUNTS), arrays={"y": Counters(X)}),
]
EXPECTED = {
    "instructions": 1400,
    "instructions per MAC": 20,
    "input elements": 100,
    "input sectors": 3,
    "load requests": 22,
    "load sectors": 26,
    "store sectors": 34,
    "global bytes": 32 * 60,
    "shared loads per MAC": 4,
    "shared bytes per MAC": 8,
    "shared wavefronts": 48,
    "bank conflicts": 104,
    "multiply-adds": 68,
    "tensor useful share": 9 / 37,
    "barriers": 82,
}


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_adds_up_what_it_names(name):
    assert measure(name, RUNS, SPEC) == pytest.approx(EXPECTED[name])


def test_where_tensor_cores_do_nothing_their_share_is_none():
    idle = Run("f", "emulator", (1, 1, 1), (32, 1, 1), Counters({"tensor_flop": 0}))
    assert measure("tensor useful share", [idle], SPEC) == 0
