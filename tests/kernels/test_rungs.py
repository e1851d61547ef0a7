"""Every rung of the ladder on everything that it claims to compute."""

from __future__ import annotations

import pytest

from convlab.kernels.ladder import methods

from .cases import CASES, RELATIVE
from .rungs import check_rung

RUNGS = [record.name for record in methods() if record.plan is not None and record.name != "im2col_cublas"]
ALL = [(name, number) for name in RUNGS for number in range(len(CASES.get(name, ())))]


def test_every_rung_has_at_least_sixty_specs():
    assert {name: len(CASES[name]) >= 60 for name in RUNGS} == dict.fromkeys(RUNGS, True)


@pytest.mark.parametrize(("name", "number"), ALL, ids=[f"{name}-{number}" for name, number in ALL])
def test_a_rung_equals_the_oracle_without_a_fault(name, number):
    check_rung(name, CASES[name][number], seed=number, relative=RELATIVE.get(name, 0.0))
