from __future__ import annotations

import numpy as np
import pytest

from convlab.dataflow.array import Array, Costs


@pytest.mark.parametrize(("given", "fact"), [
    ({"rows": 0}, "rows=0 is less than 1"),
    ({"cols": -1}, "cols=-1 is less than 1"),
    ({"registers": 0}, "registers=0 is less than 1"),
    ({"buffer": 0}, "buffer=0 is less than 1"),
    ({"registers": {"x": 1, "w": 0, "y": 1}}, "registers['w']=0 is less than 1"),
    ({"registers": {"x": 1, "w": 1}}, "registers names x, w"),
    ({"rows": 2.0}, "rows=2.0 is not an integer"),
    ({"registers": 3.5}, "registers=3.5 is not an integer"),
    ({"registers": {}}, "registers names nothing"),
    ({"costs": {"dram": 500}}, "costs={'dram': 500} is not a Costs"),
    ({"network": "mesh"}, "There is no network 'mesh'"),
])  # fmt: skip
def test_impossible_machines_are_named(given, fact):
    with pytest.raises(ValueError, match="In: Array") as error:
        Array(**{"rows": 2, "cols": 3, **given})
    assert str(error.value).startswith(f"{fact}.\n")
    assert "\n  Fix: " in str(error.value)


def test_costs_are_those_of_the_paper_and_can_be_replaced():
    assert Costs() == Costs(mac=1, register=1, neighbour=2, buffer=6, dram=200)
    assert Array(2, 3, costs=Costs(dram=500)).costs.dram == 500


def test_an_array_says_what_it_is():
    registers = {"x": 12, "w": 224, "y": 24}
    assert str(Array(12, 14, registers, 55296)) == "12×14 PEs of 12+224+24 words, a buffer of 55296, multicast"


@pytest.mark.parametrize("cost", [-1, float("nan"), float("inf"), "6", None])
def test_what_is_no_cost_is_named(cost):
    with pytest.raises(ValueError, match=f"dram={cost!r} is no cost") as error:
        Costs(dram=cost)
    assert "\n  Fix: give dram a number, 0 or more." in str(error.value)


def test_numbers_may_be_numpys_and_registers_in_any_order():
    array = Array(np.int64(2), np.int32(3), {"y": 1, "x": np.int8(2), "w": 3})
    assert array == Array(2, 3, {"x": 2, "w": 3, "y": 1})
    assert str(array).startswith("2×3 PEs of 2+3+1 words")
    assert type(array.rows) is int
