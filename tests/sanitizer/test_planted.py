"""Kernels with one planted bug each: the bug is reported where it is, and the corrected twin gives no report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.executors.run import Run

from .planted import CASES, FOLDER, Case

KINDS = {
    *("out_of_bounds", "misaligned", "race", "barrier", "uninitialized"),
    *("unwritten", "endless_loop", "shuffle", "assert", "trap"),
}
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def run(case: Case, arguments: list[Any], *options: str) -> Run:
    """Launch a case's kernel under the sanitizer."""
    kernel = compile(case.source, f"{case.name}.cu", options=options).kernels[case.name]
    limits = {"shared": case.shared, "budget": case.budget}
    return launch(kernel, case.grid, case.block, arguments, device="emulator", faults="record", **limits)


@every_case
def test_the_bug_is_reported_where_it_is(case):
    faults = run(case, case.arguments(np.random.default_rng(7)), "-DBUG").faults
    assert faults
    for fault in faults:
        assert (fault.kind, fault.line) in case.bugs, fault
        assert fault.file == f"{case.name}.cu" or not fault.line
        assert fault.space == case.space or case.space is None
    assert ("error" in {fault.severity for fault in faults}) == (case.severity == "error")


@every_case
def test_the_twin_runs_without_a_report_and_equals_numpy(case):
    arguments = case.arguments(np.random.default_rng(8))
    expected = case.expected(*[each.copy() if isinstance(each, np.ndarray) else each for each in arguments])
    assert run(case, arguments).faults == []
    result = arguments[0]
    tolerance = 0 if result.dtype.kind in "iu" else 1e-5
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance, equal_nan=False)


@pytest.mark.parametrize("case", [case for case in CASES if case.marked("OTHER")], ids=lambda case: case.name)
def test_a_race_names_both_lines(case):
    faults = run(case, case.arguments(np.random.default_rng(9)), "-DBUG").faults
    assert {fault.other_line for fault in faults} <= {line for line, _ in case.marked("OTHER")}


@pytest.mark.parametrize("case", [case for case in CASES if case.callers], ids=lambda case: case.name)
def test_a_fault_in_an_inlined_function_names_its_callers(case):
    (fault,) = run(case, case.arguments(np.random.default_rng(10)), "-DBUG").faults
    assert fault.stack == tuple((f"{case.name}.cu", line) for line in case.callers)


def test_the_table_covers_every_kind_and_every_kernel():
    assert len(CASES) >= 45
    assert sorted(case.name for case in CASES) == sorted(path.stem for path in FOLDER.glob("*.cu"))
    assert {kind for case in CASES for kind, _ in case.bugs} == KINDS


@every_case
def test_each_kernel_says_what_its_bug_is_and_marks_one_kind(case):
    assert case.source.startswith("// ")
    assert len({kind for kind, _ in case.bugs}) == 1
