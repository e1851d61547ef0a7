from __future__ import annotations

import pytest

from convlab.emulator.blocks import Block, live_out, members, split
from convlab.emulator.parse import parse
from convlab.emulator.translate import translate
from convlab.errors import CompileError

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def blocks(text: str) -> list[Block]:
    declared = ".reg .b32 %r<9>; .reg .pred %p<4>;"
    return split(parse(f"{HEAD}.entry f(.param .u64 p) {{ {declared} {text} }}").entries["f"])


def shape(text: str) -> list[tuple]:
    """For each block its opcodes, and where it goes: where its condition holds, and else."""
    return [(" ".join(i.parts[0] for i in b.instructions), b.target, b.fall) for b in blocks(text)]


def test_a_block_ends_before_a_label_and_behind_a_jump():
    text = "mov.u32 %r0, 0; A: add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, 5; @%p0 bra A; mov.u32 %r1, 0; ret;"
    assert shape(text) == [("mov", None, 1), ("add setp bra", 1, 2), ("mov ret", None, None)]


def test_a_jump_without_a_guard_always_goes():
    assert shape("bra B; A: ret; B: bra A;") == [("bra", 2, 2), ("ret", None, None), ("bra", 1, 1)]


def test_a_guard_is_a_jump_around_its_instruction():
    text = "mov.u32 %r0, 0; @!%p1 add.u32 %r0, %r0, 1; ret;"
    assert shape(text) == [("mov", None, 1), ("", 3, 2), ("add", None, 3), ("ret", None, None)]
    guard = blocks(text)[1].condition
    assert (guard.name, guard.negated) == ("%p1", False)


def test_a_guarded_instruction_at_the_end_ends_the_function_either_way():
    assert shape("mov.u32 %r0, 0; @%p1 ret;")[1:] == [("", None, 2), ("ret", None, None)]


def test_a_meeting_begins_a_block():
    text = "mov.u32 %r0, 0; bar.sync 0; mov.u32 %r1, 0; shfl.sync.idx.b32 %r0, %r0, 0, 31, -1; ret;"
    assert shape(text) == [("mov", None, 1), ("bar mov", None, 2), ("shfl ret", None, None)]


def test_a_table_of_targets_gives_all_of_them():
    text = "T: .branchtargets B, A, B; brx.idx %r0, T; A: ret; B: ret;"
    first = blocks(text)[0]
    assert (first.switch, first.fall, first.successors) == ((2, 1, 2), None, (2, 1, 2))


def test_a_label_at_the_end_of_the_text_ends_the_function():
    assert shape("@%p1 bra END; mov.u32 %r0, 0; END:") == [("bra", None, 1), ("mov", None, None)]


@pytest.mark.parametrize(
    "jump", ["bra NOWHERE;", "bra;", "bra %r0;", "T: .branchtargets A, NOWHERE; A: brx.idx %r0, T;"]
)
def test_a_jump_to_no_label_is_refused(jump):
    with pytest.raises(CompileError, match=r"the PTX branches to .*, and no such label exists"):
        blocks(f"{jump} ret;")


def test_a_kernel_without_instructions_is_refused():
    with pytest.raises(CompileError, match="The function f has no instructions, not even ret"):
        translate(parse(f"{HEAD}.visible .entry f() {{ }}").entries["f"])


def test_what_lives_behind_a_block_is_what_some_later_one_reads_first():
    # 0 → 1 ⇄ 2 → 3: register 7 is written in 0 and read in 3, 8 is read in 1 and written in 2
    graph = [Block(0, fall=1), Block(1, target=2, fall=3), Block(2, fall=1), Block(3)]
    live = live_out(graph, reads=[set(), {8}, set(), {7}], writes=[{7}, set(), {8}, set()])
    assert [set(members(each)) for each in live] == [{7, 8}, {7}, {7, 8}, set()]
