from __future__ import annotations

import numpy as np
import pytest

from convlab.emulator.parse import parse
from convlab.emulator.program import Address, Function, Immediate, Instruction, Register, Symbol, Vector
from convlab.errors import CompileError

from .conftest import HEAD, kernel, launch

STORE = "mul.wide.u32 %rd10, %r0, 4; add.s64 %rd11, %rd0, %rd10; st.global.u32 [%rd11], {value};"


def function(text: str) -> Function:
    return parse(f"{HEAD}.visible .entry f(.param .u64 p) {{ .reg .b32 %r<4>; .reg .pred %p<2>; {text} }}").entries["f"]


def body(text: str) -> list[Instruction]:
    return function(text).instructions


def run(text: str, threads: int = 5) -> list[int]:
    """What a kernel's threads leave in out[tid]."""
    out = np.full(threads, -1, "i4")
    assert not launch(kernel(text), out).faults
    return out.tolist()


def test_operands_of_every_kind():
    (mov,) = body("mov.v2.u32 {%r0, %r1}, [%r2+-4];")
    assert mov.operands == (Vector((Register("%r0"), Register("%r1"))), Address(Register("%r2"), -4))
    (add,) = body("add.s32 %r0, %r1, -7;")
    assert add.operands[2] == Immediate(-7)
    (setp,) = body("setp.eq.s32 %p0|%p1, %r0, %r1;")
    assert setp.operands[0] == Vector((Register("%p0"), Register("%p1")))
    (load,) = body("ld.param.u64 %r0, [p+8];")
    assert load.operands[1] == Address(Symbol("p"), 8)
    (load,) = body("ld.param.u64 %r0, [p+4*(2+1)-2];")
    assert load.operands[1] == Address(Symbol("p"), 10)
    (load,) = body("ld.global.u32 %r0, [4096];")
    assert load.operands[1] == Address(Immediate(4096))


def test_a_guard_belongs_to_its_instruction():
    plain, guarded = body("ret; @!%p1 ret;")
    assert plain.guard is None
    assert guarded.guard == Register("%p1", negated=True)


def test_lines_follow_loc_also_through_inlined_calls_and_line_zero():
    text = (
        f"{HEAD}.visible .entry f() {{\n.loc 1 7 3\nret;\n.loc 1 0 3\nret;\n.loc 2 4 1, function_name $L, "
        "inlined_at 1 7 3\nret;\n.loc 2 9 5, function_name $L, inlined_at 2 4 1\nret;\n}\n"
        '.file 1 "mine.cu"\n.file 2 "common.cuh"\n'
    )
    first, moved, inlined, twice = (instruction.place for instruction in parse(text).entries["f"].instructions)
    assert str(first) == str(moved) == "mine.cu:7"
    assert (str(inlined), inlined.callers) == ("common.cuh:4", (("mine.cu", 7),))
    assert (str(twice), twice.callers) == ("common.cuh:9", (("common.cuh", 4), ("mine.cu", 7)))


def test_a_name_of_an_inner_scope_hides_the_outer_one_until_its_brace():
    text = f"""
        mov.u32 %r2, 1;
        {{ .reg .b32 %r2; mov.u32 %r2, 70; {{ .reg .u32 %r2; mov.u32 %r2, 500; }} add.u32 %r3, %r2, %r0; }}
        add.u32 %r3, %r3, %r2; {STORE.format(value="%r3")}"""
    assert run(text) == [71 + t for t in range(5)]


def test_scopes_side_by_side_have_registers_of_their_own():
    text = f"""
        mov.u32 %r3, 0;
        {{ .reg .b32 t; mov.u32 t, 3; add.u32 %r3, %r3, t; }}
        {{ .reg .b64 t; mov.u64 t, 40; cvt.u32.u64 %r4, t; add.u32 %r3, %r3, %r4; }}
        {STORE.format(value="%r3")}"""
    assert run(text, 2) == [43, 43]


def test_a_label_inside_of_braces_is_its_own():
    # as CUDA's inline assembly has them: the same text twice, each with a label of the same name
    part = "{ .reg .pred q; setp.lt.u32 q, %r0, 2; @q bra SKIP; add.u32 %r2, %r2, 10; SKIP: add.u32 %r2, %r2, 1; }"
    assert run(f"mov.u32 %r2, 0; {part} {part} {STORE.format(value='%r2')}") == [2, 2, 22, 22, 22]


def test_a_label_of_an_outer_scope_is_reached_from_inside():
    text = (
        f"mov.u32 %r2, 5; {{ setp.lt.u32 %p1, %r0, 2; @%p1 bra END; mov.u32 %r2, 9; }} END: {STORE.format(value='%r2')}"
    )
    assert run(text, 4) == [5, 5, 9, 9]


def test_vector_registers_are_written_whole_and_by_parts():
    text = f"""
        .reg .v4 .u32 v; .reg .v2 .f32 w;
        mov.u32 v.x, %r0; mov.u32 v.y, 10; mov.u32 v.z, 20; mov.u32 v.w, 30;
        .local .align 16 .v4 .u32 spot; st.local.v4.u32 [spot], v; ld.local.v4.u32 v, [spot];
        mov.f32 w.x, 2.0; mov.f32 w.y, 0.5; mul.f32 w.x, w.x, w.y; cvt.rzi.u32.f32 %r3, w.x;
        add.u32 %r2, v.x, v.w; add.u32 %r2, %r2, v.y; add.u32 %r2, %r2, %r3; {STORE.format(value="%r2")}"""
    assert run(text, 3) == [41, 42, 43]


def test_registers_of_a_range_and_of_a_list():
    text = f"""
        .reg .b32 a<3>, b, c<2>; mov.u32 a2, 1; mov.u32 b, 20; mov.u32 c1, 300; add.u32 b, b, a2; add.u32 b, b, c1;
        {STORE.format(value="b")}"""
    assert run(text, 1) == [321]


def test_a_pragma_and_comments_are_passed_over():
    text = f"""
        .pragma "nounroll"; /* add.u32 %r0, %r0, 9; */ mov.u32 %r2, 4; // mov.u32 %r2, 5;
        {STORE.format(value="%r2")}"""
    assert run(text, 1) == [4]


def test_lists_of_targets_and_prototypes_are_kept():
    found = function(
        "T: .branchtargets A, B, A; P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .f32 _); "
        "C: .calltargets g, h; A: ret; B: ret;"
    )
    assert found.tables == {"T": ("A", "B", "A")}
    assert [p.type for p in found.prototypes["P"].params] == ["b64", "f32"]
    assert [p.type for p in found.prototypes["P"].returns] == ["b32"]
    assert found.labels == {"A": 0, "B": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@%p1", "more was expected"),
        ("add.s32 %r0, %r1, %r2", "more was expected"),
        (".reg .b128 q;", "no registers of type .b128"),
        ("mov.u32 %r0, {1, 2;", "more was expected"),
        ("mov.u32 %r0, [[%r1]];", "was expected"),
    ],
)
def test_a_body_that_breaks_off_is_refused(text, message):
    with pytest.raises(CompileError, match=message):
        parse(f"{HEAD}.entry f() {{ .reg .b32 %r<4>; .reg .pred %p<2>; {text}")
