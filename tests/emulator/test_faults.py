from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from convlab.emulator.faults import ADVICE, Fault, FaultLog, summary
from convlab.executors.compile import compile
from convlab.executors.launch import launch

READ = Fault("out_of_bounds", "error", "global", "s.cu", 3, (), (1, 0, 0), (2, 0, 0), "reads x[9], which lies outside.")


def test_a_fault_says_where_who_what_and_how_often():
    assert str(READ) == "s.cu:3: out of bounds: block (1, 0, 0), thread (2, 0, 0) reads x[9], which lies outside."
    assert str(replace(READ, count=1200)).endswith("outside. [1,200 times; the first is shown]")
    assert str(replace(READ, count=2, stack=(("s.cu", 8), ("t.cu", 9)))) == (
        "s.cu:3: out of bounds: block (1, 0, 0), thread (2, 0, 0) reads x[9], which lies outside. "
        "(In s.cu:3, called from s.cu:8, called from t.cu:9.) [2 times; the first is shown]"
    )


def test_a_fault_without_a_line_has_no_culprit():
    fault = replace(READ, kind="unwritten", line=0, count=4, message="y[3] was never written.")
    assert str(fault) == "unwritten: y[3] was never written."


def test_the_log_folds_what_is_of_one_kind_line_and_thing():
    log = FaultLog()
    others = [replace(READ, line=4), replace(READ, kind="misaligned"), replace(READ, file="t.cu")]
    for fault in [READ, replace(READ, thread=(5, 0, 0), count=3), *others]:
        log.add(fault, "reads x")
    log.add(READ, "writes x")
    assert log.faults() == [replace(READ, count=4), *others, READ]


def test_a_summary_counts_what_it_leaves_out():
    text = summary([READ] * 9)
    assert text.count("out of bounds") == 5
    assert "… and 4 more.\nOn a GPU this reads or destroys other data" in text
    assert text.endswith("before the access, as in `if (i >= 0 && i < n)`.")


def test_a_summary_gives_each_advice_once():
    text = summary([READ, replace(READ, kind="race"), READ])
    assert text.splitlines()[3:] == [ADVICE["out_of_bounds", "error"], ADVICE["race", "error"]]
    assert "more." not in text


@pytest.mark.parametrize(("kind", "severity"), ADVICE)
def test_every_kind_says_what_it_means_on_a_gpu(kind, severity):
    assert "GPU" in ADVICE[kind, severity]
    assert summary([replace(READ, kind=kind, severity=severity)]).splitlines()[1] == ADVICE[kind, severity]


def only_fault(source, args, block=4, **options):
    (kernel,) = compile(source, "f.cu").kernels.values()
    (fault,) = launch(kernel, 1, block, args, device="emulator", faults="record", **options).faults
    return fault


CALLS = """{how} float inner(const float* x, int i) {{
    return x[i];
}}
{how} float outer(const float* x, int i) {{
    return 2 *
        inner(x, i + 1);
}}
extern "C" __global__ void f(const float* x, float* y) {{
    y[threadIdx.x] = x[threadIdx.x] +
        outer(x, threadIdx.x);
}}"""


@pytest.mark.parametrize("how", ["__device__", "__device__ __forceinline__", "__device__ __noinline__"])
def test_the_chain_of_calls(how):
    fault = only_fault(CALLS.format(how=how), [np.zeros(4, "f4"), np.zeros(4, "f4")])
    assert (fault.kind, fault.file, fault.line) == ("out_of_bounds", "f.cu", 2)
    assert fault.stack == (("f.cu", 6), ("f.cu", 10))
    assert (fault.thread, fault.count) == ((3, 0, 0), 1)


def test_a_function_that_is_called_from_two_lines_is_two_places():
    source = """__device__ float at(const float* x, int i) { return x[i]; }
    extern "C" __global__ void f(const float* x, float* y) {
        y[threadIdx.x] = at(x, threadIdx.x + 1);
        y[threadIdx.x] += at(x, threadIdx.x);
    }"""
    fault = only_fault(source, [np.zeros(4, "f4"), np.zeros(4, "f4")])
    assert (fault.line, fault.stack) == (1, (("f.cu", 3),))


def test_code_of_a_header_is_named_by_the_line_that_uses_it():
    source = """#include <cuda_fp16.h>
    __device__ __half at(const __half* x, int i) {
        return __ldg(x + i); }
    extern "C" __global__ void f(const __half* x, __half* y) {
        y[threadIdx.x] = at(x, threadIdx.x + 2); }"""
    fault = only_fault(source, [np.zeros(5, "f2"), np.zeros(4, "f2")])
    assert (fault.file, fault.line, fault.stack) == ("f.cu", 3, (("f.cu", 5),))
    assert fault.message.startswith("reads x[5], which lies after the end of x")


def test_code_of_another_file_is_named_by_the_line_that_calls_it():
    source = """#line 40 "helper.cuh"
__device__ float at(const float* x, int i) { return x[i]; }
#line 2 "f.cu"
    __device__ float twice(const float* x, int i) {
        return 2 * at(x, i + 1); }
    extern "C" __global__ void f(const float* x, float* y) {
        y[threadIdx.x] = twice(x, threadIdx.x); }"""
    fault = only_fault(source, [np.zeros(4, "f4"), np.zeros(4, "f4")])
    assert (fault.file, fault.line, fault.stack) == ("f.cu", 3, (("f.cu", 5),))


def test_recursion_has_a_call_for_each_level():
    source = """__device__ __noinline__ int down(const int* x, int n) {
        return n > 0 ? x[0] + down(x, n - 1) : x[7]; }
    extern "C" __global__ void f(const int* x, int* y) {
        y[threadIdx.x] = down(x, 3); }"""
    fault = only_fault(source, [np.ones(7, "i4"), np.zeros(4, "i4")])
    assert fault.line == 2
    assert fault.stack[-1] == ("f.cu", 4)
    assert set(fault.stack[:-1]) <= {("f.cu", 2)}


def test_block_and_thread_are_three_dimensional():
    source = """extern "C" __global__ void f(int* y) {
        if (blockIdx.x == 1 && blockIdx.y == 2 && blockIdx.z == 1 && threadIdx.y == 1 && threadIdx.z == 3)
            y[threadIdx.x + 2] = 1; }"""
    (kernel,) = compile(source, "f.cu").kernels.values()
    run = launch(kernel, (2, 3, 2), (5, 2, 4), [np.zeros(4, "i4")], device="emulator", faults="record")
    (fault,) = run.faults
    assert (fault.block, fault.thread, fault.count) == ((1, 2, 1), (2, 1, 3), 3)
