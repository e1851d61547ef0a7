from __future__ import annotations

import pytest

from convlab.dataflow.array import Array, Costs


@pytest.mark.parametrize(("given", "fact"), [
    ({"rows": 0}, "rows=0 is below 1"),
    ({"cols": -1}, "cols=-1 is below 1"),
    ({"registers": 0}, "registers=0 is below 1"),
    ({"buffer": 0}, "buffer=0 is below 1"),
    ({"registers": {"x": 1, "w": 0, "y": 1}}, "registers['w']=0 is below 1"),
    ({"registers": {"x": 1, "w": 1}}, "registers names w, x"),
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
