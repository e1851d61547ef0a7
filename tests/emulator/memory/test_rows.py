from __future__ import annotations

import numpy as np

from convlab.emulator import Progress

from ..conftest import HEAD, launch

# Each thread keeps its number at a[i], i = tid mod 3, of an array of three, and reads all three back into a sum.
LOCAL = (
    HEAD
    + """.visible .entry f(.param .u64 p, .param .u32 shift) {
    .local .align 4 .b8 depot[12];
    .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<2>;
    ld.param.u64 %rd0, [p]; ld.param.u32 %r7, [shift];
    mov.u64 %rd1, depot; mov.u32 %r0, %tid.x;
    st.local.u32 [%rd1], 0; st.local.u32 [%rd1+4], 0; st.local.u32 [%rd1+8], 0;
    rem.u32 %r1, %r0, 3; add.u32 %r1, %r1, %r7; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
    .loc 1 8 1
    st.local.u32 [%rd3], %r0;
    setp.lt.u32 %p1, %r0, 2; @%p1 ret;
    ld.local.u32 %r2, [%rd1]; ld.local.u32 %r3, [%rd1+4]; ld.local.u32 %r4, [%rd1+8];
    add.u32 %r5, %r2, %r3; add.u32 %r5, %r5, %r4;
    mul.wide.u32 %rd4, %r0, 4; add.s64 %rd5, %rd0, %rd4; st.global.u32 [%rd5], %r5; ret; }
    .file 1 "l.cu"
"""
)


def test_each_thread_has_an_array_of_its_own_also_when_others_are_gone():
    out = np.zeros(50, "i4")
    result = launch(LOCAL, out, np.uint32(0).tobytes())
    assert out.tolist() == [0, 0, *range(2, 50)]
    assert not result.faults


def test_a_local_array_has_an_end():
    out = np.zeros(6, "i4")
    (fault,) = launch(LOCAL, out, np.uint32(1).tobytes()).faults
    assert (fault.kind, fault.line, fault.thread, fault.count) == ("out_of_bounds", 8, (2, 0, 0), 2)
    assert "writes its local arrays[3], which lies outside: they have 12 bytes." in fault.message


def test_local_accesses_are_aligned_and_variables_lie_where_their_type_wants_them():
    text = (
        HEAD
        + """.visible .entry f(.param .u64 p) {
        .local .align 1 .b8 odd[3]; .local .align 8 .b8 even[16];
        .reg .b64 %rd<9>; .reg .b32 %r<9>;
        ld.param.u64 %rd0, [p]; mov.u64 %rd1, odd; mov.u64 %rd2, even;
        st.local.u8 [%rd1+2], 9; st.local.u64 [%rd2], 5; ld.local.u64 %rd3, [%rd2]; st.global.u64 [%rd0], %rd3;
        cvta.local.u64 %rd4, %rd2; cvta.to.local.u64 %rd5, %rd4;
        ld.local.u64 %rd6, [%rd5]; st.global.u64 [%rd0+8], %rd6;
        ld.local.u32 %r1, [%rd2+2]; ret; }
        .file 1 "l.cu"
    """
    )
    out = np.zeros(2, "i8")
    (fault,) = launch(text, out, block=(1, 1, 1)).faults
    assert out.tolist() == [5, 5]
    assert fault.kind == "misaligned"
    assert "reads its local arrays at byte 10, which is no multiple of the access's 4 bytes." in fault.message


def test_large_local_arrays_make_chunks_smaller():
    seen = []

    class Seen(Progress):
        def done(self, blocks):
            seen.append(blocks)

    text = LOCAL.replace("depot[12]", "depot[524288]")
    launch(text, np.zeros(64, "i4"), np.uint32(0).tobytes(), grid=(40, 1, 1), block=(64, 1, 1), progress=Seen())
    assert seen == [8] * 5
