from __future__ import annotations

import numpy as np
import pytest

from convlab.emulator import Progress
from convlab.emulator.machine import CHUNK, PULSE

from .conftest import HEAD, kernel, launch

STORE = "mul.wide.u32 %rd10, %r0, 4; add.s64 %rd11, %rd0, %rd10; st.global.u32 [%rd11], {value};"


def test_lanes_that_diverge_meet_again():
    # odd threads add 100, all add 1
    text = kernel(f"""
        mov.u32 %r2, %r0; and.b32 %r1, %r0, 1; setp.eq.s32 %p1, %r1, 0; @%p1 bra EVEN;
        add.s32 %r2, %r2, 100;
        EVEN: add.s32 %r2, %r2, 1; {STORE.format(value="%r2")}""")
    out = np.zeros(70, "i4")
    launch(text, out)
    assert out.tolist() == [t + 1 + 100 * (t % 2) for t in range(70)]


def test_each_lane_leaves_a_loop_when_it_is_done():
    # the sum of 1 … tid, with a loop of tid rounds
    text = kernel(f"""
        mov.u32 %r1, 0; mov.u32 %r2, 0;
        NEXT: setp.ge.u32 %p1, %r1, %r0; @%p1 bra DONE;
        add.u32 %r1, %r1, 1; add.u32 %r2, %r2, %r1; bra NEXT;
        DONE: {STORE.format(value="%r2")}""")
    out = np.zeros(45, "i4")
    launch(text, out)
    assert out.tolist() == [t * (t + 1) // 2 for t in range(45)]


def test_a_guarded_instruction_runs_for_its_lanes_only():
    text = kernel(f"""
        mov.u32 %r2, 5; setp.lt.u32 %p1, %r0, 3; @%p1 mov.u32 %r2, 9; @!%p1 add.s32 %r2, %r2, %r0;
        {STORE.format(value="%r2")}""")
    out = np.zeros(6, "i4")
    launch(text, out)
    assert out.tolist() == [9, 9, 9, 8, 9, 10]


def test_threads_that_return_early_are_gone_and_the_others_go_on():
    text = kernel(f"""
        mov.u32 %r3, %ctaid.x; setp.gt.u32 %p1, %r0, 4; @%p1 ret;
        mov.u32 %r4, 6; mad.lo.s32 %r0, %r3, %r4, %r0; mov.u32 %r2, 7; {STORE.format(value="%r2")}""")
    out = np.zeros(12, "i4")
    launch(text, out, grid=(2, 1, 1), block=(6, 1, 1))
    assert out.tolist() == [7, 7, 7, 7, 7, 0] * 2


def test_a_copy_keeps_its_value_when_the_original_changes_for_some_lanes():
    # the trap: %r3 = %r2 by alias, then %r2 changes under a branch
    text = kernel(f"""
        add.s32 %r2, %r0, 10; mov.u32 %r3, %r2; setp.lt.u32 %p1, %r0, 2; @%p1 bra SKIP;
        mov.u32 %r2, 0;
        SKIP: add.s32 %r3, %r3, %r2; {STORE.format(value="%r3")}""")
    out = np.zeros(4, "i4")
    launch(text, out)
    assert out.tolist() == [20, 22, 12, 13]


@pytest.mark.parametrize(
    ("grid", "block"), [((3, 2, 2), (5, 2, 3)), ((70, 3, 1), (100, 1, 1)), ((2, 1, 1), (1024, 1, 1))]
)
def test_coordinates_over_chunks_of_any_shape(grid, block):
    names = [f"{axis}.{letter}" for axis in ("ctaid", "tid", "ntid", "nctaid") for letter in "xyz"]
    reads = "\n".join(f"mov.u32 %s{n}, %{name};" for n, name in enumerate(names))
    # the linear number of the thread, then all twelve coordinates at out[12·number]
    text = kernel(f"""
        .reg .b32 %s<12>; .reg .b32 %t<4>;
        {reads}
        mad.lo.s32 %t0, %s2, %s10, %s1; mad.lo.s32 %t0, %t0, %s9, %s0;
        mul.lo.s32 %t1, %s6, %s7; mul.lo.s32 %t1, %t1, %s8;
        mad.lo.s32 %t2, %s5, %s7, %s4; mad.lo.s32 %t2, %t2, %s6, %s3;
        mad.lo.s32 %t2, %t0, %t1, %t2;
        mul.wide.s32 %rd10, %t2, 48; add.s64 %rd11, %rd0, %rd10;
        {"".join(f"st.global.u32 [%rd11+{4 * n}], %s{n};" for n in range(12))}""")
    blocks, threads = int(np.prod(grid)), int(np.prod(block))
    out = np.full((blocks * threads, 12), -1, "i4")
    launch(text, out, grid=grid, block=block)
    b, t = np.divmod(np.arange(blocks * threads), threads)
    expected = [b % grid[0], b // grid[0] % grid[1], b // (grid[0] * grid[1])]
    expected += [t % block[0], t // block[0] % block[1], t // (block[0] * block[1])]
    assert (out[:, :6] == np.array(expected).T).all()
    assert (out[:, 6:] == [*block, *grid]).all()


def test_more_blocks_than_fit_a_chunk_all_run():
    text = kernel(
        f"mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.s32 %r0, %r1, %r2, %r0; {STORE.format(value='%r0')}"
    )
    out = np.zeros(2 * CHUNK + 640, "i4")
    result = launch(text, out, grid=(out.size // 128, 1, 1), block=(128, 1, 1))
    assert (out == np.arange(out.size)).all()
    assert result.counters.requests_global_store == out.size // 32


def test_an_endless_loop_ends_with_its_line():
    text = kernel(".loc 1 4 1\nmov.u32 %r1, 0;\n.loc 1 5 1\nAGAIN: add.s32 %r1, %r1, 1;\n.loc 1 6 1\nbra AGAIN;")
    result = launch(text + '.file 1 "spin.cu"\n', np.zeros(3, "i4"), budget=1000)
    (fault,) = result.faults
    assert (fault.kind, fault.severity, fault.file, fault.line) == ("endless_loop", "error", "spin.cu", 5)
    assert "is still here after 1,000 instructions" in str(fault)


def test_scalars_arrive_at_their_own_alignment():
    head = ".version 8.0\n.target sm_80\n"
    text = (
        f"{head}.visible .entry f(.param .u64 p, .param .u8 a, .param .u16 b, .param .f32 c, .param .u64 d) {{\n"
        ".reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .b16 %h<2>;\n"
        "ld.param.u64 %rd0, [p]; ld.param.u8 %r0, [a]; ld.param.u16 %h0, [b]; ld.param.b32 %r1, [c];\n"
        "ld.param.u64 %rd1, [d]; cvt.u32.u16 %r2, %h0;\n"
        "st.global.u64 [%rd0], %rd1; st.global.u32 [%rd0+8], %r0; st.global.u32 [%rd0+12], %r1;\n"
        "st.global.u32 [%rd0+16], %r2; ret; }"
    )
    out = np.zeros(5, "u4")
    scalars = [np.uint8(200), np.uint16(65000), np.float32(1.5), np.uint64(2**40 + 3)]
    launch(text, out, *(s.tobytes() for s in scalars), block=(1, 1, 1))
    assert out.tolist() == [3, 256, 200, int(np.float32(1.5).view("u4")), 65000]


class Seen(Progress):
    """Remembers what it was told."""

    def __init__(self):
        self.blocks, self.instructions = [], []

    def done(self, blocks):
        self.blocks.append(blocks)

    def pulse(self, instructions):
        self.instructions.append(instructions)


def test_progress_sees_every_chunk():
    progress = Seen()
    launch(kernel("mov.u32 %r1, 0;"), np.zeros(1, "i4"), grid=(300, 1, 1), block=(256, 1, 1), progress=progress)
    each = CHUNK // 256
    assert progress.blocks == [each] * (300 // each) + [300 % each]


def test_a_long_loop_shows_signs_of_life():
    progress = Seen()
    loop = "mov.u32 %r1, 0; again: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 20000; @%p1 bra again;"
    launch(kernel(loop), np.zeros(1, "i4"), progress=progress)
    assert progress.instructions == sorted(progress.instructions)
    assert 60_000 // PULSE - 1 <= len(progress.instructions) <= 60_000 // PULSE + 1


def test_the_budget_counts_instructions_and_the_blocks_after_an_endless_one_never_run():
    # each block adds 1 to its own counter for ever, five instructions a round
    text = kernel("""
        mov.u32 %r3, %ctaid.x; mul.wide.u32 %rd10, %r3, 4; add.s64 %rd11, %rd0, %rd10; mov.u32 %r1, 0;
        AGAIN: add.s32 %r1, %r1, 1; st.global.u32 [%rd11], %r1; mov.u32 %r4, 1; mov.u32 %r5, 2; bra AGAIN;""")
    out = np.zeros(2 * CHUNK // 1024, "i4")
    (fault,) = launch(text, out, grid=(out.size, 1, 1), block=(1024, 1, 1), budget=1000).faults
    assert fault.kind == "endless_loop"
    assert 990 / 5 <= out[0] <= 1010 / 5
    assert not out[CHUNK // 1024 :].any()


def test_an_endless_loop_that_stands_at_a_guard_has_a_line_too():
    text = kernel(".loc 1 4 1\nAGAIN: setp.ge.u32 %p1, %r0, 0; @!%p1 add.s32 %r2, %r2, 1;\n.loc 1 5 1\nbra AGAIN;")
    for budget in range(5, 12):
        (fault,) = launch(text + '.file 1 "spin.cu"\n', np.zeros(1, "i4"), budget=budget).faults
        assert fault.line in (4, 5)


def test_values_live_through_loops_inside_of_loops():
    # %r5 is written first and read last, with backward jumps between that do not mention it
    text = kernel(f"""
        add.u32 %r5, %r0, 40; mov.u32 %r1, 0;
        A: mov.u32 %r2, 0;
        B: mov.u32 %r3, 0;
        C: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r0; @%p1 bra C;
        add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 2; @%p2 bra B;
        add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 2; @%p3 bra A;
        {STORE.format(value="%r5")}""")
    out = np.zeros(4, "i4")
    launch(text, out)
    assert out.tolist() == [40, 41, 42, 43]


def test_a_value_lives_over_blocks_that_stand_in_the_opposite_order():
    text = kernel(f"""
        add.u32 %r5, %r0, 7; bra E;
        B: bra A;
        C: bra B;
        D: bra C;
        E: bra D;
        A: {STORE.format(value="%r5")}""")
    out = np.zeros(3, "i4")
    launch(text, out)
    assert out.tolist() == [7, 8, 9]


# Switches, ends, locks, chance


SWITCH = f"""
    T: .branchtargets A, B, C, B;
    brx.idx {{index}}, T;
    A: mov.u32 %r2, 10; bra END;
    B: mov.u32 %r2, 20; bra END;
    C: mov.u32 %r2, 30;
    END: {STORE.format(value="%r2")}"""


def test_a_switch_sends_each_lane_where_its_number_says():
    out = np.zeros(70, "i4")
    assert not launch(kernel("and.b32 %r1, %r0, 3; " + SWITCH.format(index="%r1")), out).faults
    assert out.tolist() == [(10, 20, 30, 20)[t % 4] for t in range(70)]


def test_a_switch_beyond_its_table_ends_the_thread():
    out = np.full(6, -1, "i4")
    launch(kernel(SWITCH.format(index="%r0")), out)
    assert out.tolist() == [10, 20, 30, 20, -1, -1]


def test_a_trap_ends_the_launch_with_its_line():
    text = kernel(f"""
        .loc 1 3 1
        setp.eq.u32 %p1, %r0, 5;
        @%p1 trap;
        {STORE.format(value="%r0")}""")
    (fault,) = launch(text + '.file 1 "t.cu"\n', np.zeros(8, "i4")).faults
    assert (fault.kind, fault.severity, fault.line, fault.thread) == ("trap", "error", 3, (5, 0, 0))
    assert "reaches __trap(), which ends the program" in fault.message


def test_exit_inside_of_a_function_ends_the_thread():
    head = (
        HEAD
        + ".func leave(.param .b32 x) { .reg .b32 t; .reg .pred q;\n"
        + "ld.param.b32 t, [x]; setp.lt.u32 q, t, 3; @q exit; ret; }\n"
    )
    out = np.full(6, -1, "i4")
    assert not launch(kernel(f"call leave, (%r0); {STORE.format(value='%r0')}", head=head), out).faults
    assert out.tolist() == [-1, -1, -1, 3, 4, 5]


# Every thread takes the lock in turn and adds 1 to a counter that is no atomic: out[0] lock, out[1] counter.
LOCK = """
    AGAIN: atom.global.cas.b32 %r1, [%rd0], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra AGAIN;
    ld.volatile.global.u32 %r2, [%rd0+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%rd0+4], %r2;
    membar.gl; atom.global.exch.b32 %r3, [%rd0], 0;"""


@pytest.mark.parametrize("seed", [None, 0, 7])
def test_a_spin_lock_lets_everybody_in_once(seed):
    out = np.zeros(2, "i4")
    assert not launch(kernel(LOCK), out, grid=(3, 1, 1), block=(40, 1, 1), seed=seed).faults
    assert out.tolist() == [0, 120]


def test_a_lock_that_nobody_opens_is_an_endless_loop_at_its_line():
    text = kernel(
        LOCK.replace("AGAIN:", "\n.loc 1 2 1\nAGAIN:").replace("exch.b32 %r3, [%rd0], 0", "exch.b32 %r3, [%rd0], 1")
    )
    faults = launch(text + '.file 1 "lock.cu"\n', np.zeros(2, "i4"), block=(40, 1, 1), budget=20_000).faults
    assert [(fault.kind, fault.line) for fault in faults] == [("endless_loop", 2)]


@pytest.mark.parametrize(
    "look",
    [
        "ld.volatile.global.u32 %r2, [%rd0]",
        "ld.global.cg.u32 %r2, [%rd0]",
        "ld.global.u32 %r2, [%rd0]; membar.gl",
        "atom.global.add.u32 %r2, [%rd0], 0",
    ],
)
def test_a_block_waits_for_the_flag_of_a_later_one(look):
    # block 0 waits until block 1 has written; both are in one chunk, and a look in vain lets block 1 go on
    text = kernel(f"""
        mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 1; @%p1 bra WRITE;
        WAIT: {look}; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT;
        st.global.u32 [%rd0+4], %r2; bra END;
        WRITE: st.volatile.global.u32 [%rd0], 77;
        END:""")
    out = np.zeros(2, "i4")
    assert not launch(text, out, grid=(2, 1, 1), block=(32, 1, 1), budget=100).faults
    assert out.tolist() == [77, 77]


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_loop_that_a_switch_closes_lets_others_go_on(blocks):
    # all but the first thread wait for it at a lower step than its own
    text = kernel("""
        TABLE: .branchtargets WAIT, END;
        mov.u32 %r1, %ctaid.x; add.u32 %r1, %r1, %r0; setp.eq.u32 %p1, %r1, 0; @%p1 bra WRITE;
        WAIT: ld.volatile.global.u32 %r2, [%rd0]; brx.idx %r2, TABLE;
        WRITE: st.volatile.global.u32 [%rd0], 1;
        END:""")
    assert not launch(text, np.zeros(1, "u4"), grid=(blocks, 1, 1), block=(32, 1, 1), budget=100).faults


# Thread t writes its number to shared memory, and reads that of thread t + 32; the barrier between may be missing.
NEIGHBOUR = f"""
    .shared .align 4 .b8 tile[512]; mov.u32 %r5, tile; shl.b32 %r1, %r0, 2; add.u32 %r6, %r5, %r1;
    add.u32 %r7, %r0, 1; st.shared.u32 [%r6], %r7;
    {{barrier}}
    add.u32 %r1, %r1, 128; and.b32 %r1, %r1, 511; add.u32 %r6, %r5, %r1; ld.shared.u32 %r2, [%r6];
    {STORE.format(value="%r2")}"""


def test_a_seed_changes_nothing_of_a_correct_kernel_and_shows_what_a_race_does():
    right = [(t + 32) % 128 + 1 for t in range(128)]
    results = {}
    for barrier in ("bar.sync 0;", ""):
        for seed in (None, *range(8)):
            out = np.zeros(128, "i4")
            launch(kernel(NEIGHBOUR.format(barrier=barrier)), out, observe=False, seed=seed)
            results.setdefault(barrier, []).append(out.tolist())
    assert all(out == right for out in results["bar.sync 0;"])
    assert results[""][0] == right  # lockstep order hides the race
    assert any(out != right for out in results[""])


def test_the_same_seed_gives_the_same_result():
    def racy(seed: int) -> list[int]:
        out = np.zeros(128, "i4")
        launch(kernel(NEIGHBOUR.format(barrier="")), out, observe=False, seed=seed)
        return out.tolist()

    assert all(racy(seed) == racy(seed) for seed in range(4))
    assert len({tuple(racy(seed)) for seed in range(8)}) > 1
