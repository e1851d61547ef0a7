"""Recursion: what each level keeps for itself, lanes at different depths, and recursion without an end."""

from __future__ import annotations

import numpy as np

from convlab.emulator.stack import STACK_BYTES
from convlab.executors.compile import compile
from convlab.executors.launch import launch as launch_kernel

from .conftest import HEAD, kernel, launch

STORE = "mul.wide.u32 %rd10, %r0, 4; add.s64 %rd11, %rd0, %rd10; st.global.u32 [%rd11], {value};"

# fib(n) with two calls, whose first result must survive the second
FIB = """.func (.param .b32 r) fib(.param .b32 n) {
    .reg .b32 %t<6>; .reg .pred q;
    ld.param.b32 %t0, [n]; st.param.b32 [r], %t0; setp.lt.u32 q, %t0, 2; @q ret;
    sub.u32 %t1, %t0, 1; sub.u32 %t2, %t0, 2;
    call (%t3), fib, (%t1);
    call (%t4), fib, (%t2);
    add.u32 %t5, %t3, %t4; st.param.b32 [r], %t5; ret; }
"""
# sum(n) = n + sum(n − 1), with the n of each level in an array of its own
SUM = """.func (.param .b32 r) sum(.param .b32 n) {
    .reg .b32 %t<6>; .reg .pred q; .local .align 4 .b8 own[8];
    ld.param.b32 %t0, [n]; st.local.u32 [own+4], %t0; mov.u32 %t3, 0; setp.eq.u32 q, %t0, 0; @q bra DONE;
    sub.u32 %t1, %t0, 1; call (%t3), sum, (%t1);
    DONE: ld.local.u32 %t4, [own+4]; add.u32 %t3, %t3, %t4; st.param.b32 [r], %t3; ret; }
"""
EVEN_ODD = """.func (.param .b32 r) odd(.param .b32 n);
.func (.param .b32 r) even(.param .b32 n) {
    .reg .b32 %t<4>; .reg .pred q; ld.param.b32 %t0, [n]; mov.u32 %t2, 1; setp.eq.u32 q, %t0, 0; @q bra DONE;
    sub.u32 %t1, %t0, 1; call (%t2), odd, (%t1); DONE: st.param.b32 [r], %t2; ret; }
.func (.param .b32 r) odd(.param .b32 n) {
    .reg .b32 %t<4>; .reg .pred q; ld.param.b32 %t0, [n]; mov.u32 %t2, 0; setp.eq.u32 q, %t0, 0; @q bra DONE;
    sub.u32 %t1, %t0, 1; call (%t2), even, (%t1); DONE: st.param.b32 [r], %t2; ret; }
"""


def run(name: str, functions: str, threads: int, **options) -> list[int]:
    out = np.full(threads, -1, "i4")
    text = kernel(f"call (%r2), {name}, (%r0); {STORE.format(value='%r2')}", head=HEAD + functions)
    assert not launch(text, out, **options).faults
    return out.tolist()


def test_each_lane_goes_as_deep_as_it_must():
    assert run("sum", SUM, 70) == [n * (n + 1) // 2 for n in range(70)]


def test_what_a_call_returned_survives_the_next_one():
    numbers = [0, 1]
    while len(numbers) < 12:
        numbers.append(numbers[-1] + numbers[-2])
    assert run("fib", FIB, 12) == numbers


def test_two_functions_that_call_each_other():
    assert run("even", EVEN_ODD, 40) == [1, 0] * 20


def test_recursion_comes_out_the_same_with_any_order_of_warps():
    for seed in range(3):
        assert run("sum", SUM, 70, seed=seed) == [n * (n + 1) // 2 for n in range(70)]


def test_recursion_that_some_lanes_call_and_others_do_not():
    body = f"""
        mov.u32 %r2, 1000; rem.u32 %r1, %r0, 3; setp.eq.u32 %p1, %r1, 1; @%p1 bra OVER;
        call (%r2), sum, (%r0);
        OVER: {STORE.format(value="%r2")}"""
    out = np.zeros(40, "i4")
    assert not launch(kernel(body, head=HEAD + SUM), out).faults
    assert out.tolist() == [1000 if n % 3 == 1 else n * (n + 1) // 2 for n in range(40)]


ENDLESS = """.func (.param .b32 r) down(.param .b32 n) {
    .reg .b32 %t<4>; .local .align 8 .b8 own[64];
    ld.param.b32 %t0, [n]; add.u32 %t1, %t0, 1;
    .loc 1 7 1
    call (%t2), down, (%t1); add.u32 %t2, %t2, %t0; st.param.b32 [r], %t2; ret; }
"""


def test_recursion_without_an_end_is_a_fault_at_its_call_and_no_hang():
    text = kernel(f"call (%r2), down, (%r0); {STORE.format(value='%r2')}", head=HEAD + ENDLESS) + '.file 1 "d.cu"\n'
    (fault,) = launch(text, np.zeros(64, "i4")).faults
    assert (fault.kind, fault.line) == ("endless_loop", 7)
    assert "calls deep here, and its stack is full: the recursion has no end." in fault.message
    assert STACK_BYTES // 200 < int(fault.message.split()[1].replace(",", "")) < STACK_BYTES // 64


def test_endless_recursion_of_many_threads_fills_no_memory():
    text = kernel(f"call (%r2), down, (%r0); {STORE.format(value='%r2')}", head=HEAD + ENDLESS)
    (fault,) = launch(text, np.zeros(1024, "i4"), grid=(64, 1, 1), block=(1024, 1, 1)).faults
    assert fault.kind == "endless_loop"


def test_recursion_in_cuda_c_with_a_depth_for_each_thread():
    source = """
    __device__ __noinline__ int ackermann(int m, int n) {
        if (m == 0) return n + 1;
        return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
    }
    extern "C" __global__ void f(int* out) { int t = threadIdx.x; out[t] = ackermann(t % 3, t / 3 % 4); }"""
    out = np.zeros(24, "i4")
    launch_kernel(compile(source).kernels["f"], 1, 24, [out], device="emulator")

    def ackermann(m: int, n: int) -> int:
        return n + 1 if m == 0 else ackermann(m - 1, ackermann(m, n - 1) if n else 1)

    assert out.tolist() == [ackermann(t % 3, t // 3 % 4) for t in range(24)]
