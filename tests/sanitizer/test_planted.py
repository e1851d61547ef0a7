"""Kernels with one planted bug each: the bug is reported where it is, and the corrected twin gives no report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.executors.run import Run

from .planted import CASES, FOLDER, Case
from .thread_cases import RACES

KINDS = {
    *("out_of_bounds", "misaligned", "race", "barrier", "uninitialized"),
    *("unwritten", "endless_loop", "shuffle", "assert", "trap"),
}
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


# Who is named first, how often it happened, and words of the message.
WORDS = {
    "bounds_write_after_end": ((2, 0, 0), (12, 0, 0), 1, "writes y[77], which lies after the end of y"),
    "bounds_last_block": ((2, 0, 0), (22, 0, 0), 42, "reads x[150]"),
    "bounds_shared_before_start": ((0, 0, 0), None, None, "bins[-"),
    "bounds_constant_past_end": ((0, 0, 0), (0, 0, 0), 41, "reads filter[5]"),
    "bounds_device_variable": ((0, 0, 0), None, 5, "reads table[8]"),
    "bounds_null_pointer": ((0, 0, 0), (0, 0, 0), 40, "null pointer"),
    "bounds_unsigned_row": ((0, 0, 0), (0, 0, 0), 13, f"reads x[{(2**32 - 1) * 13}]"),
    "misaligned_float4_shared": ((0, 0, 0), (0, 1, 0), 48, "reads tile at byte 132"),
    "misaligned_cp_async": ((1, 0, 0), (0, 0, 0), 32, "reads x at byte 524"),
    "race_next_tile": ((0, 0, 0), (0, 0, 0), None, "tile[0], which thread (32, 0, 0) read in line 9"),
    "race_halo": ((0, 0, 0), (63, 0, 0), 3, "reads tile[65], which thread (1, 0, 0) wrote in line 10"),
    "race_cp_async_wait": ((0, 0, 0), (0, 0, 0), 128, "wrote in line 7"),
    "barrier_early_return": ((1, 0, 0), (0, 0, 0), 1, "28 threads"),
    "barrier_arrive_elsewhere": ((0, 0, 0), (32, 0, 0), 1, "deadlock"),
    "uninit_tile_edge": ((0, 0, 0), (0, 0, 0), 1, "reads tile[0]"),
    "uninit_fourth_channel": ((0, 0, 0), (0, 0, 0), 32, "reads pixels[127]"),
    "unwritten_last_column": (None, None, 6, "y[22] was never written: 6 of 138"),
    "shuffle_mask_omits_caller": ((0, 0, 0), (0, 0, 0), 1, "mask 0xfffffffe"),
    "shuffle_partial_warp": ((0, 0, 0), (36, 0, 0), 7, "lane 8 of its warp"),
    "assert_fails": ((1, 0, 0), (17, 0, 0), 1, "x[i] < bins - 1"),
    "trap_reached": ((1, 0, 0), (17, 0, 0), 1, "__trap()"),
    "frames_macro": ((5, 0, 0), (0, 0, 0), 13, "reads x[78]"),
}


def run(case: Case, arguments: list[Any], *options: str, seed: int | None = None) -> Run:
    """Launch a case's kernel under the sanitizer."""
    kernel = compile(case.source, f"{case.name}.cu", options=options).kernels[case.name]
    limits = {"shared": case.shared, "budget": case.budget, "seed": seed}
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


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("case", RACES, ids=lambda case: case.name)
def test_a_race_is_found_in_any_order_of_the_warps(case, seed):
    faults = run(case, case.arguments(np.random.default_rng(seed)), "-DBUG", seed=seed).faults
    lines = {line for _, line in case.bugs} | {line for line, _ in case.marked("OTHER")}
    assert {fault.kind for fault in faults} in ({"race"}, {"race", "uninitialized"})  # a read may now come first
    assert {line for fault in faults for line in (fault.line, fault.other_line or fault.line)} <= lines
    assert run(case, case.arguments(np.random.default_rng(seed)), seed=seed).faults == []


@pytest.mark.parametrize("name", WORDS)
def test_a_fault_says_who_and_what(name):
    (case,) = (case for case in CASES if case.name == name)
    first = run(case, case.arguments(np.random.default_rng(7)), "-DBUG").faults[0]
    *facts, words = WORDS[name]
    for fact, found in zip(facts, (first.block, first.thread, first.count), strict=True):
        assert fact in (None, found)
    assert words in first.message


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
