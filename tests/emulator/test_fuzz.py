"""PTX of real programs with mistakes in it ends in an error of ours, or runs; never in a traceback from inside.

The same mistakes on every run. More of them, for as long as one likes: set CONVLAB_FUZZ to so many a program.
"""

from __future__ import annotations

import os
import random
from functools import cache
from pathlib import Path

import pytest

from convlab.executors.compile import compile

from .mutants import MISTAKES, mutant, try_out

PROGRAMS = Path(__file__).parents[1] / "programs"
# short ones that have everything among them: functions, tables, shared memory, barriers, warps, atomics, Tensor Cores
NAMES = ["function_table", "recursion", "reduction", "histogram", "match_histogram", "mma_ldmatrix", "mma_cp_async"]
NAMES += ["printing", "half2_axpy", "linked_structs", "named_barriers", "vote_search", "wmma_int8", "int8_dot"]
MUTANTS = int(os.environ.get("CONVLAB_FUZZ", "12"))


@cache
def ptx(name: str) -> str:
    return compile((PROGRAMS / f"{name}.cu").read_text(), f"{name}.cu").ptx


@pytest.mark.parametrize("name", NAMES)
def test_spoilt_ptx_is_refused_or_runs(name):
    others = [ptx(other) for other in NAMES]
    results = []
    for seed in range(MUTANTS):
        rng = random.Random(f"{name} {seed}")
        results.append(try_out(mutant(ptx(name), others, rng), rng))
    assert True in results  # mistakes so small that there is something left to run
    assert False in results


@pytest.mark.parametrize("at", range(0, 100, 7))
def test_ptx_that_breaks_off_is_refused_or_runs(at):
    text = ptx(NAMES[at % len(NAMES)])
    rng = random.Random(at)
    try_out(text[: len(text) * at // 100], rng)
    body = text.index("{", text.index(".entry")) + 20
    assert not try_out(text[: rng.randrange(body, text.index("ret;", body))], rng)


def test_every_mistake_makes_one():
    text, others = ptx("reduction"), [ptx("mma_ldmatrix")]
    for mistake in MISTAKES:
        assert any(mistake(text, others[0], random.Random(seed)) != text for seed in range(5)), mistake


def test_the_programs_run_as_they_are():
    for name in NAMES:
        assert try_out(ptx(name), random.Random(0)), name
