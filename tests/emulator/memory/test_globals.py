from __future__ import annotations

import numpy as np
import pytest

from convlab.emulator import Buffer

from ..conftest import HEAD, kernel, launch

# out[tid] = x[tid + shift], in elements of 4 bytes
SHIFTED = """
    mul.wide.u32 %rd10, %r0, 4; add.s64 %rd11, %rd1, %rd10;
    .loc 1 3 1
    ld.global.f32 %f1, [%rd11+{shift}];
    .loc 1 4 1
    add.s64 %rd12, %rd0, %rd10; st.global.f32 [%rd12], %f1;"""


def shifted(shift: int, out, x):
    return launch(kernel(SHIFTED.format(shift=shift), 2) + '.file 1 "s.cu"\n', out, x, block=(64, 1, 1))


def test_a_read_past_the_end_is_named_once_and_reads_zero():
    x, out = np.arange(1, 65, dtype="f4"), np.full(64, -1, "f4")
    (fault,) = shifted(4 * 3, out, x).faults
    assert out.tolist() == [*range(4, 65), 0, 0, 0]
    assert (fault.kind, fault.space, fault.file, fault.line, fault.count) == ("out_of_bounds", "global", "s.cu", 3, 3)
    assert (fault.block, fault.thread) == ((0, 0, 0), (61, 0, 0))
    assert str(fault) == (
        "s.cu:3: out of bounds: block (0, 0, 0), thread (61, 0, 0) reads p1[64], which lies after the end of p1, "
        "an array of shape (64,). [3 times; the first is shown]"
    )


def test_a_write_outside_writes_nothing_there_and_the_rest_is_written():
    x, out = np.ones(64, "f4"), np.zeros(40, "f4")
    (fault,) = shifted(0, out, x).faults
    assert out.tolist() == [1.0] * 40
    assert (fault.line, fault.count, fault.thread) == (4, 24, (40, 0, 0))
    assert "writes p0[40], which lies after the end of p0" in fault.message


def test_a_misaligned_access_is_a_fault():
    (fault,) = shifted(2, np.zeros(64, "f4"), np.zeros(80, "f4")).faults
    assert (fault.kind, fault.count) == ("misaligned", 64)
    assert "reads p1 at byte 2, which is no multiple of the access's 4 bytes." in fault.message


def test_a_null_pointer_is_a_fault_and_no_crash():
    (fault,) = shifted(8, np.zeros(64, "f4"), None).faults
    assert fault.kind == "out_of_bounds"
    assert "reads 4 bytes at address 0x8, through a null pointer" in fault.message


def test_a_read_only_array_is_never_written():
    out = np.zeros(64, "f4")
    out.flags.writeable = False
    text = kernel(SHIFTED.format(shift=0), 2) + '.file 1 "s.cu"\n'
    (fault,) = launch(text, Buffer("out", out, writable=False), np.ones(64, "f4"), block=(64, 1, 1)).faults
    assert not out.any()
    assert "writes out, an array that is read-only" in fault.message


def test_one_access_may_go_to_two_buffers():
    text = kernel(
        """
        and.b32 %r1, %r0, 1; setp.eq.s32 %p1, %r1, 0; selp.b64 %rd9, %rd1, %rd2, %p1;
        mul.wide.u32 %rd10, %r0, 4; add.s64 %rd11, %rd9, %rd10; ld.global.f32 %f1, [%rd11];
        add.s64 %rd12, %rd0, %rd10; st.global.f32 [%rd12], %f1;""",
        3,
    )
    a, b, out = np.arange(40, dtype="f4"), -np.arange(40, dtype="f4"), np.zeros(40, "f4")
    result = launch(text, out, a, b)
    assert out.tolist() == [t if t % 2 == 0 else -t for t in range(40)]
    assert not result.faults


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8"])
def test_elements_of_every_size_and_the_last_one_of_them(dtype):
    size = np.dtype(dtype).itemsize
    register = {1: "%h1", 2: "%h1", 4: "%r1", 8: "%rd9"}[size]
    text = kernel(
        f"""
        mul.wide.u32 %rd10, %r0, {size}; add.s64 %rd11, %rd1, %rd10; ld.global.u{8 * size} {register}, [%rd11];
        add.s64 %rd12, %rd0, %rd10; st.global.u{8 * size} [%rd12], {register};""",
        2,
    )
    x = np.random.default_rng(2).integers(0, 100, 37).astype(dtype)
    out = np.zeros_like(x)
    assert not launch(text, out, x).faults
    assert (out == x).all()


def test_a_read_and_a_write_on_one_line_are_two_faults():
    text = (
        kernel("""
        .loc 1 3 1
        ld.global.f32 %f1, [%rd0+64]; st.global.f32 [%rd0+64], %f1;""")
        + '.file 1 "s.cu"\n'
    )
    faults = launch(text, np.zeros(2, "f4")).faults
    assert [(f.line, f.count, f.message[:10]) for f in faults] == [(3, 2, "reads p0[1"), (3, 2, "writes p0[")]


@pytest.mark.parametrize(
    ("offset", "kind"), [(248, ""), (252, "out_of_bounds"), (256, "out_of_bounds"), (4, "misaligned")]
)
def test_an_address_that_is_the_same_for_all_is_checked_as_well(offset, kind):
    text = kernel(f"ld.global.b64 %rd9, [%rd0+{offset}];")
    faults = launch(text, np.zeros(64, "f4"), block=(40, 1, 1)).faults
    assert [(fault.kind, fault.count) for fault in faults] == ([(kind, 40)] if kind else [])


def test_the_good_lanes_of_a_bad_store_write_their_own_values():
    x, out = np.arange(64, dtype="f4"), np.zeros(64, "f4")
    text = kernel(
        """
        mul.wide.u32 %rd10, %r0, 4; add.s64 %rd11, %rd1, %rd10; ld.global.f32 %f1, [%rd11];
        sub.s64 %rd12, %rd0, 40; add.s64 %rd13, %rd12, %rd10; st.global.f32 [%rd13], %f1;""",
        2,
    )
    (fault,) = launch(text, out, x).faults
    assert out.tolist() == [*range(10, 64), *[0] * 10]
    assert (fault.count, fault.message[:14]) == (10, "writes p0[-10]")


def test_faults_of_all_chunks_and_rounds_add_up():
    text = kernel("""
        mov.u32 %r1, 0;
        AGAIN: ld.global.f32 %f1, [%rd0+400]; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra AGAIN;""")
    (fault,) = launch(text, np.zeros(4, "f4"), grid=(200, 1, 1), block=(128, 1, 1)).faults
    assert fault.count == 3 * 200 * 128


def test_a_wrong_index_of_32_bits_never_reaches_the_next_buffer():
    # the furthest that an unsigned 32-bit index of float4 goes
    text = kernel("mov.u64 %rd10, 68719476720; add.s64 %rd11, %rd0, %rd10; st.global.f32 [%rd11], %f1;", 2)
    x, other = np.zeros(4, "f4"), np.ones(4, "f4")
    (fault,) = launch(text, x, other, block=(1, 1, 1)).faults
    assert "writes p0[17179869180], which lies after the end of p0" in fault.message
    assert other.all()


def test_generic_accesses_count_as_global_ones():
    counters = launch(kernel("ld.f32 %f1, [%rd0]; st.f32 [%rd0], %f1;"), np.zeros(4, "f4")).counters
    assert (counters.requests_global_load, counters.requests_global_store) == (1, 1)


@pytest.mark.parametrize("uniform", [True, False])
def test_global_constant_and_parameter_addresses_are_told_apart(uniform):
    out = np.zeros((40, 4), "u4")
    tests = "".join(
        f"isspacep.{space} %p1, %rd{pointer}; selp.u32 %r3, 1, 0, %p1; shl.b32 %r{4 + n}, %r{4 + n}, 1;"
        f"or.b32 %r{4 + n}, %r{4 + n}, %r3;\n"
        for n, pointer in enumerate((0, 5, 6, 7))
        for space in ("global", "const", "param", "shared::cta", "local")
    )
    body = f"""
        mov.b64 %rd5, fixed; cvta.const.u64 %rd5, %rd5; mov.b64 %rd6, p0; cvta.param.u64 %rd6, %rd6;
        mov.b64 %rd7, near; cvta.shared.u64 %rd7, %rd7; mul.wide.u32 %rd8, %r0, {0 if uniform else 1};
        mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, 0;
        add.u64 %rd5, %rd5, %rd8; add.u64 %rd6, %rd6, %rd8; add.u64 %rd7, %rd7, %rd8;
        {tests} mul.wide.u32 %rd10, %r0, 16; add.u64 %rd11, %rd0, %rd10;
        st.global.v4.u32 [%rd11], {{%r4, %r5, %r6, %r7}};"""
    launch(kernel(body, head=HEAD + ".const .u32 fixed; .shared .b8 near[64];\n"), out, block=(40, 1, 1))
    assert (out == [0b10000, 0b01000, 0b00100, 0b00010]).all()
