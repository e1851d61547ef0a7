"""Every rung of the ladder on everything that it claims to compute."""

from __future__ import annotations

import pytest

from convlab.kernels.ladder import methods

from . import (
    cases_family,
    cases_fused,
    cases_gemm,
    cases_implicit,
    cases_layout,
    cases_tensor,
    cases_threads,
    cases_tiles,
    cases_transposed,
    cases_winograd,
)
from .rungs import check_rung

FAMILIES = (
    *(cases_threads, cases_tiles, cases_gemm, cases_implicit, cases_tensor),
    *(cases_layout, cases_family, cases_transposed, cases_fused, cases_winograd),
)
CASES = {name: specs for family in FAMILIES for name, specs in family.CASES.items()}
RUNGS = [record.name for record in methods() if record.plan is not None and record.name != "im2col_cublas"]
ALL = [(name, number) for name in RUNGS for number in range(len(CASES.get(name, ())))]


def test_every_rung_has_at_least_sixty_specs():
    assert {name: len(CASES[name]) >= 60 for name in RUNGS} == dict.fromkeys(RUNGS, True)


@pytest.mark.parametrize(("name", "number"), ALL, ids=[f"{name}-{number}" for name, number in ALL])
def test_a_rung_equals_the_oracle_without_a_fault(name, number):
    check_rung(name, CASES[name][number], seed=number)
