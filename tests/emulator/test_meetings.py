"""Barriers of a block, named and counted, and lanes of a warp that wait for each other; who never comes is a fault."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import kernel, launch

STORE = "mul.wide.u32 %rd10, %r0, 4; add.s64 %rd11, %rd0, %rd10; st.global.u32 [%rd11], {value};"
FILE = '.file 1 "m.cu"\n'


def run(text: str, threads: int, grid: int = 1, **options) -> tuple[list[int], list]:
    """out[tid] of the first block after a launch, and its faults."""
    out = np.full(threads, -1, "i4")
    result = launch(kernel(text) + FILE, out, grid=(grid, 1, 1), block=(threads, 1, 1), **options)
    return out.tolist(), result.faults


# each thread writes its number into shared memory, waits, and reads that of the thread at the other end
REVERSED = """
    .shared .align 4 .b8 tile[1024]; .reg .b32 n;
    mov.u32 n, %ntid.x; shl.b32 %r1, %r0, 2; mov.u32 %r5, tile; add.u32 %r5, %r5, %r1; st.shared.u32 [%r5], %r0;
    {barrier}
    sub.u32 %r2, n, %r0; sub.u32 %r2, %r2, 1; shl.b32 %r2, %r2, 2; mov.u32 %r6, tile; add.u32 %r6, %r6, %r2;
    ld.shared.u32 %r3, [%r6]; """


@pytest.mark.parametrize("threads", [1, 31, 64, 100, 256])
@pytest.mark.parametrize("barrier", ["bar.sync 0;", "barrier.sync.aligned 7;", "bar.sync 3, n;", "barrier.sync 15;"])
def test_everybody_sees_what_was_written_before_a_barrier(barrier, threads):
    barrier = barrier.replace(" n;", " n;") if threads % 32 == 0 else barrier.replace(", n", "")
    for seed in (None, 1, 2):
        out, faults = run(REVERSED.format(barrier=barrier) + STORE.format(value="%r3"), threads, grid=3, seed=seed)
        assert out == list(range(threads))[::-1]
        assert not faults


@pytest.mark.parametrize(
    ("operation", "result", "expected"),
    [
        ("bar.red.popc.u32 %r3, 0, q;", "mov.u32 %r4, %r3;", sum),
        ("barrier.red.popc.u32 %r3, 2, !q;", "mov.u32 %r4, %r3;", lambda chosen: len(chosen) - sum(chosen)),
        ("bar.red.and.pred %p2, 0, q;", "selp.u32 %r4, 1, 0, %p2;", all),
        ("bar.red.or.pred %p2, 0, q;", "selp.u32 %r4, 1, 0, %p2;", any),
    ],
)
@pytest.mark.parametrize("chosen", [lambda t: t % 3 == 0, lambda t: t >= 0, lambda t: t < 0, lambda t: t == 69])
def test_a_barrier_that_reduces_has_one_result_for_each_block(operation, result, expected, chosen):
    threads, blocks = 70, 3
    flags = np.array([[chosen((t + 5 * b) % threads) for t in range(threads)] for b in range(blocks)])
    text = f"""
        .reg .pred q; .reg .b32 i; .reg .b16 flag;
        mov.u32 %r1, %ctaid.x; mad.lo.u32 i, %r1, {threads}, %r0; cvt.u64.u32 %rd10, i; add.s64 %rd11, %rd1, %rd10;
        ld.global.u8 flag, [%rd11]; setp.ne.u16 q, flag, 0;
        {operation} {result}
        mul.wide.u32 %rd10, i, 4; add.s64 %rd11, %rd0, %rd10; st.global.u32 [%rd11], %r4;"""
    out = np.full((blocks, threads), -1, "i4")
    assert not launch(kernel(text, 2), out, flags.astype("u1"), grid=(blocks, 1, 1), block=(threads, 1, 1)).faults
    assert out.tolist() == [[int(expected(row.tolist()))] * threads for row in flags]


def test_a_producer_arrives_and_a_consumer_waits():
    # warp 0 writes and only arrives; warp 1 waits at the same numbered barrier of 64 threads
    text = f"""
        .shared .align 4 .b8 tile[128];
        setp.ge.u32 %p1, %r0, 32; mov.u32 %r5, tile; and.b32 %r1, %r0, 31; shl.b32 %r1, %r1, 2; add.u32 %r5, %r5, %r1;
        @%p1 bra CONSUME;
        mul.lo.u32 %r2, %r0, 3; st.shared.u32 [%r5], %r2; bar.arrive 1, 64; mov.u32 %r3, 1000; bra END;
        CONSUME: bar.sync 1, 64; ld.shared.u32 %r3, [%r5];
        END: {STORE.format(value="%r3")}"""
    for seed in (None, 0, 1, 2, 3):
        out, faults = run(text, 64, seed=seed)
        assert out == [1000] * 32 + [3 * t for t in range(32)]
        assert not faults


def test_half_a_block_at_a_barrier_of_its_own():
    # each pair of warps has its own barrier, and twice so
    text = f"""
        shr.u32 %r1, %r0, 6; add.u32 %r1, %r1, 1; mov.u32 %r2, 0;
        AGAIN: bar.sync %r1, 64; add.u32 %r2, %r2, %r1; setp.lt.u32 %p1, %r2, 4; @%p1 bra AGAIN;
        {STORE.format(value="%r2")}"""
    out, faults = run(text, 128)
    assert out == [4] * 128
    assert not faults


def test_threads_that_have_ended_are_not_waited_for_but_it_is_said():
    text = f"""
        setp.ge.u32 %p1, %r0, 40; @%p1 ret;
        .loc 1 8 1
        bar.sync 0; mov.u32 %r3, 5; {STORE.format(value="%r3")}"""
    out, (fault,) = run(text, 64)
    assert out == [5] * 40 + [-1] * 24
    assert (fault.kind, fault.severity, fault.line) == ("barrier", "warning", 8)
    assert "which 24 threads of its block skipped: they have ended" in fault.message


# even threads are at the barrier of line 5, odd ones at that of line 7
DIVERGENT = f"""
    and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra EVEN;
    .loc 1 7 1
    bar.sync 0; mov.u32 %r3, 7; bra END;
    EVEN:
    .loc 1 5 1
    bar.sync {{number}}; mov.u32 %r3, 5;
    END: {STORE.format(value="%r3")}"""


def test_threads_of_a_block_at_two_barriers_of_the_text_are_a_fault():
    out, (fault,) = run(DIVERGENT.format(number=0), 64)
    assert out == [5, 7] * 32
    assert (fault.kind, fault.severity) == ("barrier", "error")
    assert {fault.line, fault.other_line} == {5, 7}


def test_barriers_of_different_numbers_that_wait_for_each_other_are_a_deadlock():
    out, (fault,) = run(DIVERGENT.format(number=1), 64)
    assert out == [-1] * 64
    assert (fault.kind, fault.severity) == ("barrier", "error")
    assert "a deadlock" in fault.message
    assert {fault.line, fault.other_line} == {5, 7}


def test_a_count_that_is_never_reached_is_a_deadlock():
    text = f"setp.ge.u32 %p1, %r0, 32; @%p1 bra END;\n.loc 1 6 1\nbar.sync 1, 64;\nEND: {STORE.format(value='%r0')}"
    out, (fault,) = run(text, 64)
    assert (fault.kind, fault.line) == ("barrier", 6)
    assert "waits at this barrier for threads that never come: a deadlock" in fault.message
    assert out == [-1] * 32 + list(range(32, 64))


def test_a_barrier_in_a_loop_meets_each_round():
    # a running sum: in each round thread t adds what thread t − 1 had, all of them at the same time
    text = f"""
        .shared .align 4 .b8 tile[516];
        mov.u32 %r5, tile; shl.b32 %r1, %r0, 2; add.u32 %r5, %r5, %r1; st.shared.u32 [%r5+4], %r0;
        st.shared.u32 [tile], 0; mov.u32 %r2, 0; bar.sync 0;
        NEXT: ld.shared.u32 %r3, [%r5]; ld.shared.u32 %r4, [%r5+4]; bar.sync 0;
        add.u32 %r4, %r4, %r3; st.shared.u32 [%r5+4], %r4; bar.sync 0;
        add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3; @%p1 bra NEXT;
        {STORE.format(value="%r4")}"""
    expected = np.arange(128)
    for _ in range(3):
        expected = expected + np.concatenate([[0], expected[:-1]])
    for seed in (None, 5):
        out, faults = run(text, 128, seed=seed)
        assert out == expected.tolist()
        assert not faults


# Exchanges of a warp


@pytest.mark.parametrize("threads", [20, 32, 70])
def test_lanes_that_parted_wait_for_each_other_before_a_shuffle(threads):
    # odd lanes take a longer way; then everybody reads its neighbour
    mask = "-1" if threads % 32 == 0 else "%r7"
    text = f"""
        activemask.b32 %r7;
        mov.u32 %r2, %r0; and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra MEET;
        add.u32 %r2, %r2, 100; add.u32 %r2, %r2, 100;
        MEET: shfl.sync.bfly.b32 %r3, %r2, 1, 31, {mask};
        {STORE.format(value="%r3")}"""
    out, faults = run(text, threads)
    assert out == [(t ^ 1) + 200 * ((t ^ 1) % 2) for t in range(threads)]
    assert not faults


def test_two_masks_exchange_by_themselves():
    text = f"""
        setp.lt.u32 %p1, %r0, 8; @%p1 bra LOW;
        shfl.sync.idx.b32 %r3, %r0, 9, 31, 0xFFFFFF00; bra END;
        LOW: shfl.sync.idx.b32 %r3, %r0, 2, 31, 0xFF;
        END: {STORE.format(value="%r3")}"""
    out, faults = run(text, 32)
    assert out == [2] * 8 + [9] * 24
    assert not faults


def test_one_instruction_with_two_masks_is_two_exchanges():
    text = f"""
        .reg .b32 mask; setp.lt.u32 %p1, %r0, 16; selp.b32 mask, 0xFFFF, 0xFFFF0000, %p1;
        setp.eq.u32 %p2, %r0, 3; vote.sync.ballot.b32 %r3, %p2, mask; {STORE.format(value="%r3")}"""
    out, faults = run(text, 32)
    assert out == [8] * 16 + [0] * 16
    assert not faults


def test_a_lane_that_its_own_mask_leaves_out_is_a_fault():
    text = f".loc 1 9 1\nshfl.sync.idx.b32 %r3, %r0, 0, 31, 0xFFFF; {STORE.format(value='%r3')}"
    _, faults = run(text, 32)
    fault = faults[0]
    assert (fault.kind, fault.severity, fault.line, fault.thread[0], fault.count) == ("shuffle", "error", 9, 16, 16)
    assert "calls with the mask 0xffff, in which its own lane is missing" in fault.message


def test_a_lane_that_never_comes_is_a_fault_and_the_others_go_on():
    text = f"""
        setp.eq.u32 %p1, %r0, 5; @%p1 bra WAIT;
        .loc 1 4 1
        shfl.sync.idx.b32 %r3, %r0, 2, 31, -1; bra END;
        WAIT: bar.sync 0; mov.u32 %r3, 99; bra DONE;
        END: bar.sync 0;
        DONE: {STORE.format(value="%r3")}"""
    out, faults = run(text, 32)
    assert out == [2] * 5 + [99] + [2] * 26
    assert (faults[0].kind, faults[0].line) == ("shuffle", 4)
    assert "waits for lane 5 of its mask 0xffffffff, which never comes here" in faults[0].message


def test_lanes_that_have_ended_are_not_waited_for():
    text = f"""
        setp.ge.u32 %p1, %r0, 16; @%p1 ret;
        mov.u32 %r7, 0xFFFF; bar.warp.sync %r7; shfl.sync.up.b32 %r3, %r0, 1, 0, %r7; {STORE.format(value="%r3")}"""
    out, faults = run(text, 32)
    assert out == [0, *range(15)] + [-1] * 16
    assert not faults


def test_sets_that_meet_at_once_while_others_end_stay_who_they_are():
    # warps 0 and 1 reach a barrier in different places; one of them ends right behind it
    text = f"""
        setp.ge.u32 %p1, %r0, 32; @%p1 bra SECOND;
        bar.sync 1, 96; ret;
        SECOND: setp.ge.u32 %p2, %r0, 64; @%p2 bra THIRD;
        bar.sync 1, 96; add.u32 %r3, %r0, 1000; {STORE.format(value="%r3")} ret;
        THIRD: bar.sync 1, 96; add.u32 %r3, %r0, 2000; {STORE.format(value="%r3")}"""
    out, faults = run(text, 96)
    assert out == [-1] * 32 + [1000 + t for t in range(32, 64)] + [2000 + t for t in range(64, 96)]
    assert not faults
