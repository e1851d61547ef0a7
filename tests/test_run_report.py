from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from convlab.emulator import Counters, Fault
from convlab.executors.module import Kernel, Module
from convlab.executors.run import Run
from convlab.executors.signature import Source
from convlab.run_report import Report, as_json, as_text, summarise

CODE = """__device__ float at(const float* x, int i) { return x[i]; }
__global__ void f(const float* x, float* y, int n) {
\ty[threadIdx.x] = at(x, threadIdx.x + 1);  // a comment that makes this line longer than any terminal is wide, by far
}
"""
SOURCE = Source(CODE)
LINES = {
    ("f.cu", 1): Counters({"instructions": 2000, "thread_instructions": 48000}),
    ("f.cu", 3): Counters(
        {"instructions": 3, "thread_instructions": 96, "requests_global_load": 4, "sectors_global_load": 9}
    ),
    ("help.cuh", 7): Counters({"instructions": 11, "thread_instructions": 11}),
}
X, Y = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([np.nan, -1.5, np.inf], np.float32)


def fault(kind: str = "out_of_bounds", severity: str = "error", line: int = 1, **more: Any) -> Fault:
    return Fault(kind, severity, "global", "f.cu", line, (("f.cu", 3),), (0, 0, 0), (31, 0, 0), "reads x[32].", **more)


def report(values: tuple[Any, ...] = (X, Y, 3), changed: tuple[bool, ...] = (False, True, False), **run: Any) -> Report:
    kernel = Kernel("f", "f", tuple(SOURCE.kernels["f"][0]), Module("f.cu", CODE, "", ""))
    total = sum(LINES.values(), Counters({}))
    given = {"counters": total, "lines": LINES, "source": CODE, "name": "f.cu"} | run
    return Report(kernel, Run("f", "emulator", (4, 1, 1), (32, 1, 1), **given), values, changed)


def sections(text: str) -> dict[str, list[str]]:
    head, *rest = text.split("\n\n")
    return {"": head.splitlines()} | {part.splitlines()[0]: part.splitlines()[1:] for part in rest}


def test_the_text_opens_with_the_launch_and_leaves_empty_sections_out():
    found = sections(as_text(report()))
    assert found[""] == ["f<<<(4, 1, 1), (32, 1, 1)>>> on emulator", "f(const float* x, float* y, int n)"]
    assert list(found) == ["", "Lines:", "Counters:", "Arrays that changed:"]
    assert list(sections(as_text(report(lines={}, counters={})))) == ["", "Arrays that changed:"]


def test_lines_are_an_aligned_table_of_at_most_a_hundred_columns():
    head, first, second, rest, *legend = sections(as_text(report()))["Lines:"]
    assert head.split() == ["line", "instructions", "lanes", "sectors", "per", "request", "CUDA", "C"]
    assert first.split()[:3] == ["1", "2,000", "24.0"]
    assert second.split()[:5] == ["3", "3", "32.0", "9", "2.2"]
    assert first.index("__device__") == second.index("    y[threadIdx.x]") == head.index("CUDA C")
    assert max(map(len, (head, first, second))) == 100
    assert second.endswith("…")
    assert [line.split()[0] for line in legend] == ["instructions", "lanes", "sectors", "per"]
    assert max(map(len, legend)) <= 100
    assert rest == "instructions in lines of help.cuh: 11"


def test_a_column_without_an_entry_is_left_out_and_conflicts_have_one():
    plain = {("f.cu", 1): LINES["f.cu", 1]}
    assert sections(as_text(report(lines=plain)))["Lines:"][0].split() == ["line", "instructions", "lanes", "CUDA", "C"]
    busy = {("f.cu", 1): Counters({"instructions": 1, "conflicts_shared_load": 1200, "conflicts_shared_store": 34})}
    head, row, *_ = sections(as_text(report(lines=busy)))["Lines:"]
    assert "conflicts" in head
    assert "1,234" in row


def test_ptx_without_a_source_names_its_places():
    _, first, *_ = sections(as_text(report(source="", name="f.ptx")))["Lines:"]
    assert first.split() == ["1", "2,000", "24.0", "f.cu"]


def test_faults_quote_their_lines_and_their_callers():
    found = sections(as_text(report(faults=[fault(), fault("race", "warning", 2, other_line=4)])))["Faults:"]
    assert found[0].startswith("error: f.cu:1: out of bounds: block (0, 0, 0), thread (31, 0, 0) reads x[32].")
    quoted = next(at for at, line in enumerate(found) if " | " in line)
    assert " ".join(found[:quoted]).replace("   ", " ").endswith("(In f.cu:1, called from f.cu:3.)")
    assert found[quoted] == "     1 | __device__ float at(const float* x, int i) { return x[i]; }"
    assert found[quoted + 1].startswith("     3 |     y[threadIdx.x]")
    race = next(at for at, line in enumerate(found) if line.startswith("warning: f.cu:2: race"))
    lines = [line[:8] for line in found[race:] if " | " in line]
    assert lines == ["     2 |", "     4 |", "     3 |"]
    assert any(line.startswith("out of bounds: On a GPU") for line in found)
    assert max(map(len, found)) <= 100


def test_many_faults_are_cut_and_counted():
    text = as_text(report(faults=[fault(line=line) for line in range(1, 31)]))
    assert text.count("error: f.cu:") == 20
    assert "… and 10 more; --json shows all of them." in text


def test_what_a_kernel_printed_is_shown_whole():
    printed = "".join(f"line {n}\n" for n in range(100))
    assert sections(as_text(report(stdout=printed)))["Printed:"] == printed.splitlines()


def test_arrays_that_changed_are_a_table():
    head, row = sections(as_text(report()))["Arrays that changed:"]
    assert head.split() == ["name", "dtype", "shape", "min", "max", "NaN", "first", "values"]
    assert row.split() == ["y", "float32", "3", "-1.5", "inf", "1", "nan,", "-1.5,", "inf"]
    counts = np.array([[0, 7]])
    _, row = sections(as_text(report((None, counts, 3))))["Arrays that changed:"]
    assert row.split() == ["y", "int64", "1x2", "0", "7", "0", "0,", "7"]
    assert sections(as_text(report(changed=(False,) * 3)))["Arrays that changed:"] == ["none"]
    assert "Arrays" not in as_text(report(values=(None, None, 3), changed=(False,) * 3))


def test_files_and_a_crash_are_told():
    told = Report(
        **{name: getattr(report(), name) for name in ("kernel", "run", "values", "changed")}, crash="It died."
    )
    assert sections(as_text(told))["Crash:"] == ["It died."]
    assert json.loads(as_json(told))["crash"] == "It died."
    files = [("y.npy", ""), ("z.npy", "No space left on device")]
    told = Report(report().kernel, report().run, (X, Y, 3), (False,) * 3, files)
    assert sections(as_text(told))["Files:"] == ["y.npy", "could not write z.npy: No space left on device"]
    written, failed = json.loads(as_json(told))["files"]
    assert written == {"path": "y.npy", "error": None}
    assert failed == {"path": "z.npy", "error": "No space left on device"}


def test_json_has_the_same_keys_always_and_says_what_numbers_it_lacks_as_text():
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    full = json.loads(as_json(report(faults=[fault(count=7)], stdout="hi\n")), parse_constant=refuse)
    bare = json.loads(as_json(report((None, None, 3), (False,) * 3, lines={}, counters={})), parse_constant=refuse)
    assert list(full) == list(bare)
    assert full["signature"] == "f(const float* x, float* y, int n)"
    assert full["grid"] == [4, 1, 1]
    assert full["counters"]["instructions"] == 2014
    assert full["lines"][1]["line"] == 3
    assert full["lines"][1]["source"].startswith("\ty[")
    assert full["lines"][1]["counters"]["sectors_global_load"] == 9
    assert full["lines"][2] | {"counters": 0} == {"file": "help.cuh", "line": 7, "source": "", "counters": 0}
    assert full["faults"][0]["kind"] == "out_of_bounds"
    assert full["faults"][0]["stack"] == [["f.cu", 3]]
    assert full["faults"][0]["count"] == 7
    x, y = full["arrays"]
    assert (x["index"], x["name"], x["shape"], x["changed"]) == (1, "x", [2, 3], False)
    assert (y["index"], y["min"], y["max"], y["nan"], y["changed"]) == (2, -1.5, "inf", 1, True)
    assert y["first"] == ["nan", -1.5, "inf"]
    assert full["stdout"] == "hi\n"


@pytest.mark.parametrize(
    ("array", "declared", "expected"),
    [
        (np.array([0x3F80, 0xC020, 0x7FC0], np.uint16), "__nv_bfloat16* y", ("bfloat16", -2.5, 1.0, 1)),
        (np.array([7, 65535], np.uint16), "unsigned short* y", ("uint16", 7, 65535, 0)),
        (np.array([[-3], [5]], np.int64), "long long* y", ("int64", -3, 5, 0)),
        (np.array([np.nan, np.nan], np.float16), "__half* y", ("float16", None, None, 2)),
        (np.zeros((0, 3), np.float32), "float* y", ("float32", None, None, 0)),
        (np.array([True, False]), "bool* y", ("bool", False, True, 0)),
        (np.zeros(2, [("a", "i4")]), "P* y", ("[('a', '<i4')]", None, None, 0)),
    ],
)
def test_a_summary_leaves_nan_out_and_widens_bfloat16(array, declared, expected):
    found = summarise(array, SOURCE.parameter(declared))
    assert (found.dtype, found.min, found.max, found.nan) == expected
    assert found.shape == array.shape
