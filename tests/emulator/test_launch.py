"""What a launch hands to a kernel and back: arguments, module variables, dynamic shared memory, printed lines."""

from __future__ import annotations

import numpy as np
import pytest

from convlab.emulator import Buffer, parse, run
from convlab.errors import LaunchError
from convlab.executors.compile import compile
from convlab.executors.launch import launch as launch_kernel

from .conftest import HEAD, kernel, launch


def test_module_variables_are_kept_between_launches_of_one_program_and_fresh_in_another():
    text = kernel(
        """mov.u64 %rd1, count; atom.global.add.u32 %r1, [%rd1], 1; ld.const.u32 %r2, [start];
        st.global.v2.u32 [%rd0], {%r1, %r2};""",
        head=HEAD + ".global .align 4 .u32 count = 5;\n.const .align 4 .u32 start = 9;\n",
    )
    found = []
    for _ in range(2):
        entry = parse(text).entries["f"]
        for _ in range(3):
            out = np.zeros(2, "u4")
            assert not run(entry, (1, 1, 1), (1, 1, 1), [Buffer("out", out)]).faults
            found.append(out.tolist())
    assert found == [[n, 9] for n in (5, 6, 7)] * 2


def test_a_constant_is_not_written():
    text = kernel("mov.u64 %rd1, start; st.global.u32 [%rd1], 7;", head=HEAD + ".const .align 4 .u32 start = 9;\n")
    (fault,) = launch(text, np.zeros(1, "u4")).faults
    assert (fault.kind, fault.severity) == ("out_of_bounds", "error")
    assert fault.message.startswith("writes start")


def test_variables_of_c_have_the_names_of_c_in_messages():
    source = """
    namespace conv { __device__ float table[4]; }
    extern "C" __global__ void f(float* out, int i) {
        static __shared__ float tile[8]; tile[i] = conv::table[i]; __syncthreads(); out[0] = tile[i / 2]; }"""
    arguments = [np.zeros(1, "f4"), 12]
    run_ = launch_kernel(compile(source).kernels["f"], 1, 1, arguments, device="emulator", faults="record")
    messages = " ".join(fault.message for fault in run_.faults)
    assert "reads table[12]" in messages
    assert "writes tile[12]" in messages


def test_dynamic_shared_memory_lies_behind_the_static_and_has_the_size_that_was_asked_for():
    text = kernel(
        """
        .shared .align 4 .b8 fixed[20]; mov.u32 %r1, room; mov.u32 %r2, fixed; sub.u32 %r3, %r1, %r2;
        st.global.u32 [%rd0], %r3; mov.u32 %r4, %dynamic_smem_size; st.global.u32 [%rd0+4], %r4;
        st.shared.u32 [%r1+60], 5; ld.shared.u32 %r5, [%r1+60]; st.global.u32 [%rd0+8], %r5;
        .loc 1 9 1
        ld.shared.u32 %r6, [%r1+64];""",
        head=HEAD + ".extern .shared .align 16 .b8 room[];\n",
    )
    out = np.zeros(3, "u4")
    faults = launch(text + '.file 1 "d.cu"\n', out, block=(1, 1, 1), shared=64).faults
    assert out.tolist() == [32, 64, 5]
    assert [(f.kind, f.space, f.line) for f in faults] == [("out_of_bounds", "shared", 9)]
    assert "reads room[" in faults[0].message


def test_shared_memory_is_fresh_for_each_block_and_not_the_next_ones():
    text = kernel("""
        .shared .align 4 .b8 tile[4]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd10, %r1, 4; add.s64 %rd11, %rd0, %rd10;
        ld.shared.u32 %r2, [tile]; st.global.u32 [%rd11], %r2; st.shared.u32 [tile], %r1; ld.shared.u32 %r2, [tile];
        st.global.u32 [%rd11+160], %r2;""")
    out = np.zeros(80, "u4")
    launch(text, out, grid=(40, 1, 1), block=(1, 1, 1), observe=False)
    assert (out[:40] == 0xFFFFFFFF).all()  # what nobody wrote
    assert (out[40:] == np.arange(40)).all()


def test_arguments_are_packed_at_their_alignment_with_structs_and_null_pointers():
    text = (
        HEAD + ".visible .entry f(.param .u64 out, .param .u8 a, .param .align 8 .b8 s[24], .param .u64 none) {\n"
        ".reg .b64 %rd<8>; .reg .b32 %r<4>; ld.param.u64 %rd0, [out]; ld.param.u8 %r0, [a];\nst.global.u32 [%rd0], %r0;"
        "ld.param.v2.b64 {%rd1, %rd2}, [s+8]; st.global.b64 [%rd0+8], %rd1; st.global.b64 [%rd0+16], %rd2;\n"
        "ld.param.b64 %rd3, [none]; st.global.b64 [%rd0+24], %rd3; ret; }\n"
    )
    out = np.full(4, 9, "i8")
    struct = np.array([11, 22, 33], "i8").tobytes()
    assert not launch(text, out, b"\x07", struct, None, block=(1, 1, 1)).faults
    assert (out.view("i4")[0], out[1:].tolist()) == (7, [22, 33, 0])


PRINTING = r"""
extern "C" __global__ void f(int n) {
    int t = threadIdx.x;
    if (t < n) printf("[%d|%5u|%-6s|%.3f|%c|%llx|%%] ", t, t * 7u,
                      t % 2 ? "odd" : "even", t / 4.0, 'a' + t, 1ull << (t + 33));
    if (t == 1) printf("only one\n");
    int written = printf("%s %s", "twice", "");
    if (written != 2) printf("wrong: %d", written);
}"""


@pytest.mark.parametrize("n", [0, 3])
def test_printf_prints_what_c_prints_in_the_order_of_threads(n):
    run_ = launch_kernel(compile(PRINTING).kernels["f"], 1, 4, [n], device="emulator")
    lines = [
        f"[{t}|{7 * t:5}|{'odd' if t % 2 else 'even':6}|{t / 4:.3f}|{chr(97 + t)}|{1 << (t + 33):x}|%] "
        for t in range(n)
    ]
    assert run_.stdout == "".join(lines) + "only one\n" + "twice " * 4


def test_what_was_printed_before_a_fault_is_there():
    source = r"""extern "C" __global__ void f(int* p) { printf("before %d\n", 1); p[threadIdx.x + 8] = 1; __trap(); }"""
    run_ = launch_kernel(compile(source).kernels["f"], 1, 2, [np.zeros(4, "i4")], device="emulator", faults="record")
    assert run_.stdout == "before 1\n" * 2
    assert [fault.kind for fault in run_.faults] == ["out_of_bounds", "trap"]


def test_a_failed_assertion_says_what_failed_and_ends_the_launch():
    source = """
    extern "C" __global__ void f(int* p) {
        assert(threadIdx.x < 3 && "few");
        p[threadIdx.x] = 1; }"""
    out = np.zeros(8, "i4")
    run_ = launch_kernel(compile(source).kernels["f"], 1, 8, [out], device="emulator", faults="record")
    (fault,) = run_.faults
    assert (fault.kind, fault.line, fault.thread, fault.count) == ("assert", 3, (3, 0, 0), 5)
    assert 'fails the assertion `threadIdx.x < 3 && "few"`' in fault.message
    assert not out.any()


def test_the_budget_is_for_each_chunk_and_ends_a_long_loop_early():
    text = kernel(
        "mov.u32 %r1, 0; A: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 100; @%p1 bra A; st.global.u32 [%rd0], %r1;"
    )
    for budget, rounds in ((None, 100), (400, 100), (200, 0)):
        out = np.zeros(1, "i4")
        faults = launch(text, out, budget=budget).faults
        assert out[0] == rounds
        assert [fault.kind for fault in faults] == ([] if rounds else ["endless_loop"])


def test_no_gpu_takes_more_than_48_kb_of_shared_memory_in_variables_of_fixed_size():
    text = "mov.u64 %rd1, tile; st.global.u64 [%rd0], %rd1;"
    fits, exceeds = (kernel(text, head=f"{HEAD}.shared .align 16 .b8 tile[{size}];\n") for size in (49_152, 49_153))
    assert not launch(fits, np.zeros(1, "u8")).faults
    with pytest.raises(LaunchError, match="49,153 bytes of shared memory in variables of fixed size, and 49,152"):
        launch(exceeds, np.zeros(1, "u8"))


def test_clusters_of_more_than_a_block_are_refused():
    text = "{}.entry f() .reqnctapercluster {} {{ ret; }}"
    assert not launch(text.format(HEAD, "1, 1, 1"), block=(32, 1, 1)).faults
    with pytest.raises(LaunchError, match=r"f needs clusters of \(2, 1, 1\) blocks(.|\n)*leave __cluster_dims__ out"):
        launch(text.format(HEAD, "2, 1, 1"), block=(32, 1, 1))
